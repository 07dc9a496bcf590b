#include "counter_state.hpp"

#include <algorithm>

namespace tabacus {

bool CounterState::add(std::int64_t n) {
    const auto sum = value + n;
    if (sum > value_max || sum < -value_max) return false;
    if (!own_row.add(n)) return false;
    value = sum;
    return true;
}

[[gnu::noinline]] void CounterState::confirm(Totals totals, std::uint64_t through) {
    own_row.confirm(totals);
    flushes.confirm(through);
}

bool CounterState::adoption_unknown() const {
    return std::any_of(unknown.begin(), unknown.end(),
                       [](const auto& commit) { return commit.adopts(); });
}

}  // namespace tabacus
