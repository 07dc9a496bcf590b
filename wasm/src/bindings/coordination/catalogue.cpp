// The names under which JavaScript finds the catalogue: those of a tab's core (../tab.cpp) where both
// have a function, so that one js/core/bridge.js serves both.
#include "exports.hpp"

using tabacus::browser::CounterCore;

extern "C" {

EMSCRIPTEN_KEEPALIVE void catalogue_close(Core* core, PromiseId promise) {
    core->catalogue().close(promise);
}

// Packed texts: name, strategy, and its times.
EMSCRIPTEN_KEEPALIVE CounterCore* tab_counter(Core* core, bool strict, PromiseId promise) {
    return core->catalogue().counter(texts(), strict, promise);
}

EMSCRIPTEN_KEEPALIVE double count_value(const CounterCore* counter) { return counter->value(); }

EMSCRIPTEN_KEEPALIVE void count_add(CounterCore* counter, double n, PromiseId promise) {
    counter->add(n, promise);
}

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
