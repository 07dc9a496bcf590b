// The names under which JavaScript finds the core of coordination.wasm itself; those of its parts are
// in the files beside this one.
#include "exports.hpp"

// Needs Core.
#include "bindings/core_exports.hpp"

extern "C" {

EMSCRIPTEN_KEEPALIVE void coordination_close(Core* core) { core->close(); }
}
