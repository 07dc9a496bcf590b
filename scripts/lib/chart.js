/** What the charts of docs share: colours, the style, and how figures and texts are written. */

/** Colours that people with any colour vision can distinguish (Okabe and Ito); their order distinguishes them too. */
export const COLOURS = /** @type {const} */ (['#0072b2', '#d55e00', '#009e73']);

/** The style of a chart, for light and for dark pages. @param {string} title the declarations for titles */
export const styleOf = (title) => `
    text { font: 12px system-ui, sans-serif; fill: #24292f }
    .title { ${title} }
    .scale { fill: #57606a; font-size: 10px }
    .grid { stroke: #d0d7de; stroke-width: 1 }
    .paper { fill: #ffffff }
    @media (prefers-color-scheme: dark) {
        text { fill: #e6edf3 }
        .scale { fill: #8d96a0 }
        .grid { stroke: #30363d }
        .paper { fill: #0d1117 }
    }`;

/** Writes a figure with two digits and a unit such as K. */
export const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 2 });

/** @param {string} text */
export const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
