#include "tabacus/limit/recall.hpp"

#include <utility>

#include "limit_record.hpp"
#include "limit_store.hpp"
#include "protocol/common/concat.hpp"
#include "protocol/common/timer.hpp"

namespace tabacus {

bool Recall::may_help(const std::set<std::string>& holders) {
    if (holders.empty()) return false;
    const auto now_ms = owner_.world.clock().monotonic_ms();
    if (!short_since_ms_) short_since_ms_ = now_ms;
    if (now_ms - *short_since_ms_ < wait_ms) return true;
    for (const auto& holder : holders) silent_.insert(holder);
    return false;
}

Task<void> Recall::ask(std::set<std::string> holders) {
    auto live_tabs = co_await attempt(owner_.live_tabs());
    if (live_tabs && live_tabs.value()) {
        std::set<std::string> dead;
        for (const auto& holder : holders) {
            if (!live_tabs.value()->contains(holder)) dead.insert(holder);
        }
        if (!dead.empty()) {
            (void)co_await attempt(sweep(dead));
            if (dead.size() == holders.size()) {
                // If the rows are still there, because sweep() failed, they are ignored from here
                // on.
                silent_.merge(dead);
                co_return;
            }
        }
    }
    constexpr double recheck_ms = wait_ms / 4;
    wake_signal_ = {};
    const auto signal = wake_signal_;
    owner_.broadcast(true, 0);
    scope_.spawn(complete_after(owner_.world.clock(), recheck_ms, signal));
    co_await signal.async();
}

/// Removes the rows of dead tabs. The rights that they held stay used, because no tab can know
/// whether they were spent.
Task<void> Recall::sweep(std::set<std::string> dead) {
    const auto transaction = co_await owner_.store.begin(Access::write);
    for (const auto& tab : dead) {
        const auto key = concat({key_, "/", tab});
        const auto stored = co_await transaction->get(Store::limits, key);
        const auto row = stored ? parse_holding(stored->value) : std::nullopt;
        if (row && row->state == HoldingRow::State::open) transaction->remove(Store::limits, key);
    }
    co_await transaction->commit();
}

}  // namespace tabacus
