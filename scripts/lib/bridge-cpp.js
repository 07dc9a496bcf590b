/** The C++ side of the bridge, written from what bridge/ describes. */

import { cppErrors } from '../../bridge/errors.js';
import {
    callbacks,
    coordinationCallbacks,
    gatherCallbacks,
    hostCalls,
    hostEvents,
} from '../../bridge/host.js';
import { enums, records } from '../../bridge/types.js';
import {
    enumOf,
    fieldsOf,
    hostMethod,
    isNumber,
    numbered,
    ownerOf,
    owners,
    parsed,
    recordOf,
    snake,
} from './bridge-types.js';

const head =
    '// Written by scripts/lib/bridge-cpp.js from what bridge/ describes: change it there.\n#pragma once\n';

/** The checks of clang-tidy that generated code need not pass. */
const quiet = ['performance-move-const-arg', 'readability-redundant-member-init'].join();
const quietFrom = `// The generator writes the same code for all types; for some it is redundant.\n// NOLINTBEGIN(${quiet})\n\n`;
const quietTo = `// NOLINTEND(${quiet})\n`;

/** The doc comment of a declaration; generateBridge() wraps it. @param {string} text */
const comment = (text) => `/// ${text}\n`;

/** @param {string} type @returns {string} the C++ type of a parameter, or of a value that is unpacked */
function cppType(type) {
    const { of, inner } = parsed(type);
    if (of === 'list') return `std::vector<${cppType(inner)}>`;
    if (of === 'set') return `EnumSet<${cppType(inner)}>`;
    if (of === 'bits') return 'double';
    if (type === 'text') return 'std::string';
    if (type === 'text?') return 'Text';
    if (type === 'texts') return 'Texts';
    if (type === 'int64') return 'std::int64_t';
    if (type === 'number') return 'double';
    if (type === 'number?') return 'std::optional<double>';
    if (type.endsWith('?')) return `std::optional<${cppType(type.slice(0, -1))}>`;
    return enumOf(type)?.cpp ?? recordOf(type)?.cpp ?? type;
}

// --- Values that are packed

/** The expression that reads a value from the unpacker `from`. @param {string} type @returns {string} */
export function unpack(type) {
    const { of, inner } = parsed(type);
    if (of === 'list') {
        return `from.list<${cppType(inner)}>([](Unpacker& from) { return ${unpack(inner)}; })`;
    }
    if (type === 'text') return 'from.text()';
    if (type === 'text?') return 'from.optional_text()';
    if (type === 'texts') return 'from.texts()';
    if (type === 'number') return 'from.number()';
    if (type === 'number?') return 'from.optional_number()';
    if (type === 'bool') return 'from.number() != 0';
    if (isNumber(type)) return `static_cast<${cppType(type)}>(from.number())`;
    return `unpack_${snake(type)}(from)`;
}

/** The function and the assertions that compare an enumeration with its description. @param {string} name */
function enumChecks(name) {
    const { cpp = name } = enumOf(name) ?? {};
    const cases = numbered(name).map(
        ([value, , number]) => `        case ${cpp}::${value}:\n            return ${number};\n`,
    );
    const checks = numbered(name).map(
        ([value, , number]) => `static_assert(static_cast<int>(${cpp}::${value}) == ${number});\n`,
    );
    return (
        comment(
            `Returns the number of an enumerator. The compiler warns of an enumerator that bridge/types.js lacks.`,
        ) +
        `constexpr int described_number(${cpp} value) {\n    switch (value) {\n${cases.join('')}    }\n    return -1;\n}\n` +
        `${checks.join('')}\n`
    );
}

/** Writes wasm/include/tabacus/common/generated/error_code.hpp, which the protocols include too. */
export function errorCodeHeader() {
    const values = numbered('ErrorCode');
    const enumerators = values.map(([value, code]) => `    ${value},  // ${cppErrors[code]}\n`);
    const cases = values.map(
        ([value, code]) => `        case ErrorCode::${value}:\n            return "${code}";\n`,
    );
    return [
        head,
        '\n#include <string_view>\n',
        '\nnamespace tabacus {\n\n',
        `enum class ErrorCode {\n${enumerators.join('')}};\n\n`,
        comment('Returns the code as the public API spells it, with hyphens: "quota-exceeded".'),
        'inline std::string_view code_name(ErrorCode code) {\n',
        `    switch (code) {\n${cases.join('')}    }\n    return "store-failed";\n}\n\n`,
        '}  // namespace tabacus\n',
    ].join('');
}

/** The declaration of an enumeration that no other header declares. @param {string} name */
function enumeration(name) {
    const { doc = '' } = enums[name] ?? {};
    return `${comment(doc)}enum class ${name} : int { ${numbered(name)
        .map(([value]) => value)
        .join(', ')} };\n\n`;
}

/** The declaration of a record that no other header declares. @param {string} name */
function struct(name) {
    const { doc = '' } = records[name] ?? {};
    const fields = fieldsOf(name).map(({ cpp, type }) => `    ${cppType(type)} ${cpp}{};\n`);
    return `${comment(doc)}struct ${name} {\n${fields.join('')}};\n\n`;
}

/** The functions that pack and unpack a record, as far as a side needs them. @param {string} name */
function recordFunctions(name) {
    const { cpp = name, to } = recordOf(name) ?? {};
    const fields = fieldsOf(name);
    const packs = fields.map((field) => `    pack(to, value.${field.cpp});\n`);
    const reads = fields.map((field) => `    value.${field.cpp} = ${unpack(field.type)};\n`);
    const writer = `inline void pack(Packer& to, const ${cpp}& value) {\n${packs.join('')}}\n\n`;
    const reader = `inline ${cpp} unpack_${snake(name)}(Unpacker& from) {\n    ${cpp} value;\n${reads.join('')}    return value;\n}\n\n`;
    return (to === 'cpp' ? '' : writer) + (to === 'js' ? '' : reader);
}

/** Writes the enumerations and records: wasm/src/browser/generated/records.hpp. */
export function recordsHeader() {
    const named = [...Object.values(enums), ...Object.values(records)];
    const headers = [...new Set(named.flatMap(({ header }) => header ?? []))].sort();
    const own = Object.keys(records).filter((name) => !records[name]?.header);
    return [
        head,
        '\n#include "browser/bridge.hpp"\n',
        ...headers.map((header) => `#include "${header}"\n`),
        '\nnamespace tabacus::browser {\n\n',
        quietFrom,
        ...Object.keys(enums).map((name) => (enums[name]?.header ? enumChecks(name) : enumeration(name))),
        ...own.map(struct),
        ...Object.keys(records).map(recordFunctions),
        quietTo,
        '}  // namespace tabacus::browser\n',
    ].join('');
}

// --- Calls of the host

/** @typedef {import('../../bridge/host.js').HostCall} HostCall */

/** All calls; the index of a call is its number. @type {HostCall[]} */
export const numberedCalls = [...hostCalls, ...callbacks, ...coordinationCallbacks, ...gatherCallbacks];

/**
 * The parameters of a call, with one for each field of a record that JavaScript gets as an object.
 *
 * @param {HostCall} call
 */
export function flatParams({ params = {}, settles }) {
    /** @type {[name: string, type: string][]} */
    const flat = settles === undefined ? [] : [['operation', 'int']];
    for (const [name, type] of Object.entries(params)) {
        if (typeof type === 'string') flat.push([name, type]);
        else flat.push(...Object.entries(type));
    }
    return flat;
}

/**
 * Which argument of tabacus_call() carries each parameter: numbers of 32 bits go in the first four, a `number` in the
 * fifth, and texts, or one packed value, in the last two.
 *
 * @param {HostCall} call
 * @returns {Map<string, number>}
 */
export function slotsOf(call) {
    const next = { int: 0, number: 4, text: 5 };
    const slots = new Map();
    for (const [name, type] of flatParams(call)) {
        if (type === 'number?' || type === 'int64')
            throw new Error(`${call.name} has a parameter of the type ${type}, which an int does not carry`);
        const kind = !isNumber(type) ? 'text' : type === 'number' ? 'number' : 'int';
        slots.set(name, next[kind]++);
    }
    if (next.int > 4 || next.number > 5 || next.text > 7)
        throw new Error(`${call.name} has more parameters than tabacus_call() takes`);
    return slots;
}

/** @param {string} type */
function cppParam(type) {
    if (type === 'text' || type === 'packed') return 'std::string_view';
    return isNumber(type) ? cppType(type) : `const ${cppType(type)}&`;
}

/** The function of the namespace `host` that makes a call. @param {HostCall} call */
function callFunction(call) {
    const slots = ['0', '0', '0', '0', '0', 'nullptr, 0', 'nullptr, 0'];
    let before = '';
    for (const [name, slot] of slotsOf(call)) {
        const type = flatParams(call).find(([param]) => param === name)?.[1] ?? '';
        if (slot < 4)
            slots[slot] =
                type === 'int'
                    ? name
                    : parsed(type).of === 'set'
                      ? `static_cast<int>(${name}.bits())`
                      : `static_cast<int>(${name})`;
        else if (slot === 4) slots[slot] = name;
        else if (type === 'text' || type === 'packed') slots[slot] = `${name}.data(), ${name}.size()`;
        else {
            before += `    Packer to;\n    pack(to, ${name});\n`;
            slots[slot] = 'to.packed().data(), to.packed().size()';
        }
    }
    const { name, doc, settles, returns, type, file, property } = call;
    const method = `${type}.${hostMethod(call)}${property ? '' : '()'}`;
    const params = flatParams(call).map(([param, type]) => `${cppParam(type)} ${param}`);
    const asked = `tabacus_call(${[numberedCalls.indexOf(call), ...slots].join(', ')})`;
    const body = returns === 'bool' ? `return ${asked} != 0` : returns ? `return ${asked}` : asked;
    const result = returns === 'bool' ? 'bool' : returns ? 'double' : 'void';
    return (
        comment(`${doc}${settles === undefined ? '' : ` Answer: ${settles}.`}`) +
        comment(`${property ? 'Reads' : 'Calls'} ${method} in ${file}.`) +
        `inline ${result} ${name}(${params.join(', ')}) noexcept {\n${before}    ${body};\n}\n\n`
    );
}

/** The enumeration of the events, and the function that passes each event to the method of its name. */
function eventFunctions() {
    const values = hostEvents.map(({ name, doc }) => `    /// ${doc}\n    ${name},\n`);
    const cases = hostEvents.map(({ name, params }) => {
        const [first, ...rest] = Object.entries(params);
        const isFirst = first !== undefined && isNumber(first[1]);
        const packed = isFirst ? rest : Object.entries(params);
        const reads = packed.map(([param, type]) => `            auto ${param} = ${unpack(type)};\n`);
        const args = packed.map(([param]) => `std::move(${param})`);
        if (isFirst)
            args.unshift(first[1] === 'int' ? 'number' : `static_cast<${cppType(first[1])}>(number)`);
        return `        case HostEvent::${name}: {\n${reads.join('')}            return receiver.${name}(${args.join(', ')});\n        }\n`;
    });
    return [
        comment('The events that the host reports.'),
        `enum class HostEvent : int {\n${values.join('')}};\n\n`,
        comment('Calls the method of the receiver that has the name of the event.'),
        'template <typename Receiver>\nvoid dispatch(Receiver& receiver, HostEvent event, [[maybe_unused]] int number) {\n',
        `    Unpacker from;\n    switch (event) {\n${cases.join('')}    }\n}\n\n`,
    ].join('');
}

/** Writes the host's calls and events: wasm/src/browser/generated/host.hpp. */
export function hostHeader() {
    return [
        head,
        '\n#include <utility>\n\n#include "browser/generated/records.hpp"\n',
        '\nnamespace tabacus::browser {\n\n',
        quietFrom,
        eventFunctions(),
        comment(
            'Calls of the host. A call with an `operation` returns at once: the event `settled` of that number brings its answer, or `failed` its error.',
        ),
        'namespace host {\n\n',
        ...numberedCalls.map(callFunction),
        '}  // namespace host\n\n',
        quietTo,
        '}  // namespace tabacus::browser\n',
    ].join('');
}

// --- Exports

/** @typedef {import('../../bridge/exports.js').ExportedCall} ExportedCall */

/** @param {string} type @returns {string} the type of an export's parameter or result */
const wasmType = (type) => {
    if (/[&*]$/.test(type)) return type.replace(/(?=[&*]$)/, '');
    if (type === 'int64' || type === 'number?' || type === 'number') return 'double';
    if (type === 'bool' || type === 'int') return type;
    return cppType(type);
};

/** @param {string} name @param {string} type @returns {string} the argument that passes on a parameter of an export */
const argument = (name, type) =>
    type === 'int64'
        ? `static_cast<std::int64_t>(${name})`
        : type === 'number?'
          ? `optional_number(${name})`
          : isNumber(type) || /[&*]$/.test(type)
            ? name
            : `std::move(${name})`;

/** The function of an export, which reads the packed parameters and calls the target. @param {ExportedCall} call */
function shim({ name, doc, target, params = {}, answers, now, returns }) {
    const entries = Object.entries(params);
    const isPacked = (/** @type {string} */ type) => !isNumber(type) && !/[&*]$/.test(type);
    const plain = entries.filter(([, type]) => !isPacked(type));
    const packed = entries.filter(([, type]) => isPacked(type));
    const owner = ownerOf(target).map((name) => `${owners[name]}& ${name}`);
    const wasm = plain.map(([param, type]) => `${wasmType(type)} ${param}`);
    const promised = answers !== undefined || now !== undefined;
    const signature = [...owner, ...wasm, ...(promised ? ['PromiseId promise'] : [])];
    const receiver = target.split('.')[0];
    const args = entries
        .filter(([param]) => param !== receiver)
        .map(([param, type]) => argument(param, type));
    if (promised) args.push('promise');
    const reads = packed.map(([param, type]) => `    auto ${param} = ${unpack(type)};\n`);
    const called = `${target}(${args.join(', ')})`;
    const result =
        returns === 'int64' ? `return static_cast<double>(${called})` : returns ? `return ${called}` : called;
    return (
        comment(doc) +
        `EMSCRIPTEN_KEEPALIVE ${returns ? wasmType(returns) : 'void'} ${name}(${signature.join(', ')}) {\n` +
        `${reads.length > 0 ? '    Unpacker from;\n' : ''}${reads.join('')}    ${result};\n}\n\n`
    );
}

/**
 * Writes the exports of one file: wasm/src/bindings/generated/<file>.hpp. A file that includes it must first include
 * the classes on which the exports are called.
 * @param {ExportedCall[]} calls
 */
export const exportsHeader = (calls) =>
    [
        head,
        '\n#include <emscripten/emscripten.h>\n\n#include <utility>\n\n#include "browser/generated/records.hpp"\n',
        '\nnamespace tabacus::browser {\n\nextern "C" {\n\n',
        quietFrom,
        ...calls.filter(({ byHand }) => !byHand).map(shim),
        quietTo,
        '}\n\n}  // namespace tabacus::browser\n',
    ].join('');
