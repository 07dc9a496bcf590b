/** The JavaScript side of the bridge, written from what bridge/ describes. */

import { errors } from '../../bridge/errors.js';
import { exported, pieces } from '../../bridge/exports.js';
import {
    callbacks,
    coordinationCallbacks,
    gatherCallbacks,
    hostCalls,
    hostEvents,
} from '../../bridge/host.js';
import { enums, records } from '../../bridge/types.js';
import { flatParams, numberedCalls, slotsOf } from './bridge-cpp.js';
import {
    calledFunction,
    camel,
    fieldsOf,
    hostMethod,
    isNumber,
    jsType,
    namedIn,
    namesOf,
    numbered,
    ownerOf,
    parsed,
    snake,
    withoutLinks,
} from './bridge-types.js';
import { Failure } from './failure.js';

const head = '/* Written by scripts/lib/bridge-js.js from what bridge/ describes: change it there. */\n\n';

/** @param {string[]} lines of a doc comment */
const comment = (lines) =>
    lines.length === 1
        ? `/** ${lines[0]} */\n`
        : `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`;

/** @param {string} text @param {string} [by] what stands before each line */
const indented = (text, by = '    ') => text.replace(/^(?=.)/gm, by);

/** @param {string[]} names of enumerations @param {string} code that may use their tables */
function enumImports(names, code) {
    const imports = names.map((name) => {
        const used = [name, namesOf(name)].filter((table) => new RegExp(`\\b${table}\\b[.[,)]`).test(code));
        return used.length === 0
            ? ''
            : `import { ${used.join(', ')} } from './enums/${enumFile(name)}.js';\n`;
    });
    if (code.includes('namesIn(')) imports.push("import { namesIn } from '../packed.js';\n");
    return imports.join('') + (imports.some(Boolean) ? '\n' : '');
}

/** The name of the module of an enumeration. @param {string} name */
export const enumFile = (name) => snake(name).replaceAll('_', '-');

/** Writes js/core/generated/enums/<name>.js. A page loads only the enumerations that it uses. @param {string} name */
export function enumModule(name) {
    const { doc = '', letters } = enums[name] ?? {};
    const values = numbered(name);
    const byName = values.map(([, js, number]) => `    ${quoted(js)}: ${number},\n`);
    const byNumber = values.map(([, js, number]) =>
        letters ? `    ${number}: '${js}',\n` : `    '${js}',\n`,
    );
    const type = values.map(([, js]) => `'${js}'`).join(' | ');
    const [open, close] = letters ? ['{', '}'] : ['[', ']'];
    const table = letters ? `Record<number, ${name}Name>` : `${name}Name[]`;
    return (
        `${head}/** @typedef {${type}} ${name}Name */\n\n` +
        comment([doc, '', 'This table has the number of each name.']) +
        `export const ${name} = /** @type {const} */ ({\n${byName.join('')}});\n\n` +
        comment([`The name of each number.`, '', `@type {${table}}`]) +
        `export const ${namesOf(name)} = ${open}\n${byNumber.join('')}${close};\n`
    );
}

/** Writes js/common/generated/error-codes.js. */
export function errorCodesModule() {
    const list = Object.entries(errors).map(
        ([code, { when, action }]) => `- \`${code}\`: ${when} What to do: ${withoutLinks(action)}`,
    );
    const type = Object.keys(errors)
        .map((code) => `'${code}'`)
        .join(' | ');
    return (
        head +
        comment(['What went wrong, for programs.', '', ...list, '', `@typedef {${type}} TabacusErrorCode`]) +
        '\nexport {};\n'
    );
}

/** @param {string} name */
const quoted = (name) => (/^\w+$/.test(name) ? name : `'${name}'`);

// --- Values that are packed

/** @param {string} type @returns {string} the expression that reads a value from `from` */
function unpack(type) {
    const { of, inner } = parsed(type);
    if (of === 'list')
        return inner in records ? `from.list(unpack${inner})` : `from.list(() => ${unpack(inner)})`;
    if (type === 'text') return 'from.text()';
    if (type === 'text?') return 'from.optionalText()';
    if (type === 'bool') return 'from.number() > 0';
    if (type in records) return `unpack${type}(from)`;
    if (type.endsWith('?') && type !== 'number?')
        return `from.number() > 0 ? ${unpack(type.slice(0, -1))} : undefined`;
    if (type in enums) return `/** @type {any} */ (${namesOf(type)}[from.number()])`;
    return 'from.number()';
}

/**
 * @param {string} type
 * @param {string} value
 * @returns {string} the values that are packed of it, as elements of an array
 */
function pack(type, value) {
    const { of, inner } = parsed(type);
    if (of === 'list') {
        const all = isPlain(inner)
            ? value
            : `${value}.flatMap(${inner in records ? `pack${inner}` : `(one) => [${pack(inner, 'one')}]`})`;
        return `${value}.length, ...${all}`;
    }
    if (type in records) return `...pack${type}(${value})`;
    if (type in enums) return numberOf(type, value);
    if (type === 'number?') return `${value} ?? NaN`;
    return value;
}

/**
 * The expression for the number of an enumerator. It uses the table from which names are read, so that a page loads
 * one table only.
 *
 * @param {string} type
 * @param {string} name
 */
const numberOf = (type, name) =>
    enums[type]?.letters ? `${type}[${name}]` : `${namesOf(type)}.indexOf(${name})`;

/** Whether a value is packed without a conversion. @param {string} type */
const isPlain = (type) =>
    ['text', 'text?', 'number', 'int', 'int64', 'bool'].includes(type) || parsed(type).of === 'bits';

/** The type of a record, and its two functions. @param {string} name */
function recordParts(name) {
    const { doc = '' } = records[name] ?? {};
    const fields = fieldsOf(name);
    const types = fields.map(({ js, type }) =>
        type === 'number?' ? `@property {number} [${js}]` : `@property {${jsType(type)}} ${js}`,
    );
    const reads = fields.map(({ js, type }) => `    ${js}: ${unpack(type)},\n`);
    const packs = fields.map(({ js, type }) => `    ${pack(type, `value.${js}`)},\n`);
    const readerDoc = comment([`@param {import('../packed.js').Unpacker} from`, `@returns {${name}}`]);
    const writerDoc = comment([`@param {${name}} value`, `@returns {import('../packed.js').Packed[]}`]);
    return {
        typedef: comment([doc, '', `@typedef {object} ${name}`, ...types]),
        reader: `${readerDoc}const unpack${name} = (from) => ({\n${reads.join('')}});\n`,
        writer: `${writerDoc}const pack${name} = (value) => [\n${packs.join('')}];\n`,
    };
}

/**
 * The code, behind the typedefs of the records that the types name and those of their functions that it uses.
 *
 * @param {string[]} types
 * @param {string} code that uses them
 */
function withRecords(types, code) {
    let all = code;
    for (const name of recordsIn(types).reverse()) {
        const { typedef, reader, writer } = recordParts(name);
        const used = [
            ...(all.includes(`unpack${name}`) ? [reader] : []),
            ...(new RegExp(`\\bpack${name}\\b`).test(all) ? [writer] : []),
        ];
        all = [typedef, ...used, all].join('\n');
    }
    return all;
}

/** The records that types name. @param {string[]} types */
const recordsIn = (types) => [...new Set(types.flatMap(namedIn))].filter((name) => name in records);

/** The enumerations that types name. @param {string[]} types */
const enumsIn = (types) => [...new Set(types.flatMap(namedIn))].filter((name) => name in enums);

// --- Calls of the host

/** @typedef {import('../../bridge/host.js').HostCall} HostCall */

/** The parameters of tabacus_call() that carry each argument. */
const SLOTS = [
    'a',
    ...['b', 'c', 'd'],
    'number',
    'bridge.text(first, firstSize)',
    'bridge.text(second, secondSize)',
];

/** @param {string} type @param {number} slot */
function slotValue(type, slot) {
    const value = SLOTS[slot] ?? '';
    if (type === 'packed') return 'bridge.unpack(first)';
    const { of, inner } = parsed(type);
    if (of === 'list') return `bridge.unpack(first).list((from) => ${unpack(inner)})`;
    if (namedIn(type).some((name) => name in records))
        return unpack(type).replaceAll('from', 'bridge.unpack(first)');
    if (type === 'bool') return `${value} > 0`;
    if (type in enums) return `/** @type {any} */ (${namesOf(type)}[${value}])`;
    if (of === 'set') return `namesIn(${namesOf(inner)}, ${value})`;
    return value;
}

/** @param {HostCall} call */
function callCase(call) {
    const slots = slotsOf(call);
    const value = (/** @type {string} */ name, /** @type {string} */ type) =>
        slotValue(type, slots.get(name) ?? 0);
    const args = Object.entries(call.params ?? {}).map(([name, type]) =>
        typeof type === 'string'
            ? [name, value(name, type)]
            : [
                  name,
                  `{ ${Object.entries(type)
                      .map(([inner, of]) => `${camel(inner)}: ${value(inner, of)}`)
                      .join(', ')} }`,
              ],
    );
    const receiver = call.on.replace('(transaction)', `(${value('transaction', 'int')})`);
    const passed = args
        .filter(([name]) => receiver === call.on || name !== 'transaction')
        .map(([, arg]) => arg);
    if (call.settles !== undefined) passed.unshift('a');
    const called = `${receiver}.${hostMethod(call)}${call.property ? '' : `(${passed.join(', ')})`}`;
    const cased = `case ${numberedCalls.indexOf(call)}: // ${call.name}\n`;
    return call.returns ? `${cased}    return ${called};\n` : `${cased}    return void ${called};\n`;
}

const callParams = [
    'call the number of the call',
    'a the first of up to four integers',
    ...['b', 'c', 'd'],
    'number a number that need not be an integer',
    'first the address of the first text, or of a packed value',
    'firstSize its bytes',
    'second the address of the second text',
    'secondSize its bytes',
].map((param) => `@param {number} ${param}`);

/**
 * @param {string} doc
 * @param {string} name
 * @param {[name: string, type: string][]} receivers
 * @param {HostCall[]} calls
 */
function dispatcher(doc, name, receivers, calls) {
    const passedOn = 'call, a, b, c, d, number, first, firstSize, second, secondSize';
    const params = [...receivers.map(([param]) => param), passedOn];
    const types = receivers.map(([param, type]) => `@param {${type}} ${param}`);
    const cases = indented(calls.map(callCase).join(''), '        ');
    const further = {
        callHost: `bridge.callFurther(bridge, ${passedOn})`,
        callCoordination: `bridge.callCells?.(${passedOn})`,
    }[name];
    const rest = `        default:\n            return ${further ?? 'undefined'};\n`;
    return (
        comment([doc, '', ...types, ...callParams, '@returns {unknown} a number, a boolean, or nothing']) +
        `export function ${name}(${params.join(', ')}) {\n    switch (call) {\n${cases}${rest}    }\n}\n`
    );
}

/** @param {HostCall[]} calls */
const typesOf = (calls) =>
    calls.flatMap((call) =>
        flatParams(call).map(([, type]) => (parsed(type).inner ? parsed(type).inner : type)),
    );

const bridgeType = "import('../bridge.js').Bridge";

/** Writes js/core/generated/host-calls.js. */
export function hostCallsModule() {
    const calls = [...hostCalls, ...callbacks];
    const code = withRecords(
        typesOf(calls),
        dispatcher(
            'Makes one call of C++: a method of a part of the host, or of the bridge.',
            'callHost',
            [
                ['host', "import('../../host/host.js').Host"],
                ['bridge', bridgeType],
            ],
            calls,
        ),
    );
    return head + enumImports(enumsIn(typesOf(calls)), code) + code;
}

/** Writes js/core/generated/coordination-calls.js. */
export function coordinationCallsModule() {
    const code = withRecords(
        typesOf(coordinationCallbacks),
        dispatcher(
            'Makes one call of C++ that only locks, queues and limits make.',
            'callCoordination',
            [['bridge', bridgeType]],
            coordinationCallbacks,
        ),
    );
    return head + enumImports(enumsIn(typesOf(coordinationCallbacks)), code) + code;
}

/** Writes js/core/generated/cells-calls.js. */
export const cellsCallsModule = () =>
    head +
    dispatcher(
        'Makes one call of C++ that only the gatherers of what threads add make.',
        'callCells',
        [['cells', "import('../../threads/tab-counter/page-cells.js').PageCells"]],
        gatherCallbacks,
    );

/** Writes js/core/generated/host-events.js. */
export function hostEventsModule() {
    const params = hostEvents.map(({ params: of }) => Object.entries(of));
    const optional = (/** @type {string} */ type) => (type === 'texts' ? '=' : '');
    const types = hostEvents.map(({ name, doc }, index) => {
        const typed = (params[index] ?? []).map(
            ([param, type]) => `${camel(param)}${type === 'texts' ? '?' : ''}: ${jsType(type)}`,
        );
        return `@property {(${typed.join(', ')}) => void} ${camel(name)} ${doc}`;
    });
    const methods = hostEvents.map(({ name }, index) => {
        const all = params[index] ?? [];
        const names = all.map(([param, type]) => (optional(type) ? `${camel(param)} = []` : camel(param)));
        const [first, ...rest] = all;
        const isFirst = first !== undefined && isNumber(first[1]);
        const packed = (isFirst ? rest : all).map(([param, type]) =>
            type === 'texts' ? `...${camel(param)}` : pack(type, camel(param)),
        );
        const number = isFirst ? pack(first[1], camel(first[0])) : '0';
        const values =
            packed.length === 1 && packed[0]?.startsWith('...')
                ? packed[0].slice(3)
                : `[${packed.join(', ')}]`;
        return `    ${camel(name)}: (${names.join(', ')}) => send(${index}, ${number}, ${values}),\n`;
    });
    const code =
        comment([
            'Reports the events of the host to C++. A method may throw `out-of-memory`, which the host reports as a failure.',
            '',
            '@typedef {object} HostEvents',
            ...types,
        ]) +
        '\n' +
        comment([
            "@param {(event: number, number: number, values: import('../packed.js').Packed[]) => void} send an event to C++",
            '@returns {HostEvents}',
        ]) +
        `export const hostEvents = (send) => ({\n${methods.join('')}});\n`;
    return head + enumImports(Object.keys(enums), code) + code;
}

/** Writes js/core/generated/build.js. @param {string} build */
export const buildModule = (build) =>
    `${head}/** Names the build: see scripts/lib/bridge-generator.js. */\nexport const build = '${build}';\n`;

// --- Exports

/** @typedef {import('../../bridge/exports.js').ExportedCall} ExportedCall */

/** Whether a parameter is passed as one number; other parameters are packed. @param {string} type */
const isPassed = (type) => isNumber(type) || /[&*]$/.test(type);

/** @param {string} name @param {string} type */
function passed(name, type) {
    if (type in enums) return numberOf(type, name);
    if (type === 'number?') return `${name} ?? NaN`;
    return type === 'bool' ? `Number(${name})` : name;
}

/** @param {ExportedCall} call @returns {[js: string, type: string][]} its parameters without the core */
const paramsOf = ({ params = {} }) =>
    Object.entries(params)
        .filter(([name]) => name !== 'core')
        .map(([name, type]) => [camel(name), type]);

/** The argument that converts the answer of C++ to a value; empty if nothing is converted. @param {string} type */
function reader(type) {
    if (type === 'nothing' || type === 'number' || type === 'int') return '';
    if (type === 'bool') return ', (answer) => answer > 0';
    return type in records ? `, unpack${type}` : `, (from) => ${unpack(type)}`;
}

/** @param {string} type */
const answerType = (type) => (type === 'nothing' ? 'void' : jsType(type));

/** @param {string} type of a parameter */
const paramType = (type) => (type === 'number?' ? 'number | undefined' : jsType(type));

/** The JSDoc of what the function of an export returns. @param {ExportedCall} call @returns {string[]} */
function returnsOf({ answers, now, returns }) {
    if (answers !== undefined) return [`@returns {Promise<${answerType(answers)}>}`];
    if (now !== undefined) return [`@returns {${answerType(now)}}`];
    return returns ? [`@returns {${returns === 'bool' ? 'boolean' : 'number'}}`] : [];
}

/** @param {ExportedCall} call */
function exportFunction(call) {
    const { name, doc, target, answers, now, returns, always } = call;
    const params = paramsOf(call);
    const packed = params.filter(([, type]) => !isPassed(type)).map(([param, type]) => pack(type, param));
    const numbers = params.filter(([, type]) => isPassed(type)).map(([param, type]) => passed(param, type));
    const promised = answers ?? now;
    const args = [
        ...ownerOf(target).map((owner) => `bridge.${owner}`),
        ...numbers,
        ...(promised === undefined ? [] : ['promise']),
    ];
    const called = `bridge.glue.${name}(${args.join(', ')})`;
    const packing = packed.length === 0 ? '' : `bridge.pack([${packed.join(', ')}]);\n`;
    const types = params.map(([param, type]) => `@param {${paramType(type)}} ${param}`);
    let body;
    if (promised === undefined) {
        body = `${packing}${returns === 'bool' ? `return ${called} > 0` : returns ? `return ${called}` : called};\n`;
    } else {
        const how = answers === undefined ? 'now' : 'make';
        const start = packing ? `{\n${indented(`${packing}${called};\n`)}}` : called;
        const read = reader(promised) || (always ? ', undefined' : '');
        body = `return bridge.promises.${how}((promise) => ${start}${read}${always ? ', Infinity' : ''});\n`;
    }
    return (
        comment([
            `${doc} Calls ${calledFunction(call)}() in C++.`,
            '',
            `@param {${bridgeType}} bridge`,
            ...types,
            ...returnsOf(call),
        ]) +
        `export function ${camel(name)}(${['bridge', ...params.map(([param]) => param)].join(', ')}) {\n${indented(body)}}\n\n`
    );
}

/**
 * Writes the functions of a group of exports: js/core/generated/<group>.js.
 * @param {ExportedCall[]} calls
 */
export function exportsModule(calls) {
    const called = calls.filter(({ raw }) => !raw);
    const types = called.flatMap(({ params = {}, answers = '', now = '' }) => [
        ...Object.values(params),
        answers,
        now,
    ]);
    const code = withRecords(types, called.map(exportFunction).join(''));
    return head + enumImports(enumsIn(types), code) + code.trimEnd() + '\n';
}

/** The largest number of arguments that Bridge.contain() in js/core/bridge.js passes on. */
const PASSED_MAX = 5;

/** Writes js/core/generated/glue.js. */
export function glueModule() {
    const members = exported.map((call) => {
        const { name, target, params = {}, answers, now, returns, raw, byHand } = call;
        const numbers = Object.entries(params).filter(([, type]) => isPassed(type));
        const typed = [
            ...ownerOf(target).map((owner) => `${owner}: number`),
            ...numbers.map(([param]) => `${camel(param)}: number`),
            ...((answers ?? now) ? ['promise: number'] : []),
        ];
        if (typed.length > PASSED_MAX)
            throw new Failure(`${name} takes more arguments than js/core/bridge.js passes on`);
        const type = `(${typed.join(', ')}) => ${returns ? 'number' : 'void'}`;
        return `@property {${type}} ${name}${raw && !byHand ? ` Calls ${calledFunction(call)}() in C++.` : ''}`;
    });
    const alone = Object.keys(pieces).filter((piece) => pieces[piece]?.alone);
    return (
        head +
        comment([
            'A piece of the program, by the name of its file.',
            '',
            `@typedef {${Object.keys(pieces)
                .map((piece) => `'${piece}'`)
                .join(' | ')}} PieceName`,
        ]) +
        '\n' +
        comment([
            'The exports of the program. The exports of a piece that is not loaded are missing.',
            '',
            '@typedef {object} Exports',
            ...members,
        ]) +
        '\n/**\n * The pieces that are loaded without `locks`.\n * @type {PieceName[]}\n */\n' +
        `export const alone = [${alone.map((piece) => `'${piece}'`).join(', ')}];\n`
    );
}
