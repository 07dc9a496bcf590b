// attach.wasm: the whole module. See docs/architecture.md and cmake/attach.cmake.
#define TABACUS_ATTACH
#include "attach/attach_abi.hpp"
