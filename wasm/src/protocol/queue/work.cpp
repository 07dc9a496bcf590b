// Workers: one for each slot, which takes the slot's lock while there is something to do.
#include <algorithm>

#include "protocol/common/concat.hpp"
#include "protocol/common/names.hpp"
#include "protocol/common/record.hpp"
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
    stir();
}

void Queue::stop() {
    handling_ = false;
    const auto stopped = stopped_;
    stopped.abort();
    stir();
}

/// There may be something to do.
void Queue::stir() {
    ++stirs_;
    for (const auto& bell : std::exchange(bells_, {})) bell.complete({});
}

Task<void> Queue::leave() {
    stop();
    for (const auto& run : std::vector(runs_)) lose(*run, "closed");
    while (!slots_.empty()) {
        const Completer<Unit> bell;
        left_.push_back(bell);
        co_await bell.async();
    }
}

Task<void> Queue::stir_at(double due_ms) {
    if (stir_at_ms_ && *stir_at_ms_ <= due_ms) co_return;
    stir_at_ms_ = due_ms;
    co_await parts_.world.clock().sleep(std::max(due_ms - parts_.world.clock().now_ms(), 1.0));
    if (stir_at_ms_ == due_ms) stir_at_ms_.reset();
    stir();
}

Task<void> Queue::work(int slot) {
    std::uint64_t seen = 0;
    while (working()) {
        if (seen == stirs_) {
            const Completer<Unit> bell;
            bells_.push_back(bell);
            co_await bell.async();
            continue;
        }
        Claim claim(slot);
        auto held = co_await attempt(take_slot(slot));
        seen = stirs_;
        bool served = false;
        if (held) {
            claim.held = std::move(held.value());
            served = static_cast<bool>(co_await attempt(serve(claim)));
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
    for (const auto& bell : std::exchange(left_, {})) bell.complete({});
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
        Claim claim(slot);
        claim.held = std::move(held.value());
        (void)co_await attempt(settle_and_claim(claim, false));
    }
    free_worker(slot);
}

// --- A slot, from its grant to its release ------------------------------------------------------

Task<void> Queue::serve(Claim& claim) {
    claim.taken_ms = parts_.world.clock().monotonic_ms();
    claim.held.on_lost([this, slot = claim.slot, worker = claim.worker](std::string_view reason) {
        if (const auto run = worker->run.lock()) lose(*run, reason);
        if (!is_clean_exit(reason)) return;
        parts_.scope.spawn(record_exit(slot, format_exit(worker->turn, worker->next_turn)));
    });
    while (claim.held.held()) {
        const auto age_ms = parts_.world.clock().monotonic_ms() - claim.taken_ms;
        const bool yields = claim.worked && claim.other_kinds && age_ms > slot_slice_ms;
        auto settled = co_await attempt(settle_and_claim(claim, working() && !yields));
        if (!settled) {
            const Error error = settled.error();
            claim.finished.clear();
            if (!claim.held.held() || error.code() == ErrorCode::fenced) co_return;
            co_await fail(error);
        }
        if (claim.jobs.empty()) {
            if (claim.again) continue;
            if (yields) stir();
            co_return;
        }
        co_await run_all(claim);
        claim.worked = true;
    }
    // What was not settled is the next holder's.
    claim.finished.clear();
}

/// The claim on it.
void Queue::lose(Run& run, std::string_view reason) {
    if (run.ended) return;
    run.ended = run.lost = true;
    callbacks_.lost(run.number, reason);
    run.ring();
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

Task<void> Queue::settle_and_claim(Claim& claim, bool claiming) {
    std::move(claim.unsettled.begin(), claim.unsettled.end(), std::back_inserter(claim.finished));
    claim.unsettled.clear();
    claim.unfit = 0;
    std::string exit;
    if (claim.fresh) exit = co_await take_exit(claim.slot);
    for (int tried = 1;; ++tried) {
        Turn turn(identifier_of(parts_.world.random().bits()));
        const bool last = claim.unsettled.empty();
        auto taken = co_await attempt(take_turn(claim, claiming && last, exit, turn));
        if (!taken && !co_await overcome(claim, turn, taken.error(), tried)) continue;
        claim.fresh = false;
        claim.finished.clear();
        claim.rows = std::move(turn.rows);
        claim.recorded = std::move(turn.entries);
        claim.strict = claim.again = turn.strict;
        claim.other_kinds = turn.other_kinds;
        if (!claim.current && last) {
            claim.jobs = std::move(turn.claimed);
            claim.learn();
            claim.edits = turn.edits;
            claim.gapless = turn.gapless;
        }
        paused_ = turn.paused;
        note(turn.version, turn.count);
        if (turn.next_due_ms) parts_.scope.spawn(stir_at(*turn.next_due_ms));
        for (const int slot : turn.orphans) {
            if (std::find(slots_.begin(), slots_.end(), slot) != slots_.end()) continue;
            slots_.push_back(slot);
            parts_.scope.spawn(drain_orphan(slot));
        }
        publish(turn.changes);
        claim.stirs = stirs_;
        if (last) co_return;
        claim.unfit = 0;  // settling that one may have freed space
        settle_next(claim);
        tried = 0;
    }
}

void Queue::settle_next(Claim& claim) {
    claim.finished.push_back(std::move(claim.unsettled.front()));
    claim.unsettled.erase(claim.unsettled.begin());
}

/// The disk is full: what fits is settled one by one, and first what writes least. False: nothing
/// of it fits.
bool Queue::narrow(Claim& claim) {
    auto& finished = claim.finished;
    if (finished.empty()) return claim.fresh && !std::exchange(claim.sparing, true);
    if (finished.size() > 1) {
        const auto size = [&](const Finished& one) {
            return written_by(claim.jobs[one.at], one.outcome);
        };
        std::stable_sort(finished.begin(), finished.end(),
                         [&](const auto& a, const auto& b) { return size(a) < size(b); });
        claim.unsettled = std::exchange(finished, {});
        claim.unfit = 0;
    } else if (finished.front().outcome.kind == JobOutcome::Kind::done) {
        // What it gives and what follows it do not fit: that is how it failed.
        finished.front().outcome = unkept(ErrorCode::quota_exceeded, full_disk);
        return true;
    } else {
        claim.unsettled.push_back(std::move(finished.front()));
        finished.clear();
        if (++claim.unfit == claim.unsettled.size()) return false;
    }
    settle_next(claim);
    return true;
}

/// After a turn that failed: true if it was committed all the same, false if it shall be tried
/// again.
Task<bool> Queue::overcome(Claim& claim, Turn& turn, Error error, int& tried) {
    if (turn.refused) {
        // Both or neither: each such turn has one job less that is done.
        claim.finished[*turn.refused].outcome = unkept(error.code(), error.what());
        --tried;
        co_return false;
    }
    if (error.code() == ErrorCode::quota_exceeded && narrow(claim)) {
        --tried;
        co_return false;
    }
    const bool unknown = error.code() == ErrorCode::unknown_commit;
    const bool passing = unknown || error.code() == ErrorCode::store_failed;
    const auto run = claim.worker->run.lock();
    if (error.code() == ErrorCode::fenced && run) lose(*run, "fenced");
    if (unknown) keep_unknown(turn.changes);
    if (!passing || tried == queue_attempts_max || !claim.held.held()) co_await fail(error);
    if (!unknown) co_return false;
    // Unknown outcomes stay: another worker may have had a turn since.
    co_return co_await was_committed(claim, turn.id);
}

Task<bool> Queue::was_committed(Claim& claim, std::string turn) {
    for (int tried = 1;; ++tried) {
        auto row = co_await attempt(read_slot(claim));
        if (row && row.value() == turn) claim.worker->turn = turn;
        if (row) co_return row.value() == turn;
        const Error error = row.error();
        if (error.code() != ErrorCode::store_failed || tried == queue_attempts_max) {
            co_await fail(error);
        }
    }
}

/// The transaction that wrote it.
Task<std::string> Queue::read_slot(Claim& claim) {
    const std::vector scope{Store::jobs};
    const auto transaction =
        co_await parts_.transactions.begin(scope, Access::read, Durability::relaxed);
    const auto row = co_await transaction->get(Store::jobs, slot_key(key_, claim.slot));
    const auto slot = row ? parse_slot_row(row->value) : std::nullopt;
    co_return slot ? slot->turn : std::string();
}

}  // namespace tabacus
