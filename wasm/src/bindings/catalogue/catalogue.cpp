// The names under which JavaScript finds the catalogue's core: those of a tab's core (../tab.cpp)
// as far as it has them, so that one js/core/bridge.js serves both.
#include <emscripten/emscripten.h>

#include "browser/core/catalogue_core.hpp"

using tabacus::browser::CatalogueCore;
using tabacus::browser::CounterCore;
using tabacus::browser::PromiseId;
using tabacus::browser::room;
using tabacus::browser::texts;

extern "C" {

EMSCRIPTEN_KEEPALIVE char* tab_room(std::size_t size) { return room(size); }

// The text in the room: the namespace. It lives as long as its instance of the module does.
EMSCRIPTEN_KEEPALIVE CatalogueCore* tab_new() {
    return std::make_unique<CatalogueCore>(texts()[0].value_or("")).release();
}

EMSCRIPTEN_KEEPALIVE void tab_event(CatalogueCore* core, tabacus::browser::Event event,
                                    int number) {
    core->world().happened(event, number, texts());
}

EMSCRIPTEN_KEEPALIVE void tab_close(CatalogueCore* core, PromiseId promise) {
    core->close(promise);
}

// The texts in the room: name, strategy, and its times.
EMSCRIPTEN_KEEPALIVE CounterCore* tab_counter(CatalogueCore* core, bool strict, PromiseId promise) {
    return core->counter(texts(), strict, promise);
}

EMSCRIPTEN_KEEPALIVE double tally_value(const CounterCore* counter) { return counter->value(); }

EMSCRIPTEN_KEEPALIVE void tally_add(CounterCore* counter, double n, PromiseId promise) {
    counter->add(n, promise);
}

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
