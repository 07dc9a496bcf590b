// What a tab's program exports for its bridge and its counters, as bridge/exports.js describes it: plain exports over
// numbers and addresses. embind, which they replace, weighs 9 KB more (browser/bridge.hpp).
#include <emscripten/emscripten.h>

#include <memory>

#include "browser/core/tab_core.hpp"
#include "browser/generated/host.hpp"

using tabacus::browser::TabCore;

extern "C" {

EMSCRIPTEN_KEEPALIVE char* tab_buffer(std::size_t size) {
    return tabacus::browser::packed_buffer(size);
}

// Packed: the namespace. The core lives as long as its instance of the program does.
EMSCRIPTEN_KEEPALIVE TabCore* tab_new() {
    return std::make_unique<TabCore>(tabacus::browser::Unpacker().text()).release();
}

EMSCRIPTEN_KEEPALIVE void tab_event(TabCore& core, tabacus::browser::HostEvent event, int number) {
    tabacus::browser::dispatch(core.world(), event, number);
}
}

#include "bindings/generated/counters.hpp"
