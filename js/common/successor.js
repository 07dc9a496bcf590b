/**
 * The base of the classes of deferred objects (js/tab/deferred.js). The constructor of such a class gets an
 * object that already exists, and makes it an instance of the class. Because this constructor returns that
 * object, JavaScript adds the private fields of the derived class to it, too.
 */
export class Successor {
    /** @param {object} object @internal */
    constructor(object) {
        return Object.setPrototypeOf(object, new.target.prototype); // eslint-disable-line no-constructor-return -- it is the instance
    }

    /** Called by the tab when it closes or fails. Later calls of the object are refused. @internal */
    _end() {}
}
