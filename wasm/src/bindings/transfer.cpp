// The exports of a tab's program for all counters at once and for the states of counters, as
// bridge/exports.js describes them.
#include "browser/core/transfer_core.hpp"

#include <memory>

namespace tabacus::browser {
namespace {

/// Makes the core, which lives as long as the program.
TransferCore* make_transfer(TabCore& tab) { return std::make_unique<TransferCore>(tab).release(); }

}  // namespace
}  // namespace tabacus::browser

#include "bindings/generated/transfer.hpp"
