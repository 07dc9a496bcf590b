// Workers: one for each slot, which takes the slot's lock while there is something to do.
#include <algorithm>
#include <climits>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "concat.hpp"
#include "names.hpp"
#include "queue_state.hpp"
#include "record.hpp"

namespace tabacus {
namespace {

/// Claims ahead grow so while jobs are short.
constexpr std::size_t ahead_growth = 4;
/// How long an outcome is kept for a tab that does not fetch it, and how many a sweep looks at.
constexpr std::int64_t outcome_kept_ms = 3'600'000;
constexpr std::uint32_t swept_max = 64;

constexpr std::string_view full_disk = "the disk is full: what the job gave could not be kept";

std::string slot_key(const std::string& queue, int slot) {
    return concat({queue, "/s/", format_decimal(slot)});
}

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

void add_running(QueueChanges& changes, const Job& job) {
    changes.add(QueueEvent::Kind::running,
                {job.id, job.key, job.kind, format_decimal(job.attempts + 1)});
}

void end_running(QueueChanges& changes, int slot) {
    changes.events.back().fields.push_back(format_decimal(slot));
}

/// What follows the jobs of a claim that have ended.
struct Followers {
    bool keyed = false;
    std::optional<int> priority;  // the highest of those without a key, or a time to wait for

    void add(const std::vector<JobSpec>& next) {
        for (const auto& spec : next) {
            keyed = keyed || !spec.key.empty();
            if (spec.delay_ms == 0) priority = std::max(spec.priority, priority.value_or(INT_MIN));
        }
    }
    /// Whether one comes, or may come, before `ahead`. One that has a key may be there already, and
    /// then moves to the front.
    [[nodiscard]] bool overtake(const Job& ahead, bool lifo) const {
        if (keyed) return true;
        return priority && (lifo ? *priority >= ahead.priority : *priority > ahead.priority);
    }
};

/// What is claimed alone: what may well have ended its workers; what must not be begun twice; and
/// values, which somebody must take.
bool alone(const Job& job) {
    return job.lost_workers > 1 || job.at_most_once || job.payload.by_value;
}

/// Whether what a worker has left (Queue::leave_word) speaks of this turn.
bool names_turn(std::string_view word, std::string_view turn) {
    const auto end = word.find(';');
    return !turn.empty() && end != std::string_view::npos &&
           (word.substr(0, end) == turn || word.substr(end + 1) == turn);
}

/// Why a worker loses its slot that has not failed: nothing that it ran is to blame.
bool in_good_order(std::string_view reason) {
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

/// What is written under it is fenced by the slot's row (take_turn). A lease has a token in any
/// case: one that ran out before its holder's first turn is told by nothing else.
Task<Held> Queue::take_slot(int slot) {
    LockOptions options;
    options.signal = stopped_;
    options.label = name_;
    options.unfenced = parts_.locks.exclusion() == Exclusion::web_locks;
    return parts_.locks.acquire(concat({"queue/", name_, "/", format_decimal(slot)}),
                                std::move(options));
}

/// A slot of tabs that had agreed on more: what it has claimed comes back when its holder is gone.
Task<void> Queue::rescue(int slot) {
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
        if (!in_good_order(reason)) return;
        parts_.scope.spawn(leave_word(slot, concat({worker->turn, ";", worker->next_turn})));
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

/// For who has the slot next. The page may not get to its row any more.
Task<void> Queue::leave_word(int slot, std::string turns) {
    const auto name = parts_.names.queue_word(key_, format_decimal(slot));
    (void)co_await attempt(parts_.world.storage().set(name, turns));
}

/// It is not needed again.
Task<std::string> Queue::read_word(int slot) {
    auto& storage = parts_.world.storage();
    if (!storage.available()) co_return std::string();
    const auto name = parts_.names.queue_word(key_, format_decimal(slot));
    auto word = co_await attempt(storage.get(name));
    if (!word || !word.value()) co_return std::string();
    (void)co_await attempt(storage.remove(name));
    co_return *std::move(word.value());
}

Task<void> Queue::settle_and_claim(Claim& claim, bool claiming) {
    std::move(claim.unsettled.begin(), claim.unsettled.end(), std::back_inserter(claim.finished));
    claim.unsettled.clear();
    claim.unfit = 0;
    std::string word;
    if (claim.fresh) word = co_await read_word(claim.slot);
    for (int tried = 1;; ++tried) {
        Turn turn(identifier_of(parts_.world.random().bits()));
        const bool last = claim.unsettled.empty();
        auto taken = co_await attempt(take_turn(claim, claiming && last, word, turn));
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
            parts_.scope.spawn(rescue(slot));
        }
        tell(turn.changes);
        claim.stirs = stirs_;
        if (last) co_return;
        claim.unfit = 0;  // that one has made room, perhaps
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
    if (unknown) doubt(turn.changes);
    if (!passing || tried == queue_attempts_max || !claim.held.held()) co_await fail(error);
    if (!unknown) co_return false;
    // The doubts stay: somebody else may have had a turn since.
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

/// One transaction, fenced by the slot's row: each finds it as the one before has left it. Who had
/// the slot before, and does not know that somebody else has it, settles and claims nothing.
Task<void> Queue::take_turn(Claim& claim, bool claiming, std::string word, Turn& turn) {
    auto& worker = *claim.worker;
    worker.next_turn = turn.id;
    const auto durability = claim.strict ? Durability::strict : options_.durability;
    std::optional<FencedTransaction> fenced;
    std::unique_ptr<Transaction> unfenced;
    if (claim.held.token()) {
        fenced.emplace(co_await claim.held.begin({Store::jobs, Store::aside}, durability));
    } else {
        unfenced = co_await parts_.transactions.begin({Store::jobs, Store::data, Store::aside},
                                                      Access::write, durability);
    }
    auto& transaction = fenced ? fenced->transaction() : *unfenced;
    QueueRows rows{transaction, parts_.context, key_, options_, turn.changes};
    // All at once: answers come faster than one after another.
    auto slots_read = transaction.list(Store::jobs, rows.key("s/"));
    std::optional<Async<std::vector<Row>>> outcomes_read;
    if (claim.fresh && claim.slot == 0) {
        outcomes_read = transaction.list(Store::jobs, rows.key("o/"), swept_max);
    }
    co_await rows.read_head();
    const auto slots = co_await std::move(slots_read);
    const auto own = own_row(rows, claim, slots);
    const auto last_turn = own ? own->turn : std::string();
    if (!claim.held.held() || (!claim.fresh && last_turn != worker.turn)) {
        co_await fail(ErrorCode::fenced, "the slot was taken over since; nothing was kept");
    }
    if (claim.fresh && own) {
        const bool left = own->tab == parts_.context.tab || names_turn(word, own->turn);
        co_await recover(rows, *own, claim.sparing || left);
    }
    if (outcomes_read) sweep(rows, co_await std::move(*outcomes_read));
    const auto refusal = co_await settle(rows, claim, turn);
    if (refusal) co_await fail(*refusal);
    turn.paused = rows.head.paused != QueueHead::Paused::no;
    if (claiming && !turn.paused) co_await select(rows, slots, claim, turn);
    turn.other_kinds = std::any_of(rows.head.kinds.begin(), rows.head.kinds.end(),
                                   [&](const auto& kind) { return !handles(kind.name); });
    if (rows.touched) {
        co_await rows.write_head();
    } else {
        rows.stamp_events();
    }
    turn.edits = rows.head.edits;
    turn.version = rows.head.version;
    turn.count = rows.head.count;
    const bool same = claim.fresh ? turn.entries.empty() : turn.entries == claim.recorded;
    if (same && !rows.touched) {
        worker.turn = last_turn;
        co_return;
    }
    transaction.put(Store::jobs, slot_key(key_, claim.slot),
                    format_slot_row({turn.id, parts_.context.tab, turn.entries}));
    if (!claim.held.held()) co_await fail(ErrorCode::lock_lost, "the slot was lost meanwhile");
    if (fenced) {
        co_await fenced->commit();
    } else {
        co_await unfenced->commit();
    }
    worker.turn = turn.id;
}

std::optional<SlotRow> Queue::own_row(const QueueRows& rows, const Claim& claim,
                                      const std::vector<Row>& slots) {
    const auto key = slot_key(rows.queue, claim.slot);
    const auto row = std::find_if(slots.begin(), slots.end(),
                                  [&](const Row& other) { return other.key == key; });
    return row == slots.end() ? std::nullopt : parse_slot_row(row->value);
}

/// What the former holder had claimed, and did not settle.
Task<void> Queue::recover(QueueRows& rows, const SlotRow& former, bool sparing) {
    std::map<std::string_view, std::pair<std::string_view, Async<std::optional<Row>>>> reads;
    for (const auto& [place, id] : former.entries) {
        auto read = rows.transaction.get(Store::jobs, rows.key(place));
        reads.try_emplace(place, id, std::move(read));
    }
    for (auto& [place, asked] : reads) {
        auto& [id, read] = asked;
        const auto found = co_await std::move(read);
        auto jobs = found ? rows.jobs_of(*found) : std::vector<Job>();
        rows.touched = true;  // the slot's row shall be written
        if (!jobs.empty() && jobs.front().id == id) rows.give_back(std::move(jobs), sparing);
    }
}

/// Outcomes that nobody has fetched: who waited for them is gone.
void Queue::sweep(QueueRows& rows, const std::vector<Row>& outcomes) {
    for (const auto& row : outcomes) {
        const auto outcome = parse_outcome_row(row.value);
        if (outcome && rows.now_ms() - outcome->settled_ms < outcome_kept_ms) continue;
        rows.transaction.remove(Store::jobs, row.key);
        rows.transaction.remove(Store::data, queue_value_key(row.key));
        rows.touched = true;
    }
}

/// In ranges: one by one they are most of the work. Of one kind and priority nothing comes between
/// claimed jobs but what counts as an edit: others come before all or behind all.
void Queue::remove_finished(QueueRows& rows, const Claim& claim) {
    std::map<std::string, std::pair<std::string, std::string>> ranges;  // by all but the rank
    for (const auto& finished : claim.finished) {
        const auto place = claim.jobs[finished.at].place();
        auto& [first, last] = ranges[place.substr(0, place.size() - rank_digits)];
        if (first.empty() || place < first) first = place;
        last = std::max(last, place);
    }
    for (const auto& [group, range] : ranges) {
        rows.transaction.remove_range(Store::jobs, rows.key(range.first), rows.key(range.second));
    }
}

std::vector<Queue::Fate> Queue::fates_of(const Claim& claim) {
    std::vector fates(claim.jobs.size(), Fate::returned);
    for (const auto& one : claim.finished) fates[one.at] = Fate::ended;
    for (const auto& one : claim.unsettled) fates[one.at] = Fate::stays;
    if (claim.current) fates[*claim.current] = Fate::runs;
    return fates;
}

/// What was cancelled meanwhile has gone: nothing of it counts. Others may wait for what is left.
Task<std::vector<Queue::Fate>> Queue::look_anew(QueueRows& rows, Claim& claim,
                                                std::vector<Fate> fates) {
    std::vector<Async<std::optional<Row>>> reads;
    reads.reserve(claim.rows.size());
    for (const auto& row : claim.rows) {
        reads.push_back(rows.transaction.get(Store::jobs, rows.key(row.place)));
    }
    for (std::size_t i = 0; i < reads.size(); ++i) {
        auto& row = claim.rows[i];
        const auto found = co_await std::move(reads[i]);
        const auto jobs = found ? rows.jobs_of(*found) : std::vector<Job>();
        row.gone = jobs.size() != row.count || jobs.front().id != claim.jobs[row.first].id;
        for (auto at = row.first; at < row.first + row.count; ++at) {
            if (!row.gone) claim.jobs[at] = jobs[at - row.first];
            const bool ends = fates[at] == Fate::ended || fates[at] == Fate::returned;
            if (row.gone && ends) fates[at] = Fate::gone;
        }
    }
    co_return fates;
}

/// Leaves of each claimed row what has not ended, in rows that are claimed still or not any more.
void Queue::part(QueueRows& rows, const Claim& claim, const std::vector<Fate>& fates, bool removed,
                 Turn& turn) {
    for (const auto& row : claim.rows) {
        const auto end = row.first + row.count;
        for (auto at = row.first; at < end;) {
            const auto fate = fates[at];
            auto next = at + 1;
            while (next < end && fates[next] == fate) ++next;
            const auto jobs = std::span(claim.jobs).subspan(at, next - at);
            if (fate == Fate::ended && next == end && !removed) rows.take(row.place);
            const bool is_left = fate != Fate::ended && fate != Fate::gone;
            if (is_left && !row.gone && jobs.size() < row.count) rows.put(jobs);
            if (fate == Fate::runs || fate == Fate::stays) {
                // What runs comes first.
                turn.rows.insert(fate == Fate::runs ? turn.rows.begin() : turn.rows.end(),
                                 {jobs.back().place(), at, jobs.size(), row.gone});
            }
            for (; at < next; ++at) {
                if (fate == Fate::returned) turn.returned.push_back(at);
            }
        }
    }
    for (const auto& row : turn.rows) {
        turn.entries.push_back({row.place, claim.jobs[row.first].id});
    }
}

/// Returns why what a job gives was refused; nothing may be committed then.
Task<std::optional<Error>> Queue::settle(QueueRows& rows, Claim& claim, Turn& turn) {
    const bool edited = rows.head.edits != claim.edits;
    auto fates = fates_of(claim);
    if (edited) fates = co_await look_anew(rows, claim, std::move(fates));
    const bool ranges = claim.gapless && !edited;
    if (ranges) remove_finished(rows, claim);
    part(rows, claim, fates, ranges, turn);
    // Those that failed first: what follows the others may take their kinds for gone.
    std::vector<std::size_t> numbers(claim.finished.size());
    std::iota(numbers.begin(), numbers.end(), std::size_t{0});
    std::stable_partition(numbers.begin(), numbers.end(), [&](std::size_t number) {
        return claim.finished[number].outcome.kind != JobOutcome::Kind::done;
    });
    std::vector<std::vector<QueueEvent>> events(numbers.size());
    for (const auto number : numbers) {
        const auto at = claim.finished[number].at;
        if (fates[at] == Fate::gone) continue;
        const auto refusal = co_await end_job(rows, claim.jobs[at], claim.finished[number].outcome);
        if (refusal) turn.refused = number;
        if (refusal) co_return refusal;
        events[number] = std::exchange(turn.changes.events, {});
    }
    rows.put_fresh();
    // They are told in the order in which they ended, and then what has not.
    for (const auto& of_one : events) turn.changes.add_all(of_one);
    for (const auto at : turn.returned) {
        const auto& job = claim.jobs[at];
        turn.changes.add(QueueEvent::Kind::returned, {job.id, job.key, job.kind});
    }
    if (claim.current) hold_current(claim, turn);
    co_return std::nullopt;
}

/// Returns why what it gives was refused.
Task<std::optional<Error>> Queue::end_job(QueueRows& rows, const Job& job,
                                          const JobOutcome& outcome) {
    if (outcome.kind != JobOutcome::Kind::done) {
        rows.failed(job, outcome);
        co_return std::nullopt;
    }
    rows.done(job, outcome);
    if (outcome.next.empty()) co_return std::nullopt;
    std::vector<QueueRequest> next(outcome.next.size());
    std::vector<QueueRequest*> requests;
    for (std::size_t i = 0; i < next.size(); ++i) {
        next[i].spec = outcome.next[i];
        next[i].awaited = false;
        requests.push_back(&next[i]);
    }
    co_await rows.enqueue(std::move(requests));
    for (const auto& request : next) {
        if (request.refusal) co_return request.refusal;
    }
    co_return std::nullopt;
}

/// The job that runs stays claimed. If it was claimed ahead, others hear that it has begun.
void Queue::hold_current(const Claim& claim, Turn& turn) {
    const auto& job = claim.jobs[*claim.current];
    if (!claim.recorded.empty() && claim.recorded.front().id == job.id) return;
    add_running(turn.changes, job);
    end_running(turn.changes, claim.slot);
}

void Queue::Claim::learn() {
    if (rows.empty()) return;
    std::size_t bytes = 0;
    for (const auto& job : jobs) bytes += job.payload.text.size();
    per_row = jobs.size() / rows.size();
    row_bytes = std::max<std::size_t>(bytes / rows.size(), 1);
}

std::size_t Queue::Claim::rows_ahead() const {
    const auto many = (ahead + per_row - 1) / per_row;
    return std::clamp<std::size_t>(ahead_bytes / row_bytes, 1, many);
}

/// Rows of jobs that may run, of the kinds that this tab handles: by priority and rank the first of
/// them all, and `limit` at least. What a spoilt head hides is looked for every now and then.
Task<std::vector<std::pair<std::string, Row>>> Queue::first_rows(QueueRows& rows,
                                                                 std::size_t limit) {
    const auto now_ms = parts_.world.clock().monotonic_ms();
    const bool all = !searched_ms_ || now_ms - *searched_ms_ >= work_again_ms;
    if (all) searched_ms_ = now_ms;
    std::vector<std::pair<QueueHead::Kind*, Async<std::vector<Row>>>> reads;
    for (auto& kind : rows.head.kinds) {
        if (!handles(kind.name)) continue;
        if (all) kind.first.clear();
        const auto prefix = rows.key(kind_prefix(kind.name));
        const auto from = concat({prefix, kind.first});
        reads.emplace_back(&kind, rows.transaction.list(Store::jobs, prefix,
                                                        static_cast<std::uint32_t>(limit), from));
    }
    std::vector<std::pair<std::string, Row>> found;
    std::optional<std::string> horizon;  // behind it there may be more of a kind
    for (auto& [kind, read] : reads) {
        const auto length = rows.key(kind_prefix(kind->name)).size();
        auto listed = co_await std::move(read);
        for (auto& row : listed) {
            auto order = row.key.substr(length);
            if (&row == listed.data() && is_order(order)) kind->first = order;
            found.emplace_back(std::move(order), std::move(row));
        }
        if (listed.size() == limit && (!horizon || found.back().first < *horizon)) {
            horizon = found.back().first;
        }
    }
    if (horizon) std::erase_if(found, [&](const auto& row) { return row.first > *horizon; });
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    co_return found;
}

/// The first ones, in the order of priority and rank, of the kinds that this tab handles.
Task<void> Queue::select(QueueRows& rows, const std::vector<Row>& slots, const Claim& claim,
                         Turn& turn) {
    if (rows.head.delayed > 0) turn.next_due_ms = co_await rows.promote();
    if (rows.head.count == 0) co_return;
    std::set<std::string> busy;
    for (const auto& row : slots) {
        const auto slot = parse_slot_row(row.value);
        const auto number =
            parse_decimal(std::string_view(row.key).substr(rows.key("s/").size()), 0, INT32_MAX);
        if (!slot || !number || *number == claim.slot || slot->entries.empty()) continue;
        for (const auto& entry : slot->entries) busy.insert(entry.id);
        if (*number >= options_.concurrency) turn.orphans.push_back(static_cast<int>(*number));
    }
    turn.gapless = busy.empty();
    const auto found = co_await first_rows(rows, claim.rows_ahead() + busy.size());
    auto most = claim.ahead;
    for (const auto& [order, row] : found) {
        auto jobs = rows.jobs_of(row);
        if (jobs.empty() || busy.contains(jobs.front().id)) continue;
        if (jobs.front().lost_workers > 0) most = std::min(most, suspects_max);
        if (turn.claimed.size() >= most) break;
        const bool single = alone(jobs.front());
        const auto count = single ? 1 : std::min(jobs.size(), most - turn.claimed.size());
        // No row is parted but for the first.
        if (!turn.claimed.empty() && (single || count < jobs.size())) break;
        if (single) {
            const bool once = jobs.front().at_most_once;
            turn.strict = once && !claim.strict && options_.durability != Durability::strict;
            if (turn.strict) break;
            co_await rows.read_value(jobs.front());
        }
        claim_first(rows, std::move(jobs), count, turn);
        if (single) break;
    }
    if (!turn.claimed.empty()) end_running(rows.changes, claim.slot);
}

/// So many of the row's jobs. What is left of it is another row.
void Queue::claim_first(QueueRows& rows, std::vector<Job> jobs, std::size_t count, Turn& turn) {
    const auto first = std::span(jobs).first(count);
    if (count < jobs.size()) {
        rows.put(first);
        rows.put(std::span(jobs).subspan(count));
    }
    const auto place = first.back().place();
    turn.rows.push_back({place, turn.claimed.size(), count, false});
    turn.entries.push_back({place, first.front().id});
    for (auto& job : first) {
        add_running(rows.changes, job);
        turn.claimed.push_back(std::move(job));
    }
}

// --- Running ------------------------------------------------------------------------------------

std::shared_ptr<Queue::Run> Queue::begin(const Job& job) {
    const auto run = std::make_shared<Run>();
    run->number = ++last_run_;
    run->id = job.id;
    runs_.push_back(run);
    callbacks_.run(run->number, info_of(job, JobInfo::State::running));
    return run;
}

void Queue::end(const std::shared_ptr<Run>& run) {
    std::erase(runs_, run);
    note(version_, count_);
}

void Queue::finish(int number, JobOutcome outcome) {
    const auto found = std::find_if(runs_.begin(), runs_.end(),
                                    [number](const auto& run) { return run->number == number; });
    if (found == runs_.end() || (*found)->ended) return;
    // The bell may take it off the list.
    const auto run = *found;  // NOLINT(performance-unnecessary-copy-initialization)
    run->ended = true;
    run->outcome = std::move(outcome);
    run->ring();
}

void Queue::progress(int number, double fraction, std::string_view note) {
    const auto found = std::find_if(runs_.begin(), runs_.end(),
                                    [number](const auto& run) { return run->number == number; });
    if (found == runs_.end()) return;
    const auto millionths = std::llround(std::clamp(fraction, 0.0, 1.0) * 1e6);
    QueueChanges changes;
    changes.add(QueueEvent::Kind::progress, {(*found)->id, format_decimal(millionths), note});
    auto& event = changes.events.back();
    event.tab = parts_.context.tab;
    event.version = version_;
    event.count = count_;
    tell(changes);
}

Task<void> Queue::be_late(std::weak_ptr<bool> late) {
    co_await parts_.world.clock().sleep(ahead_ms);
    const auto waiting = late.lock();
    if (!waiting) co_return;
    *waiting = true;
    for (const auto& run : std::vector(runs_)) run->ring();
}

/// One after another, as long as they are short. Leaves them in `finished`.
Task<void> Queue::run_all(Claim& claim) {
    const auto& jobs = claim.jobs;
    const auto began_ms = parts_.world.clock().monotonic_ms();
    const auto late = std::make_shared<bool>(false);
    if (jobs.size() > 1) parts_.scope.spawn(be_late(late));
    const auto quick = [&] {
        return !*late && parts_.world.clock().monotonic_ms() - began_ms < ahead_ms;
    };
    bool alone = false;  // nothing else of the slot is claimed or unsettled
    Followers followers;
    bool overtaken = false;
    bool stirred = false;
    std::size_t begun = 0;
    for (std::size_t at = 0; at < jobs.size(); ++at) {
        const auto& job = jobs[at];
        // Jobs that do not wait for anything leave no turn for timers.
        stirred = begun > 0 && claim.stirs != stirs_;
        if (begun > 0 && (!quick() || alone || overtaken || stirred)) break;
        if (!working() || !handles(job.kind) || !claim.held.held()) break;
        ++begun;
        claim.current = at;
        const auto run = begin(job);
        claim.worker->run = run;
        while (!run->ended) {
            const auto bell = run->bell;
            co_await bell.async();
            if (run->ended || !*late || alone) continue;
            // It takes its time: others need not wait for what it holds up.
            alone = true;
            (void)co_await attempt(settle_and_claim(claim, false));
        }
        end(run);
        claim.current.reset();
        if (run->lost) break;
        const bool failed = run->outcome.kind == JobOutcome::Kind::failed;
        claim.finished.push_back({at, std::move(run->outcome)});
        if (failed && options_.pause_on_failure) break;  // nothing else begins
        followers.add(claim.finished.back().outcome.next);
        overtaken = begun < jobs.size() && followers.overtake(jobs[begun], options_.lifo);
    }
    claim.ahead = overtaken ? begun
                  : stirred ? std::min(claim.ahead, begun * 2)
                  : quick() ? std::min(claim.ahead * ahead_growth, ahead_max)
                            : std::max(begun, std::size_t{2}) - 1;
}

}  // namespace tabacus
