// Workers: one for each slot, which takes the slot's lock while there is something to do.
#include <algorithm>

#include "protocol/common/concat.hpp"
#include "protocol/common/names.hpp"
#include "protocol/common/record.hpp"
#include "protocol/common/stable_sort.hpp"
#include "state.hpp"

namespace tabacus {
namespace {

constexpr std::string_view full_disk = "the disk is full: the result could not be stored";

/// A job that was done, and what it gave could not be kept: it has failed. `message`: nothing that
/// JSON escapes.
JobOutcome unkept(ErrorCode code, std::string_view message) {
    auto text = concat({R"({"name":"TabacusError","message":")", message, R"(","code":")",
                        code_name(code), R"("})"});
    return {JobOutcome::Kind::failed, {std::move(text), false}, {}};
}

/// How much its settlement writes, about.
std::size_t written_by(const Job& job, const JobOutcome& outcome) {
    const bool done = outcome.kind == JobOutcome::Kind::done;
    auto size = outcome.value.text.size() + (done ? 0 : job.payload.text.size());
    for (const auto& spec : outcome.next) size += spec.payload.text.size() + 1;
    return size;
}

/// Whether a worker that loses its slot for this reason has not failed: then no job is to blame.
bool is_clean_exit(std::string_view reason) {
    return reason == "frozen" || reason == "page-hidden" || reason == "closed";
}

}  // namespace

// --- Who works ----------------------------------------------------------------------------------

bool Queue::handles(const std::string& kind) const {
    return all_kinds_ || std::find(kinds_.begin(), kinds_.end(), kind) != kinds_.end();
}

void Queue::handle(std::vector<std::string> kinds) {
    kinds_ = std::move(kinds);
    all_kinds_ = false;
    start();
}

void Queue::handle_all() {
    all_kinds_ = true;
    start();
}

void Queue::start() {
    if (closed_) return;
    if (!std::exchange(handling_, true)) stopped_ = AbortSignal();
    for (int slot = 0; slot < options_.concurrency; ++slot) {
        if (std::find(slots_.begin(), slots_.end(), slot) != slots_.end()) continue;
        slots_.push_back(slot);
        parts_.scope.spawn(work(slot));
    }
    watch();
    wake_workers();
}

void Queue::stop() {
    handling_ = false;
    const auto stopped = stopped_;
    stopped.abort();
    wake_workers();
}

/// There may be something to do.
void Queue::wake_workers() {
    ++wake_count_;
    for (const auto& signal : std::exchange(idle_workers_, {})) signal.complete({});
}

Task<void> Queue::leave() {
    stop();
    for (const auto& run : std::vector(runs_)) lose(*run, "closed");
    while (!slots_.empty()) {
        const Completer<Unit> signal;
        left_.push_back(signal);
        co_await signal.async();
    }
}

Task<void> Queue::wake_workers_at(double due_ms) {
    if (wake_at_ms_ && *wake_at_ms_ <= due_ms) co_return;
    wake_at_ms_ = due_ms;
    co_await parts_.world.clock().sleep(std::max(due_ms - parts_.world.clock().now_ms(), 1.0));
    if (wake_at_ms_ == due_ms) wake_at_ms_.reset();
    wake_workers();
}

Task<void> Queue::work(int slot) {
    std::uint64_t seen = 0;
    while (working()) {
        if (seen == wake_count_) {
            const Completer<Unit> signal;
            idle_workers_.push_back(signal);
            co_await signal.async();
            continue;
        }
        HeldSlot held_slot(slot);
        auto held = co_await attempt(take_slot(slot));
        seen = wake_count_;
        bool served = false;
        if (held) {
            held_slot.held = std::move(held.value());
            served = static_cast<bool>(co_await attempt(serve(held_slot)));
        }
        if (served || !working()) continue;
        co_await parts_.world.clock().sleep(after_failure_ms);
        seen = 0;
    }
    free_worker(slot);
    if (working()) start();
}

void Queue::free_worker(int slot) {
    std::erase(slots_, slot);
    for (const auto& signal : std::exchange(left_, {})) signal.complete({});
}

/// What is written under the lock is fenced by the slot's row (take_turn). A lease always has a
/// token: nothing else detects a lease that expired before its holder's first turn.
Task<Held> Queue::take_slot(int slot) {
    LockOptions options;
    options.signal = stopped_;
    options.label = name_;
    options.unfenced = parts_.locks.exclusion() == Exclusion::web_locks;
    return parts_.locks.acquire(concat({"queue/", name_, "/", format_decimal(slot)}),
                                std::move(options));
}

/// Gives back what a slot beyond the agreed concurrency has claimed, once its holder is gone: the
/// slot belonged to tabs that had agreed on more.
Task<void> Queue::drain_orphan(int slot) {
    auto held = co_await attempt(take_slot(slot));
    if (held) {
        HeldSlot held_slot(slot);
        held_slot.held = std::move(held.value());
        (void)co_await attempt(settle_and_claim(held_slot, false));
    }
    free_worker(slot);
}

// --- A slot, from its grant to its release ------------------------------------------------------

Task<void> Queue::serve(HeldSlot& held_slot) {
    held_slot.taken_ms = parts_.world.clock().monotonic_ms();
    held_slot.held.on_lost(
        [this, slot = held_slot.slot, worker = held_slot.worker](std::string_view reason) {
            if (const auto run = worker->run.lock()) lose(*run, reason);
            if (!is_clean_exit(reason)) return;
            parts_.scope.spawn(record_exit(slot, format_exit(worker->turn, worker->next_turn)));
        });
    while (held_slot.held.held()) {
        const auto age_ms = parts_.world.clock().monotonic_ms() - held_slot.taken_ms;
        const bool yields = held_slot.worked && held_slot.other_kinds && age_ms > slot_slice_ms;
        auto settled = co_await attempt(settle_and_claim(held_slot, working() && !yields));
        if (!settled) {
            const Error error = settled.error();
            held_slot.finished.clear();
            if (!held_slot.held.held() || error.code() == ErrorCode::fenced) co_return;
            co_await fail(error);
        }
        if (held_slot.jobs.empty()) {
            if (held_slot.again) continue;
            if (yields) wake_workers();
            co_return;
        }
        co_await run_all(held_slot);
        held_slot.worked = true;
    }
    // What was not settled is the next holder's.
    held_slot.finished.clear();
}

/// The claim on it.
void Queue::lose(Run& run, std::string_view reason) {
    if (run.ended) return;
    run.ended = run.lost = true;
    callbacks_.lost(run.number, reason);
    run.wake();
}

/// Records a clean exit in localStorage for the next holder of the slot: the page may no longer get
/// to write the row of the slot.
Task<void> Queue::record_exit(int slot, std::string exit) {
    const auto name = parts_.names.queue_exit(key_, format_decimal(slot));
    (void)co_await attempt(parts_.world.storage().set(name, exit));
}

/// Reads the exit that the previous holder recorded, and removes it.
Task<std::string> Queue::take_exit(int slot) {
    auto& storage = parts_.world.storage();
    if (!storage.available()) co_return std::string();
    const auto name = parts_.names.queue_exit(key_, format_decimal(slot));
    auto exit = co_await attempt(storage.get(name));
    if (!exit || !exit.value()) co_return std::string();
    (void)co_await attempt(storage.remove(name));
    co_return *std::move(exit.value());
}

Task<void> Queue::settle_and_claim(HeldSlot& held_slot, bool claiming) {
    std::move(held_slot.unsettled.begin(), held_slot.unsettled.end(),
              std::back_inserter(held_slot.finished));
    held_slot.unsettled.clear();
    held_slot.unfit = 0;
    std::string exit;
    if (held_slot.fresh) exit = co_await take_exit(held_slot.slot);
    for (int tried = 1;; ++tried) {
        Turn turn(identifier_of(parts_.world.random().bits()));
        const bool last = held_slot.unsettled.empty();
        auto taken = co_await attempt(take_turn(held_slot, claiming && last, exit, turn));
        if (!taken && !co_await resolve_failure(held_slot, turn, taken.error(), tried)) continue;
        held_slot.fresh = false;
        held_slot.finished.clear();
        held_slot.rows = std::move(turn.rows);
        held_slot.recorded = std::move(turn.entries);
        held_slot.strict = held_slot.again = turn.strict;
        held_slot.other_kinds = turn.other_kinds;
        if (!held_slot.current && last) {
            held_slot.jobs = std::move(turn.claimed);
            held_slot.learn();
            held_slot.edits = turn.edits;
            held_slot.gapless = turn.gapless;
        }
        paused_ = turn.paused;
        note(turn.version, turn.count);
        if (turn.next_due_ms) parts_.scope.spawn(wake_workers_at(*turn.next_due_ms));
        for (const int slot : turn.orphans) {
            if (std::find(slots_.begin(), slots_.end(), slot) != slots_.end()) continue;
            slots_.push_back(slot);
            parts_.scope.spawn(drain_orphan(slot));
        }
        publish(turn.changes);
        held_slot.wakes = wake_count_;
        if (last) co_return;
        held_slot.unfit = 0;  // settling that one may have freed space
        settle_next(held_slot);
        tried = 0;
    }
}

void Queue::settle_next(HeldSlot& held_slot) {
    held_slot.finished.push_back(std::move(held_slot.unsettled.front()));
    held_slot.unsettled.erase(held_slot.unsettled.begin());
}

/// The disk is full: what fits is settled one by one, and first what writes least. False: nothing
/// of it fits.
bool Queue::narrow(HeldSlot& held_slot) {
    auto& finished = held_slot.finished;
    if (finished.empty())
        return held_slot.fresh && !std::exchange(held_slot.return_unchanged, true);
    if (finished.size() > 1) {
        const auto size = [&](const Finished& one) {
            return written_by(held_slot.jobs[one.at], one.outcome);
        };
        sort_stably(finished, [&](const auto& a, const auto& b) { return size(a) < size(b); });
        held_slot.unsettled = std::exchange(finished, {});
        held_slot.unfit = 0;
    } else if (finished.front().outcome.kind == JobOutcome::Kind::done) {
        // What it gives and what follows it do not fit: that is how it failed.
        finished.front().outcome = unkept(ErrorCode::quota_exceeded, full_disk);
        return true;
    } else {
        held_slot.unsettled.push_back(std::move(finished.front()));
        finished.clear();
        if (++held_slot.unfit == held_slot.unsettled.size()) return false;
    }
    settle_next(held_slot);
    return true;
}

/// After a turn that failed: true if it was committed all the same, false if it shall be tried
/// again.
Task<bool> Queue::resolve_failure(HeldSlot& held_slot, Turn& turn, Error error, int& tried) {
    if (turn.refused) {
        // Both or neither: each such turn has one job less that is done.
        held_slot.finished[*turn.refused].outcome = unkept(error.code(), error.what());
        --tried;
        co_return false;
    }
    if (error.code() == ErrorCode::quota_exceeded && narrow(held_slot)) {
        --tried;
        co_return false;
    }
    const bool unknown = error.code() == ErrorCode::unknown_commit;
    const bool passing = unknown || error.code() == ErrorCode::store_failed;
    const auto run = held_slot.worker->run.lock();
    if (error.code() == ErrorCode::fenced && run) lose(*run, "fenced");
    if (unknown) keep_unknown(turn.changes);
    if (!passing || tried == queue_attempts_max || !held_slot.held.held()) co_await fail(error);
    if (!unknown) co_return false;
    // Unknown outcomes stay: another worker may have had a turn since.
    co_return co_await was_committed(held_slot, turn.id);
}

Task<bool> Queue::was_committed(HeldSlot& held_slot, std::string turn) {
    for (int tried = 1;; ++tried) {
        auto row = co_await attempt(read_slot(held_slot));
        if (row && row.value() == turn) held_slot.worker->turn = turn;
        if (row) co_return row.value() == turn;
        const Error error = row.error();
        if (error.code() != ErrorCode::store_failed || tried == queue_attempts_max) {
            co_await fail(error);
        }
    }
}

/// The transaction that wrote it.
Task<std::string> Queue::read_slot(HeldSlot& held_slot) {
    constexpr Stores scope{Store::jobs};
    const auto transaction =
        co_await parts_.transactions.begin(scope, Access::read, Durability::relaxed);
    const auto row = co_await transaction->get(Store::jobs, slot_key(key_, held_slot.slot));
    const auto slot = row ? parse_slot_row(row->value) : std::nullopt;
    co_return slot ? slot->turn : std::string();
}

}  // namespace tabacus
