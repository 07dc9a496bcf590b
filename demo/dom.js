/** Four small hands for the page. */

/**
 * @template {Element} T
 * @param {string} selector
 * @param {ParentNode} within
 * @returns {T} the one that must be there
 */
export function one(selector, within = document) {
    const element = within.querySelector(selector);
    if (!element) throw new Error(`The page has no ${selector}`);
    return /** @type {T} */ (element);
}

/**
 * @param {string} id  of a template
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
 * Shows a number to people, and leaves it exact for programs in the `value` of its <data>.
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
