// What a tab's program exports for strategies, locks, queues and limits, as bridge/exports.js describes it.
#include "browser/core/coordination_core.hpp"

#include <memory>

namespace tabacus::browser {
namespace {

/// It lives as long as the program does.
CoordinationCore* make_coordination(TabCore& tab) {
    return std::make_unique<CoordinationCore>(tab).release();
}

}  // namespace
}  // namespace tabacus::browser

#include "bindings/generated/coordination.hpp"
