// What the program of the counters exports, as bridge/exports.js describes it.
#include "browser/core/tab_core.hpp"

using Core = tabacus::browser::TabCore;
#include "bindings/core_exports.hpp"
#include "bindings/generated/counters.hpp"
