// What the exports of this folder are about: the one core of coordination.wasm.
#pragma once

#include <emscripten/emscripten.h>

#include "browser/core/coordination_core.hpp"

using Core = tabacus::browser::CoordinationCore;
using tabacus::browser::PromiseId;
using tabacus::browser::text_at;
using tabacus::browser::texts;
