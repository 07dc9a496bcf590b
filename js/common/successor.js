/**
 * The base of a class that is loaded after an object of it was returned. Its constructors make an instance of the object
 * that they are given: since this one returns that object, it gets the private fields, too.
 */
export class Successor {
    /** @param {object} object @internal */
    constructor(object) {
        return Object.setPrototypeOf(object, new.target.prototype); // eslint-disable-line no-constructor-return -- it is the instance
    }

    /** For the tab, which is closed or has failed: nothing more is asked of it. @internal */
    _end() {}
}
