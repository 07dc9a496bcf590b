/** Helpers for the elements of the page. */

/**
 * @template {Element} T
 * @param {string} selector
 * @param {ParentNode} within
 * @returns {T} the first element that matches
 * @throws {Error} if no element matches
 */
export function one(selector, within = document) {
    const element = within.querySelector(selector);
    if (!element) throw new Error(`The page has no element that matches ${selector}`);
    return /** @type {T} */ (element);
}

/**
 * Makes a copy of the content of a template.
 *
 * @param {string} id  of the template
 * @returns {DocumentFragment}
 */
export function stamp(id) {
    const template = /** @type {HTMLTemplateElement} */ (one(`template#${id}`));
    return /** @type {DocumentFragment} */ (template.content.cloneNode(true));
}

/**
 * @param {string} name
 * @param {Partial<Record<'text' | 'class', string>>} [options]
 * @param {Node[]} children
 */
export function make(name, options = {}, ...children) {
    const element = document.createElement(name);
    if (options.class !== undefined) element.className = options.class;
    if (options.text !== undefined) element.textContent = options.text;
    element.append(...children);
    return element;
}

/**
 * Shows a number as formatted text, and keeps it exact in the `value` of the <data> element.
 *
 * @param {HTMLDataElement} element
 * @param {number} value
 * @param {(value: number) => string} format
 */
export function showNumber(element, value, format) {
    const text = format(value);
    if (element.textContent !== text) element.textContent = text;
    element.style.setProperty('--length', String(text.length)); // for a font that fits
    element.value = String(value);
}
