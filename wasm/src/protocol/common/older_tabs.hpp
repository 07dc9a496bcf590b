// Older tabs: whether a tab of version 0.1.0 is open.
//
// Neither the locks that such a tab holds nor most of its messages show its version. The epoch of
// its slot does (epochs_in_adoption in record.hpp). So a tab of version 0.1.0 is open if a claim
// has an epoch of that version, and the lock of the claim's slot is held.
#pragma once

#include "names.hpp"
#include "tabacus/common/counter.hpp"
#include "tabacus/common/task.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

/// Emits the warning `older-version` if a tab of version 0.1.0 is open that has used a counter.
/// Finds nothing unless there are Web Locks and IndexedDB. `world` and `names` must outlive the
/// task.
Task<void> report_older_tabs(World& world, const Names& names, NoticeHandler on_notice);

}  // namespace tabacus
