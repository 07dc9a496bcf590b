#include "counter_state.hpp"

#include <algorithm>

namespace tabacus {

bool CounterState::add(std::int64_t n) {
    const auto sum = value.get() + n;
    if (sum > value_max || sum < -value_max) return false;
    if (!own_row.add(n)) return false;
    if (!value.set(sum)) return true;
    flushes.count_increment();
    news.announce();
    return true;
}

[[gnu::noinline]] void CounterState::confirm(Totals totals, std::uint64_t through) {
    own_row.confirm(totals);
    flushes.confirm(through);
}

bool CounterState::revalue() { return value.set(saturating_add(row_cache.sum(), own_row.value())); }

bool CounterState::adoption_unknown() const {
    return std::any_of(unknown.begin(), unknown.end(),
                       [](const auto& commit) { return commit.adopts(); });
}

bool CounterState::pending() const {
    return reads.first_due() || value.changed() || news.pending() || own_row.dirty() ||
           flushes.awaited();
}

}  // namespace tabacus
