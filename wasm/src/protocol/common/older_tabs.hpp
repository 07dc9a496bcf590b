// Older tabs: whether a tab of version 0.1.0 is open.
//
// Neither the locks that such a tab holds nor most of its messages show its version. The epoch of its
// slot does (epochs_per_adoption). So a tab of version 0.1.0 is open if a claim has such an epoch, and
// the lock of the claim's slot is held at two looks a second apart.
//
// This does not notice every such tab. One that continued a slot of this version has an epoch of this
// version, one that has not counted has no slot, and one that rests (replica_slot.hpp) holds no lock.
#pragma once

#include "names.hpp"
#include "tabacus/common/counter.hpp"
#include "tabacus/common/task.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

/// Emits the warning `older-version` if it notices that a tab of version 0.1.0 is open. Notices none
/// unless there are Web Locks and IndexedDB. `world` and `names` must outlive the task.
Task<void> report_older_tabs(World& world, const Names& names, NoticeHandler on_notice);

}  // namespace tabacus
