// The exports of a tab's program for strategies, locks, queues and limits, as bridge/exports.js
// describes them.
#include "browser/core/coordination_core.hpp"

#include <memory>

namespace tabacus::browser {
namespace {

/// Makes the core, which lives as long as the program.
CoordinationCore* make_coordination(TabCore& tab) {
    return std::make_unique<CoordinationCore>(tab).release();
}

}  // namespace
}  // namespace tabacus::browser

#include "bindings/generated/coordination.hpp"
