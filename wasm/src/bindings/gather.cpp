// The exports of a tab's program for counters to which threads add, as bridge/exports.js describes
// them.
#include "browser/core/gatherer_core.hpp"

#include <memory>

namespace tabacus::browser {
namespace {

GathererCore* make_gatherer(ReplicatedCore& counter, int cells) {
    return std::make_unique<GathererCore>(counter, cells).release();
}

/// Requires that the gatherer is one that make_gatherer() made, and has not ended.
void end_gatherer(GathererCore& gatherer) { const std::unique_ptr<GathererCore> owned(&gatherer); }

}  // namespace
}  // namespace tabacus::browser

#include "bindings/generated/gather.hpp"
