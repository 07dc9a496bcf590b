#include "contenders.hpp"

#include <algorithm>
#include <utility>

#include "protocol/lock/lock_timers.hpp"

namespace tabacus {
namespace {

/// How many contenders of one other tab, and of all tabs, are remembered: requests that came
/// between the same two requests of this tab count as one contender. Beyond that the newest are
/// dropped.
constexpr std::ptrdiff_t contenders_of_tab_max = 1'000;
constexpr std::size_t contenders_max = 10'000;

}  // namespace

void Contenders::note(Contender contender) {
    std::erase_if(all_, [&](const Contender& other) {
        if (other.tab != contender.tab || other.after_position != contender.after_position ||
            other.after_request != contender.after_request)
            return false;
        contender.since_ms = std::min(contender.since_ms, other.since_ms);
        contender.tries |= other.tries;
        return true;
    });
    const auto of_tab = std::count_if(all_.begin(), all_.end(), [&](const Contender& other) {
        return other.tab == contender.tab;
    });
    if (of_tab < contenders_of_tab_max && all_.size() < contenders_max) {
        all_.push_back(std::move(contender));
    }
}

bool Contenders::any_tries() const {
    return std::any_of(all_.begin(), all_.end(),
                       [](const Contender& contender) { return contender.tries; });
}

bool Contenders::any_after(std::uint64_t position) const {
    return std::any_of(all_.begin(), all_.end(), [position](const Contender& contender) {
        return contender.after_position >= position;
    });
}

bool Contenders::came_between(std::uint64_t position, const AcquireRequest& request) const {
    return std::any_of(all_.begin(), all_.end(), [&](const Contender& contender) {
        return contender.after_position >= position && contender.after_request < request.id;
    });
}

bool Contenders::came_before(const AcquireRequest& request) const {
    return std::any_of(all_.begin(), all_.end(), [&](const Contender& contender) {
        return request.id > contender.after_request || request.since_ms > contender.since_ms;
    });
}

void Contenders::forget_before(std::uint64_t position) {
    std::erase_if(all_, [position](const Contender& contender) {
        return contender.after_position < position;
    });
}

bool Contenders::forget_gone(double asked_ms, double now_ms) {
    const bool none = all_.empty();
    const auto gone = std::erase_if(all_, [&](const Contender& contender) {
        const bool set_back = contender.received_ms > now_ms;
        return set_back || asked_ms - contender.received_ms >= slice_ms;
    });
    return none || gone > 0;
}

}  // namespace tabacus
