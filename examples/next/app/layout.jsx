export const metadata = { title: 'tabacus with Next.js', icons: 'data:,' };

const style = `
    :root { color-scheme: light dark; font: 1.1rem/1.6 system-ui, sans-serif; }
    main { max-width: 34rem; margin: 12vh auto; padding: 0 1.5rem; }
    output { font-size: 4rem; font-weight: 700; font-variant-numeric: tabular-nums; }
    button { font: inherit; padding: 0.4rem 1rem; border-radius: 0.5rem; border: 1px solid; cursor: pointer; }
`;

export default function Layout({ children }) {
    return (
        <html lang="en">
            <body>
                <style>{style}</style>
                {children}
            </body>
        </html>
    );
}
