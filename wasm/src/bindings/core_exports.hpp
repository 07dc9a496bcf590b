// What js/core/bridge.js calls in every program that has a core: plain exports over numbers and
// addresses. embind, which they replace, weighs 9 KB more (browser/bridge.hpp).
//
// The bindings of a program name the type of its core, and then include this and the generated exports once:
//
//     using Core = tabacus::browser::TabCore;
//     #include "bindings/core_exports.hpp"
//     #include "bindings/generated/counters.hpp"
#pragma once

#include <emscripten/emscripten.h>

#include <memory>

#include "browser/generated/build.hpp"
#include "browser/generated/host.hpp"

extern "C" {

EMSCRIPTEN_KEEPALIVE double tab_build() { return tabacus::browser::build_number; }

EMSCRIPTEN_KEEPALIVE char* tab_buffer(std::size_t size) {
    return tabacus::browser::packed_buffer(size);
}

// Packed: the namespace. `program`: see OperationNumbers. The core lives as long as its instance of the
// module does.
EMSCRIPTEN_KEEPALIVE Core* tab_new(int program) {
    return std::make_unique<Core>(tabacus::browser::Unpacker().text(), program).release();
}

EMSCRIPTEN_KEEPALIVE void tab_event(Core* core, tabacus::browser::HostEvent event, int number) {
    tabacus::browser::dispatch(core->world(), event, number);
}
}
