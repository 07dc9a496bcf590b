// What js/core/bridge.js calls in every module that has a core: plain exports over numbers and
// addresses. embind, which they replace, weighs 9 KB more (browser/bridge.hpp).
//
// The bindings of a module name the type of its core, and then include this once:
//
//     using Core = tabacus::browser::TabCore;
//     #include "bindings/core_exports.hpp"
#pragma once

#include <emscripten/emscripten.h>

#include <memory>

#include "browser/bridge.hpp"
#include "browser/core/counter_core.hpp"

using tabacus::browser::PromiseId;
using tabacus::browser::text_at;
using tabacus::browser::texts;

extern "C" {

EMSCRIPTEN_KEEPALIVE char* tab_buffer(std::size_t size) {
    return tabacus::browser::text_buffer(size);
}

// Packed text: the namespace. `program`: see Numbers. The core lives as long as its instance of the
// module does.
EMSCRIPTEN_KEEPALIVE Core* tab_new(int program) {
    return std::make_unique<Core>(text_at(0), program).release();
}

EMSCRIPTEN_KEEPALIVE void tab_event(Core* core, tabacus::browser::HostEvent event, int number) {
    core->world().dispatch(event, number, texts());
}
}
