/** How the lint stage `classes` counts the fields and methods of C++ classes. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classSizes, excessiveSizes } from '../../scripts/lib/class-sizes.js';

/** @param {string} body of a class */
const sizeOf = (body) => {
    const [size] = classSizes(
        `namespace a::b {\nclass C final : public D<int> {\n${body}\n};\n}  // namespace`,
    );
    return [size?.fields, size?.methods];
};

test('fields count, with initializers of any form, and static ones do not', () => {
    assert.deepEqual(
        sizeOf('int a_ = 1; std::map<int, std::string> b_; Part c_{a_, b_}; int d_, e_;'),
        [5, 0],
    );
    assert.deepEqual(sizeOf('static constexpr double f_ms = 2 * (3 + 1); static int g_;'), [0, 0]);
    assert.deepEqual(sizeOf('Function<void(const std::vector<int>&)> on_lost_ = nullptr;'), [1, 0]);
    assert.deepEqual(sizeOf('bool late_ = limit < most && most > 1; int bits_ : 3;'), [2, 0]);
});

test('methods count, with and without a body, overloads and operators among them', () => {
    assert.deepEqual(sizeOf('void a(); int b() const { return c() ? 1 : 2; } void b(int);'), [0, 3]);
    assert.deepEqual(
        sizeOf('bool operator()(int a) const; C& operator<<(int); virtual void d() = 0;'),
        [0, 3],
    );
    assert.deepEqual(
        sizeOf('template <typename T> std::vector<T> e(Function<T()> of = {}) { g(); }'),
        [0, 1],
    );
    assert.deepEqual(sizeOf('[[nodiscard]] auto f() -> Task<void>; static C make();'), [0, 2]);
});

test('a constructor with initializers counts once, and its initializers are no bodies', () => {
    assert.deepEqual(sizeOf('explicit C(int a) : a_(a), b_{a, {1}} { f(); }\nint a_; B b_;'), [2, 1]);
    assert.deepEqual(sizeOf('C() : f_([this] { g(); }) {}\nFunction<void()> f_;'), [1, 1]);
});

test('functions that the compiler writes or refuses do not count, nor do names and friends', () => {
    assert.deepEqual(sizeOf('C(const C&) = delete; C() = default; ~C();'), [0, 1]);
    assert.deepEqual(
        sizeOf('using D = std::map<int, int>; friend class E; enum class F : char { a, b };'),
        [0, 0],
    );
    assert.deepEqual(sizeOf('class G; struct H;'), [0, 0]);
});

test('comments, texts and lines of the preprocessor do not count', () => {
    assert.deepEqual(sizeOf('// int a;\n/* void b(); */ int c_ = 1;  // of "d;"'), [1, 0]);
    assert.deepEqual(sizeOf('#define E \\\n int e_;\nstd::string f_ = "int g; }"; char h_ = \'}\';'), [2, 0]);
});

test('a class within another one is counted by itself, and its variable is a field', () => {
    const source =
        'struct A { public: struct B { int a; void b(); }; B c; struct { int d; } e; private: void f(); };';
    assert.deepEqual(classSizes(source), [
        { name: 'A::B', fields: 1, methods: 1 },
        { name: 'A', fields: 2, methods: 1 },
    ]);
    assert.deepEqual(classSizes('struct A::B { int a; };'), [{ name: 'A::B', fields: 1, methods: 0 }]);
    assert.deepEqual(classSizes('void f() { struct A { int a; }; }\nenum class E { a };'), []);
});

test('a class of 15 fields and 30 methods is accepted, and one with one more of either is named', () => {
    const fields = (/** @type {number} */ count) => 'int a;'.repeat(count);
    const methods = (/** @type {number} */ count) => 'void a();'.repeat(count);
    assert.deepEqual(excessiveSizes(`struct A { ${fields(15)} ${methods(30)} };`), []);
    assert.deepEqual(excessiveSizes(`struct A { ${fields(16)} };`), ['A has 16 fields and 0 methods']);
    assert.deepEqual(excessiveSizes(`struct A { ${methods(31)} };`), ['A has 0 fields and 31 methods']);
});
