#include "older_tabs.hpp"

#include <utility>

#include "record.hpp"
#include "version_guard.hpp"

namespace tabacus {
namespace {

/// A tab of this version that takes over the slot of a dead tab of version 0.1.0 acquires the
/// slot's lock before it replaces the claim. Until it has done so, which takes milliseconds, it
/// looks like an open tab of version 0.1.0.
constexpr double look_again_ms = 1'000;

Task<void> look(World& world, const Names& names, NoticeHandler on_notice) {
    constexpr Stores scope{Store::claims};
    auto transaction = co_await world.database().begin(scope, Access::read, Durability::relaxed);
    const auto claims = co_await transaction->list(Store::claims, "");
    transaction.reset();
    for (const auto& claim : claims) {
        const auto holder = parse_holder(claim.key);
        if (!holder || holder->epoch >= epochs_per_adoption) continue;
        // This looks at the lock of the slot twice (`again`: the second time), look_again_ms apart.
        // If the lock is free at either look, no tab holds the slot, and the next claim follows.
        for (bool again = false;; again = true) {
            // The request is shared, so that several tabs may look at once.
            const auto free = co_await world.locks().request({.name = names.slot_lock(holder->slot),
                                                              .mode = LockMode::shared,
                                                              .if_available = true});
            if (free) break;
            if (!again) {
                co_await world.clock().sleep(look_again_ms);
                continue;
            }
            // The lock was held at both looks. If the slot still has this claim, the holder is of
            // version 0.1.0. Otherwise a tab of this version has replaced the claim meanwhile.
            transaction = co_await world.database().begin(scope, Access::read, Durability::relaxed);
            if (co_await transaction->holder(subject_of_slot(holder->slot)) == claim.key) {
                on_notice(
                    {Notice::Kind::warning, "older-version", older_version_is_open, "", "", 0});
                co_return;
            }
            transaction.reset();
            break;
        }
    }
}

}  // namespace

Task<void> report_older_tabs(World& world, const Names& names, NoticeHandler on_notice) {
    if (!world.locks().available() || !world.database().available()) co_return;
    // A failure is not reported here: the next call that needs the store reports it.
    static_cast<void>(co_await attempt(look(world, names, std::move(on_notice))));
}

}  // namespace tabacus
