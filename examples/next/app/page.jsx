import { TabacusError } from 'tabacus'; // a server component may import the package
import { Clicks } from './clicks.jsx';

export default function Page() {
    return (
        <main>
            <h1>One counter in every tab</h1>
            <Clicks />
            <p>Rendered on the server, which knows {TabacusError.name}. Open this page in a second tab.</p>
        </main>
    );
}
