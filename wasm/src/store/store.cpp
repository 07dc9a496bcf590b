// store.wasm: the source of the whole module. See docs/architecture.md and cmake/attach.cmake.
#include "store/store_abi.hpp"
