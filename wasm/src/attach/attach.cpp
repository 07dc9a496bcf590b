// attach.wasm: the source of the whole module. See docs/architecture.md and cmake/attach.cmake.
#include "attach/attach_abi.hpp"
