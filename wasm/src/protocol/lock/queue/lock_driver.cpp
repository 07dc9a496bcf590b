#include "lock_driver.hpp"

#include <algorithm>
#include <utility>

#include "protocol/lock/lock_timers.hpp"

namespace tabacus {
namespace {

/// How many tokens a waiting tab reserves. A tab that has used them up releases the lock even in
/// its barging window. One turn as the holder takes longer than this many microseconds, so that
/// tokens are reserved more slowly than microseconds pass (epochs.hpp).
constexpr std::int64_t tokens_in_line = 256;
/// A tab that grants again and again reserves tokens in growing blocks, one transaction each. Using
/// up the largest block takes longer than as many microseconds, for the same reason.
constexpr std::int64_t block_growth = 16;
constexpr std::int64_t block_max = 4096;

std::int64_t tokens_of(const LockOptions& asked) { return asked.unfenced ? 0 : tokens_in_line; }

std::int64_t max_hold_of(const LockOptions& asked) {
    return static_cast<std::int64_t>(asked.max_hold_ms.value_or(0));
}

}  // namespace

// --- The end of requests ------------------------------------------------------------------------

void LockDriver::settle(const AcquireRequestPtr& request, std::optional<Error> failure) {
    if (request->ended) return;
    request->ended = true;
    request->failure = std::move(failure);
    order_.release_position(*request);
    request->decided.complete({});
}

void LockDriver::refuse(const AcquireRequestPtr& request, const Error& error) {
    if (request->ended) return;
    const bool takes = holds_.acquiring() && requests_.front() == request;
    request->ended = true;  // before anything else can grant it
    request->failure = error;
    order_.release_position(*request);
    if (takes && !takes_over()) lock_.native->cancel();
    lock_.wake.set();
    request->decided.complete({});
}

/// Whether the tab's next request goes on with the native request of a request that ended. It does
/// not if it has a position of its own, which is behind another tab's, nor if it asked with
/// `ifAvailable`.
bool LockDriver::takes_over() {
    const auto next = requests_.front();
    if (!next || next->options.mode != acquiring_mode_ || order_.position_of(*next) ||
        order_.may_be_behind_others(*next) || contenders_.came_between(order_.current(), *next)) {
        return false;
    }
    const auto& asked = next->options;
    const bool waited = next->expired && *asked.timeout_ms > 0;  // and so may the next
    return !asked.if_available || waited;
}

/// Refuses the `ifAvailable` requests that were not granted beside the holders of this tab.
void LockDriver::refuse_unavailable() {
    if (!requests_.has_tries()) return;
    const auto requests = requests_.all();
    for (const auto& request : requests) {
        if (request->options.if_available) settle(request, std::nullopt);
    }
}

// --- The coroutine ------------------------------------------------------------------------------

void LockDriver::start() {
    if (running_) {
        lock_.wake.set();
    } else if (!lock_.context.state.stopped()) {
        lock_.spawn(run());
    }
}

Task<void> LockDriver::run() {
    running_ = true;
    while (requests_.front() && !lock_.context.state.stopped()) {
        co_await obtain();
        if (holds_.current()) co_await serve(holds_.current());
    }
    running_ = false;
}

Task<void> LockDriver::obtain() {
    const auto first = requests_.front();
    const auto& asked = first->options;
    holds_.set_acquiring(true);
    acquiring_mode_ = asked.mode;
    const auto position = order_.pop_position(*first);
    // A tab that would not wait, and one in a lease's line, is announced only once.
    const bool once = asked.if_available || !lock_.has_web_locks();
    if (once) {
        announce(first);
    } else if (!position.entry) {
        order_.announce(*first, std::nullopt);
    }
    // A later request of this tab whose position this is takes a new one, and so do those behind.
    if (position.owner != first->id && contenders_.empty()) order_.release_positions();
    order_.take_positions_behind(*first);
    const NativeRequest native{.mode = asked.mode,
                               .if_available = asked.if_available,
                               .claim = {.label = asked.label,
                                         .max_hold_ms = max_hold_of(asked),
                                         .tokens = lock_.has_web_locks() ? tokens_of(asked) : 1},
                               .entry = position.entry,
                               .on_next = [this, first, once] {
                                   if (!once) announce(first);
                                   evictor_.check_again();
                                   check_.wake();
                               }};
    if (!asked.if_available) {
        evictor_.start();
        check_.start();
    }
    auto outcome = co_await attempt(asked.if_available ? availability_.acquire(native)
                                                       : lock_.native->acquire(native));
    const auto taken = outcome ? std::move(outcome.value()) : nullptr;
    end_acquiring();
    if (taken && (taken->lost || lock_.context.state.stopped())) {
        lock_.native->release(taken);
        co_return;
    }
    if (taken) {
        contenders_.forget_before(order_.current());
        holds_.adopt(taken);
        // All that wait have to know of the maxHold before the holder begins, because it may hang.
        if (max_hold_of(asked) > 0) lock_.post(LockMessage::Kind::taken);
    } else if (!outcome) {
        // A request that gives up its fence goes on.
        if (!give_up_fence(first->options, outcome.error())) settle(first, outcome.error());
    } else if (asked.if_available) {
        settle(first, std::nullopt);
    }
}

void LockDriver::end_acquiring() {
    holds_.set_acquiring(false);
    is_next_ = false;
    check_.end();
    evictor_.check_again();
    availability_.forget_answers();
}

/// Makes a request an unfenced one, if it allows that and the database has failed. Returns whether
/// it did.
bool LockDriver::give_up_fence(LockOptions& options, const Error& error) const {
    const auto code = error.code();
    const bool of_database = code == ErrorCode::quota_exceeded || code == ErrorCode::store_failed ||
                             code == ErrorCode::unknown_commit;
    if (!options.fence_optional || options.unfenced || !of_database || !lock_.has_web_locks()) {
        return false;
    }
    options.unfenced = true;
    lock_.context.on_notice({Notice::Kind::warning, "unfenced-lock",
                             std::string("A lock is granted without a fence: ") + error.what(),
                             lock_.name, "", 0});
    return true;
}

/// Announces that this tab is the next to hold the lock, or tries it. Readers may be next in many
/// tabs at once, and do not listen to each other.
void LockDriver::announce(const AcquireRequestPtr& first) {
    const auto& asked = first->options;
    const bool wants_answer = asked.if_available || asked.timeout_ms;
    is_next_ = asked.if_available || asked.mode == LockMode::exclusive;
    // The request for which the native lock was requested may have ended; another one takes over.
    const auto front = requests_.front();
    order_.announce(front ? *front : *first,
                    wants_answer ? order_.current() : FairOrder::no_answer);
}

Task<void> LockDriver::serve(std::shared_ptr<NativeHold> hold) {
    // If the request has ended meanwhile, no holder is about to begin that would release the entry
    // lock.
    if (!hand_over_.admissible(*hold)) hold->entry_lock.reset();
    while (!hold->lost) {
        if (const auto request = hand_over_.admissible(*hold)) {
            const bool spent = hold->mode == LockMode::exclusive && !request->options.unfenced &&
                               hold->tokens.empty();
            if (!spent) {
                grant(request, hold);
            } else if (contenders_.came_before(*request) || !co_await reserve_tokens(hold)) {
                break;
            }
            continue;
        }
        if (hold->active.empty()) {
            if (hand_over_.must_release(*hold)) {
                if (co_await hand_over_.may_go_on(hold)) continue;
                break;
            }
            hand_over_.start_grace_timer(hold);
        } else if (hand_over_.waits_to_share(*hold) && co_await order_.forget_contenders()) {
            if (contenders_.empty()) hold->taken_ms = lock_.clock().now_ms();
            continue;
        } else {
            refuse_unavailable();
            if (hand_over_.waits_to_share(*hold)) hand_over_.start_slice_timer();
        }
        co_await lock_.wake.wait();
    }
    holds_.end(hold);
}

void LockDriver::grant(const AcquireRequestPtr& request, const std::shared_ptr<NativeHold>& hold) {
    request->grant = holds_.grant(request->options, hold);
    settle(request, std::nullopt);
    if (hold->uses == 1) {
        lock_.spawn(announce_grant(hold));
    } else if (!contenders_.empty() && request->options.max_hold_ms) {
        // Without this message, the tabs that wait would see no movement and take this tab for a
        // hung one. They wait for longer than slice_ms in any case.
        const auto now_ms = lock_.clock().monotonic_ms();
        if (now_ms < hold->announced_ms + slice_ms) return;
        hold->announced_ms = now_ms;
        lock_.post(LockMessage::Kind::taken);
    }
}

Task<bool> LockDriver::reserve_tokens(std::shared_ptr<NativeHold> hold) {
    // A hold that was taken out of turn reserves no tokens: a waiting tab may have reserved some.
    if (hold->tokens.grant.empty()) co_return false;
    hold->block = std::min(hold->block * block_growth, block_max);
    const auto extended =
        co_await attempt(lock_.context.epochs.extend(lock_.key, hold->tokens, hold->block));
    if (extended) co_return true;
    // Any other failure is reported when the lock is acquired again.
    if (extended.error().code() == ErrorCode::fenced) holds_.lose(hold, "fenced");
    co_return false;
}

/// Announces the grant some time after the holder has begun: only tabs that watch the lock need the
/// message, and they do not need it if the grant is over by then. A tab that holds the lock for
/// longer also writes itself into the lock's row, since it may hang before its first commit.
Task<void> LockDriver::announce_grant(std::shared_ptr<NativeHold> hold) {
    const auto over = [&] { return hold->lost || lock_.context.state.suspended(); };
    auto& clock = lock_.clock();
    auto& epochs = lock_.context.epochs;
    co_await clock.end_of_turn();
    hold->entry_lock.reset();
    co_await releases_under_way(clock);
    if (over()) co_return;
    lock_.post_near(LockMessage::Kind::taken);
    const bool fenced =
        hold->mode == LockMode::exclusive && epochs.fenced() && !hold->tokens.grant.empty();
    if (!fenced || hold->tokens.recorded) co_return;
    co_await clock.sleep(grace_period_ms);
    if (over() || hold->tokens.recorded) co_return;
    const auto recorded = co_await attempt(epochs.record(lock_.key, hold->tokens));
    if (!recorded && recorded.error().code() == ErrorCode::fenced) holds_.lose(hold, "fenced");
}

// --- Requests that steal ------------------------------------------------------------------------

Task<void> LockDriver::run_steal(AcquireRequestPtr request) {
    const auto taken = co_await attempt(acquire_by_stealing(request));
    std::optional<Error> failure;
    if (!taken) {
        failure = taken.error();
    } else if (!request->grant) {
        failure = Error(ErrorCode::lock_lost, "the lock was stolen again before it was granted");
    }
    settle(request, std::move(failure));
}

Task<void> LockDriver::acquire_by_stealing(AcquireRequestPtr request) {
    const auto& asked = request->options;
    const auto& context = lock_.context;
    const NativeRequest native{.steal = true,
                               .claim = {.label = asked.label, .max_hold_ms = max_hold_of(asked)}};
    const auto previous_holds = holds_.all();
    const auto hold = co_await lock_.native->acquire(native);
    // The previous holders in this tab are notified at once, whether or not the native lock does
    // so.
    for (const auto& previous : previous_holds) holds_.lose(previous, "stolen");
    // A hold that was stolen before it was adopted is not reported as lost later: it ends here.
    if (request->ended || context.state.stopped() || hold->lost) {
        lock_.native->release(hold);
        if (context.state.closed()) co_await fail(context.state.end_error());
        if (context.state.stopped()) {
            co_await fail(ErrorCode::lock_lost,
                          "the page was frozen or hidden, or site data was cleared: try again");
        }
        co_return;
    }
    holds_.adopt_stolen(hold);
    if (max_hold_of(asked) > 0) lock_.post(LockMessage::Kind::taken);
    if (!hold->tokens.empty()) request->grant = holds_.grant(asked, hold);
    lock_.spawn(announce_grant(hold));
}

}  // namespace tabacus
