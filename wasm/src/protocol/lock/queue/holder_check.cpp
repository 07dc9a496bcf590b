#include "holder_check.hpp"

#include <algorithm>

namespace tabacus {
namespace {

/// How long a holder has to answer, and how often it is asked. A holder that stops just after an
/// answer is evicted after twice as long, which leaves time for the eviction within 10 s.
constexpr double ask_every_ms = 4'600;
/// How long the holder after an evicted one has to announce its grant: it may have been suspended
/// while it waited.
constexpr double next_within_ms = 500;
/// A timer that is later than this shows that this tab did not run. An answer may wait to be
/// received.
constexpr double late_ms = 1'000;

}  // namespace

void HolderCheck::start() {
    due_ = true;
    if (running_ || !wanted()) return;
    running_ = true;
    lock_.spawn(run());
}

void HolderCheck::end() {
    on_sign();  // so that a question of this wait does not evict a holder during the next wait
    stand_down();
    wake_.set();
}

void HolderCheck::became_visible() {
    if (!running_) return;
    due_ = true;
    wake_.set();
}

/// Whether this tab waits for the lock, and one of its requests may evict the holder.
bool HolderCheck::wanted() const {
    const auto& context = lock_.context;
    return holds_.acquiring() && lock_.has_web_locks() && context.epochs.fenced() &&
           !context.state.stopped() &&
           std::ranges::any_of(requests_.all(), [](const auto& request) {
               return !request->ended && request->options.evict_unresponsive;
           });
}

/// Whether this tab is the checker. The next in line is one, too, because it may be that no tab has
/// the checker lock. If the next in line is visible, it usually has that lock itself.
bool HolderCheck::is_checker() const { return checker_lock_ || lock_.native->first_in_line(); }

Task<void> HolderCheck::run() {
    co_await lock_.clock().sleep(ask_every_ms);
    auto wait_ms = ask_every_ms;
    while (wanted()) {
        const bool visible = !lock_.context.world.lifecycle().hidden();
        if (visible && !std::exchange(stands_by_, true)) lock_.spawn(wait_to_check(wait_over_));
        asking_ = due_ || is_checker();
        if (asking_) {
            wait_ms = co_await ask(wait_ms);
        } else {
            co_await wake_.wait();
        }
    }
    asking_ = running_ = false;
    stand_down();
}

/// Asks once, and evicts a holder that does not answer. Returns how long to wait for the next
/// answer.
Task<double> HolderCheck::ask(double wait_ms) {
    auto& clock = lock_.clock();
    lock_.listen_near();
    lock_.post_near(LockMessage::Kind::ask);
    if (asks_all_) lock_.post(LockMessage::Kind::query, {""});
    const auto signs = signs_;
    const auto asked_ms = clock.monotonic_ms();
    co_await pause(wait_ms);
    const bool hidden = lock_.context.world.lifecycle().hidden();
    if (signs_ != signs) due_ = false;
    if (signs_ != signs || (!hidden && clock.monotonic_ms() > asked_ms + wait_ms + late_ms)) {
        co_return ask_every_ms;
    }
    const auto silent = [&] { return signs_ == signs && wanted(); };
    auto evicted = co_await attempt(evictor_.evict_silent(silent));
    co_return evicted&& evicted.value() ? next_within_ms : ask_every_ms;
}

/// Sleeps. In a hidden tab, a timer that is set by another timer may run only once a minute, so the
/// timer is set after a message instead.
Task<void> HolderCheck::pause(double delay_ms) {
    auto& context = lock_.context;
    if (context.world.lifecycle().hidden())
        (void)co_await context.messages.receives_own_message(lock_.key);
    co_await lock_.clock().sleep(delay_ms);
}

/// Requests the checker lock, which one visible tab that waits has.
Task<void> HolderCheck::wait_to_check(AbortSignal over) {
    auto& context = lock_.context;
    auto lock = co_await attempt(context.world.locks().request(
        {.name = context.names.checker_lock(lock_.key), .signal = over}));
    if (!lock || over.aborted()) co_return;
    checker_lock_ = std::move(lock.value());
    wake_.set();
}

void HolderCheck::stand_down() {
    stands_by_ = false;
    checker_lock_.reset();
    std::exchange(wait_over_, {}).abort();
}

}  // namespace tabacus
