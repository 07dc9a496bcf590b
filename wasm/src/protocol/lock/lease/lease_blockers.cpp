#include "lease_blockers.hpp"

#include <utility>

#include "protocol/common/record.hpp"

namespace tabacus {
namespace {

constexpr double step_visible_ms = 500;
/// Timers of a hidden tab go off once a second.
constexpr double step_hidden_ms = 1'000;
/// Beyond this many, blockers that are not found again are forgotten.
constexpr std::size_t known_max = 64;

}  // namespace

void LeaseBlockers::remember(const Blockers& blockers) {
    if (known_.size() > known_max) {
        std::erase_if(known_, [&](const auto& known) { return !blockers.contains(known.first); });
    }
    for (const auto& [state, found] : blockers) {
        const auto [known, added] = known_.try_emplace(state, found);
        // The first step has begun already.
        if (added) known->second.left_ms = found.lease_ms + step_ms();
    }
    if (!blockers.empty() && !std::exchange(aging_, true)) context_.scope.spawn(age());
}

double LeaseBlockers::step_ms() const {
    return context_.world.lifecycle().hidden() ? step_hidden_ms : step_visible_ms;
}

Task<void> LeaseBlockers::age() {
    while (true) {
        bool young = false;
        bool late = false;
        for (const auto& [state, blocker] : known_) {
            young |= !blocker.stale();
            late |= !blocker.stale() && blocker.must_answer();
        }
        if (!young || context_.state.closed()) break;
        if (late) context_.scope.spawn(ask());
        const auto passed_ms = step_ms();
        co_await context_.world.clock().sleep(passed_ms);
        bool ripe = false;
        for (auto& [state, blocker] : known_) {
            const bool was_stale = blocker.stale();
            if (receives_ && blocker.must_answer()) blocker.silent_ms += passed_ms;
            blocker.left_ms -= passed_ms;
            ripe |= !was_stale && blocker.stale();
        }
        if (ripe) wake_.complete({});
    }
    aging_ = false;
}

/// Asks all tabs for their requests. Version 0.1.0 answers, too.
Task<void> LeaseBlockers::ask() {
    receives_ = false;
    context_.messages.post(LockMessage::Kind::query, key_,
                           {identifier_of(context_.world.random().bits())});
    receives_ = co_await context_.messages.receives_own_message(key_);
}

void LeaseBlockers::on_report(const LockMessage& message) {
    const auto& detail = message.detail;
    if (detail.size() < 2) return;  // the tab neither holds the lock nor waits
    const bool holds = detail[1] != "w";
    for (auto& [state, blocker] : known_) {
        const bool lives = blocker.tab == message.tab || (holds && blocker.holds);
        if (!lives || blocker.stale()) continue;
        blocker.left_ms = blocker.lease_ms;
        blocker.silent_ms = 0;
    }
}

bool LeaseBlockers::stale(const std::string& state) const {
    const auto blocker = known_.find(state);
    return blocker != known_.end() && blocker->second.stale();
}

}  // namespace tabacus
