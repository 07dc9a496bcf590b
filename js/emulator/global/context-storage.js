/** The items of a localStorage or sessionStorage: a storage area of the rules, as one context sees it. */

import { traceRead } from '../trace/storage-read.js';
import { makeStorage } from '../../platform/storage-interface.js';

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('../../platform/storage-items.js').Items} Items */

/** @implements {Items} */
class ContextStorage {
    #context;
    #area;

    /** The values that have been read, by key. @type {Map<string, string | null>} */
    #values = new Map();

    /** @type {string[] | null} */
    #keys = null;
    #version = 0;

    /**
     * @param {Context} context
     * @param {number} area
     */
    constructor(context, area) {
        this.#context = context;
        this.#area = area;
    }

    /** Drops the values that it has read if anything was written since. */
    #refresh() {
        const { version } = this.#context.rules;
        if (this.#version === version) return;
        this.#version = version;
        this.#keys = null;
        this.#values.clear();
    }

    /** @param {string} key */
    get(key) {
        this.#refresh();
        const context = this.#context;
        if (!context.active) return null;
        let value = this.#values.get(key);
        if (value === undefined) {
            value = context.rules.get(context.id, this.#area, key);
            this.#values.set(key, value);
        }
        if (context.rules.tracing) traceRead(context, this.#area, key, value);
        return value;
    }

    keys() {
        this.#refresh();
        const context = this.#context;
        if (!context.active) return [];
        this.#keys ??= context.rules.calls.keys(context.id, this.#area);
        return this.#keys;
    }

    /** @param {string} key @param {string} value */
    set(key, value) {
        this.#refresh();
        const context = this.#context;
        if (!context.active) return;
        const keys = this.#keys;
        context.rules.mark();
        if (!context.rules.set(context.id, this.#area, key, value)) throw context.quotaExceeded();
        const isNew = this.#values.get(key) == null;
        this.#values.set(key, value);
        this.#keys = isNew ? null : keys;
        this.#version = context.rules.version;
        context.origin.wake();
    }

    /** @param {string} key */
    remove(key) {
        const context = this.#context;
        if (!context.active) return;
        context.rules.mark();
        context.rules.calls.removeItem(context.id, this.#area, key);
        context.origin.wake();
    }

    clear() {
        const context = this.#context;
        if (!context.active) return;
        context.rules.mark();
        context.rules.calls.clear(context.id, this.#area);
        context.origin.wake();
    }
}

/**
 * @param {Context} context
 * @param {number} area
 * @returns {Storage}
 */
export function storageOf(context, area) {
    context.checkStorable(area === 0 ? 'localStorage' : 'sessionStorage');
    const items = new ContextStorage(context, area);
    return makeStorage(context.tab.recordFormat?.items(items) ?? items, context.original('Storage'));
}
