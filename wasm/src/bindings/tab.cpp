// The names under which JavaScript finds a tab's core: plain exports over numbers and addresses, as
// attach/attach_abi.hpp's. What they replace, embind, weighs 9 KB (browser/bridge.hpp), and its call would
// double the cost of the counter's add(), which may be three Atomics.add.
#include <emscripten/emscripten.h>

#include "browser/core/tab_core.hpp"

using tabacus::browser::CounterCore;
using tabacus::browser::PromiseId;
using tabacus::browser::ReplicatedCore;
using tabacus::browser::room;
using tabacus::browser::TabCore;
using tabacus::browser::texts;

extern "C" {

EMSCRIPTEN_KEEPALIVE char* tab_room(std::size_t size) { return room(size); }

// The text in the room: the namespace. The tab lives as long as its instance of the module does.
EMSCRIPTEN_KEEPALIVE TabCore* tab_new() {
    return std::make_unique<TabCore>(texts()[0].value_or("")).release();
}

EMSCRIPTEN_KEEPALIVE void tab_event(TabCore* tab, tabacus::browser::Event event, int number) {
    tab->world().happened(event, number, texts());
}

EMSCRIPTEN_KEEPALIVE void tab_open(TabCore* tab, PromiseId promise) { tab->open(promise); }

EMSCRIPTEN_KEEPALIVE void tab_close(TabCore* tab, PromiseId promise) { tab->close(promise); }

EMSCRIPTEN_KEEPALIVE void tab_capabilities(TabCore* tab, PromiseId promise) {
    tab->capabilities(promise);
}

// The text in the room: the name.
EMSCRIPTEN_KEEPALIVE ReplicatedCore* tab_counter(TabCore* tab, bool strict, PromiseId /*promise*/) {
    return tab->counter(texts()[0].value_or(""), strict);
}

EMSCRIPTEN_KEEPALIVE double tally_increment(ReplicatedCore* counter, double n) {
    return counter->increment(n);
}

EMSCRIPTEN_KEEPALIVE double tally_value(const CounterCore* counter) { return counter->value(); }

EMSCRIPTEN_KEEPALIVE void tally_read(CounterCore* counter, PromiseId promise) {
    counter->read(promise);
}

EMSCRIPTEN_KEEPALIVE void tally_flush(CounterCore* counter, PromiseId promise) {
    counter->flush(promise);
}

EMSCRIPTEN_KEEPALIVE void tally_guarantee(const CounterCore* counter, PromiseId promise) {
    counter->guarantee(promise);
}
}
