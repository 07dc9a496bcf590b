// The names under which JavaScript finds a tab's core: plain exports over numbers and addresses. A call
// through embind would double the cost of the counter's add().
#include "browser/core/tab_core.hpp"

using Core = tabacus::browser::TabCore;
#include "bindings/core_exports.hpp"

using tabacus::browser::CounterCore;
using tabacus::browser::ReplicatedCore;

extern "C" {

EMSCRIPTEN_KEEPALIVE void tab_open(Core* core, PromiseId promise) { core->open(promise); }

EMSCRIPTEN_KEEPALIVE void tab_close(Core* core, PromiseId promise) { core->close(promise); }

EMSCRIPTEN_KEEPALIVE void tab_capabilities(Core* core, PromiseId promise) {
    core->capabilities(promise);
}

// Packed text: the name.
EMSCRIPTEN_KEEPALIVE ReplicatedCore* tab_counter(Core* core, bool strict, PromiseId /*promise*/) {
    return core->counter(text_at(0), strict);
}

EMSCRIPTEN_KEEPALIVE double count_increment(ReplicatedCore* counter, double n) {
    return counter->increment(n);
}

EMSCRIPTEN_KEEPALIVE double count_value(const CounterCore* counter) { return counter->value(); }

EMSCRIPTEN_KEEPALIVE void count_read(CounterCore* counter, PromiseId promise) {
    counter->read(promise);
}

EMSCRIPTEN_KEEPALIVE void count_flush(CounterCore* counter, PromiseId promise) {
    counter->flush(promise);
}

EMSCRIPTEN_KEEPALIVE void count_guarantee(const CounterCore* counter, PromiseId promise) {
    counter->guarantee(promise);
}
}
