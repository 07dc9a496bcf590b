// The exports of a tab's program for the bridge and for counters, as bridge/exports.js describes
// them. They are plain exports over numbers and addresses, because embind would add 9 KB
// (browser/bridge.hpp).
#include <emscripten/emscripten.h>

#include <memory>

#include "browser/core/tab_core.hpp"
#include "browser/generated/host.hpp"

using tabacus::browser::TabCore;

extern "C" {

EMSCRIPTEN_KEEPALIVE char* tab_buffer(std::size_t size) {
    return tabacus::browser::packed_buffer(size);
}

// Makes the tab's core. The packed argument is the namespace. The core lives as long as its
// instance of the program.
EMSCRIPTEN_KEEPALIVE TabCore* tab_new() {
    return std::make_unique<TabCore>(tabacus::browser::Unpacker().text()).release();
}

EMSCRIPTEN_KEEPALIVE void tab_event(TabCore& core, tabacus::browser::HostEvent event, int number) {
    tabacus::browser::dispatch(core.world(), event, number);
}
}

#include "bindings/generated/counters.hpp"
