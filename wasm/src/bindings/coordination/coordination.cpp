// What the program of locks, queues, limits and strategies exports, as bridge/exports.js describes it.
#include "browser/core/coordination_core.hpp"

using Core = tabacus::browser::CoordinationCore;
#include "bindings/core_exports.hpp"
#include "bindings/generated/coordination.hpp"
