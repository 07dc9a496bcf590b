// A turn of a worker: one transaction over its slot, in which what has ended is settled and what
// comes next is claimed.
#include <algorithm>
#include <map>
#include <set>

#include "protocol/common/concat.hpp"
#include "protocol/common/names.hpp"
#include "protocol/common/record.hpp"
#include "protocol/common/stable_sort.hpp"
#include "state.hpp"

namespace tabacus {
namespace {

/// How long an outcome is kept for a tab that does not fetch it, and how many a sweep reads.
constexpr std::int64_t outcome_kept_ms = 3'600'000;
constexpr std::uint32_t swept_max = 64;
/// How much of jobs is claimed at once, about.
constexpr std::size_t ahead_bytes = 2'000'000;
/// The most jobs of a lost worker that are claimed together, once: one of them may be what ended
/// the worker.
constexpr std::size_t suspects_max = 32;

void add_running(QueueChanges& changes, const Job& job) {
    changes.add(QueueEvent::Kind::running,
                {job.id, job.key, job.kind, format_decimal(job.attempts + 1)});
}

void end_running(QueueChanges& changes, int slot) {
    changes.events.back().fields.push_back(format_decimal(slot));
}

/// What is claimed alone: what may well have ended its workers; what must not be begun twice; and
/// values, which somebody must take.
bool alone(const Job& job) {
    return job.lost_workers > 1 || job.at_most_once || job.payload.by_value;
}

}  // namespace

/// One transaction, fenced by the slot's row: each finds it as the one before has left it. A
/// worker that had the slot before, and does not know that another one has it now, settles and
/// claims nothing.
Task<void> Queue::take_turn(HeldSlot& held_slot, bool claiming, std::string exit, Turn& turn) {
    held_slot.worker->next_turn = turn.id;
    const auto durability = held_slot.strict ? Durability::strict : options_.durability;
    if (held_slot.held.token()) {
        auto fenced = co_await held_slot.held.begin({Store::jobs, Store::quarantine}, durability);
        const bool writes = co_await act(fenced.transaction(), held_slot, claiming, exit, turn);
        if (!writes) co_return;
        co_await fenced.commit();
    } else {
        const auto transaction = co_await parts_.transactions.begin(
            {Store::jobs, Store::data, Store::quarantine}, Access::write, durability);
        const bool writes = co_await act(*transaction, held_slot, claiming, exit, turn);
        if (!writes) co_return;
        if (!held_slot.held.held()) {
            co_await fail(ErrorCode::lock_lost, "the slot was lost; nothing was kept");
        }
        co_await transaction->commit();
    }
    held_slot.worker->turn = turn.id;
}

/// Does all of the slot transaction but its commit. Returns false if there is nothing to commit.
Task<bool> Queue::act(Transaction& transaction, HeldSlot& held_slot, bool claiming,
                      std::string exit, Turn& turn) {
    QueueRows rows{transaction, parts_.context, key_, options_, turn.changes};
    // All at once: answers come faster than one after another.
    auto slots_read = transaction.list(Store::jobs, rows.key("s/"));
    std::optional<Async<std::vector<Row>>> outcomes_read;
    if (held_slot.fresh && held_slot.slot == 0) {
        outcomes_read = transaction.list(Store::jobs, rows.key("o/"), swept_max);
    }
    co_await rows.read_head();
    const auto slots = co_await std::move(slots_read);
    const auto own = own_row(rows, held_slot, slots);
    const auto last_turn = own ? own->turn : std::string();
    if (!held_slot.held.held() || (!held_slot.fresh && last_turn != held_slot.worker->turn)) {
        co_await fail(ErrorCode::fenced, "another worker has the slot; nothing was kept");
    }
    if (held_slot.fresh && own) {
        const bool left = own->tab == parts_.context.tab || exit_names_turn(exit, own->turn);
        co_await recover(rows, *own, held_slot.return_unchanged || left);
    }
    if (outcomes_read) sweep(rows, co_await std::move(*outcomes_read));
    const auto refusal = co_await settle(rows, held_slot, turn);
    if (refusal) co_await fail(*refusal);
    turn.paused = rows.head.paused != QueueHead::Paused::no;
    if (claiming && !turn.paused) co_await select(rows, slots, held_slot, turn);
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
    const bool same = held_slot.fresh ? turn.entries.empty() : turn.entries == held_slot.recorded;
    if (same && !rows.touched) {
        held_slot.worker->turn = last_turn;
        co_return false;
    }
    transaction.put(Store::jobs, slot_key(key_, held_slot.slot),
                    format_slot_row({turn.id, parts_.context.tab, turn.entries}));
    co_return true;
}

std::optional<SlotRow> Queue::own_row(const QueueRows& rows, const HeldSlot& held_slot,
                                      const std::vector<Row>& slots) {
    const auto key = slot_key(rows.queue, held_slot.slot);
    const auto row = std::find_if(slots.begin(), slots.end(),
                                  [&](const Row& other) { return other.key == key; });
    return row == slots.end() ? std::nullopt : parse_slot_row(row->value);
}

/// What the former holder had claimed, and did not settle.
Task<void> Queue::recover(QueueRows& rows, const SlotRow& former, bool unchanged) {
    std::map<std::string_view, std::pair<std::string_view, Async<std::optional<Row>>>> reads;
    for (const auto& [position, id] : former.entries) {
        auto read = rows.transaction.get(Store::jobs, rows.key(position));
        reads.try_emplace(position, id, std::move(read));
    }
    for (auto& [position, asked] : reads) {
        auto& [id, read] = asked;
        const auto found = co_await std::move(read);
        auto jobs = found ? rows.jobs_of(*found) : std::vector<Job>();
        rows.touched = true;  // the slot's row shall be written
        if (!jobs.empty() && jobs.front().id == id) rows.give_back(std::move(jobs), unchanged);
    }
}

/// Removes outcomes that nobody has fetched: the tabs that waited for them are gone.
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
void Queue::remove_finished(QueueRows& rows, const HeldSlot& held_slot) {
    std::map<std::string, std::pair<std::string, std::string>> ranges;  // by all but the rank
    for (const auto& finished : held_slot.finished) {
        const auto position = held_slot.jobs[finished.at].position();
        auto& [first, last] = ranges[position.substr(0, position.size() - rank_digits)];
        if (first.empty() || position < first) first = position;
        last = std::max(last, position);
    }
    for (const auto& [group, range] : ranges) {
        rows.transaction.remove_range(Store::jobs, rows.key(range.first), rows.key(range.second));
    }
}

std::vector<Queue::ClaimState> Queue::claim_states(const HeldSlot& held_slot) {
    std::vector states(held_slot.jobs.size(), ClaimState::returned);
    for (const auto& one : held_slot.finished) states[one.at] = ClaimState::ended;
    for (const auto& one : held_slot.unsettled) states[one.at] = ClaimState::stays;
    if (held_slot.current) states[*held_slot.current] = ClaimState::runs;
    return states;
}

/// What was cancelled meanwhile has gone: nothing of it counts. Others may wait for what is left.
Task<std::vector<Queue::ClaimState>> Queue::reread_claimed(QueueRows& rows, HeldSlot& held_slot,
                                                           std::vector<ClaimState> states) {
    std::vector<Async<std::optional<Row>>> reads;
    reads.reserve(held_slot.rows.size());
    for (const auto& row : held_slot.rows) {
        reads.push_back(rows.transaction.get(Store::jobs, rows.key(row.position)));
    }
    for (std::size_t i = 0; i < reads.size(); ++i) {
        auto& row = held_slot.rows[i];
        const auto found = co_await std::move(reads[i]);
        const auto jobs = found ? rows.jobs_of(*found) : std::vector<Job>();
        row.gone = jobs.size() != row.count || jobs.front().id != held_slot.jobs[row.first].id;
        for (auto at = row.first; at < row.first + row.count; ++at) {
            if (!row.gone) held_slot.jobs[at] = jobs[at - row.first];
            const bool ends = states[at] == ClaimState::ended || states[at] == ClaimState::returned;
            if (row.gone && ends) states[at] = ClaimState::gone;
        }
    }
    co_return states;
}

/// Leaves of each claimed row what has not ended, in rows that are claimed still or not any more.
void Queue::part(QueueRows& rows, const HeldSlot& held_slot, const std::vector<ClaimState>& states,
                 bool removed, Turn& turn) {
    for (const auto& row : held_slot.rows) {
        const auto end = row.first + row.count;
        for (auto at = row.first; at < end;) {
            const auto state = states[at];
            auto next = at + 1;
            while (next < end && states[next] == state) ++next;
            const auto jobs = std::span(held_slot.jobs).subspan(at, next - at);
            if (state == ClaimState::ended && next == end && !removed) rows.take(row.position);
            const bool is_left = state != ClaimState::ended && state != ClaimState::gone;
            if (is_left && !row.gone && jobs.size() < row.count) rows.put(jobs);
            if (state == ClaimState::runs || state == ClaimState::stays) {
                // What runs comes first.
                turn.rows.insert(state == ClaimState::runs ? turn.rows.begin() : turn.rows.end(),
                                 {jobs.back().position(), at, jobs.size(), row.gone});
            }
            for (; at < next; ++at) {
                if (state == ClaimState::returned) turn.returned.push_back(at);
            }
        }
    }
    for (const auto& row : turn.rows) {
        turn.entries.push_back({row.position, held_slot.jobs[row.first].id});
    }
}

/// Returns why what a job gives was refused; nothing may be committed then.
Task<std::optional<Error>> Queue::settle(QueueRows& rows, HeldSlot& held_slot, Turn& turn) {
    const bool edited = rows.head.edits != held_slot.edits;
    auto states = claim_states(held_slot);
    if (edited) states = co_await reread_claimed(rows, held_slot, std::move(states));
    const bool ranges = held_slot.gapless && !edited;
    if (ranges) remove_finished(rows, held_slot);
    part(rows, held_slot, states, ranges, turn);
    // Failed jobs come first: what follows the others may treat their kinds as gone.
    std::vector<std::size_t> numbers;
    for (const bool done : {false, true}) {
        for (std::size_t number = 0; number < held_slot.finished.size(); ++number) {
            const auto kind = held_slot.finished[number].outcome.kind;
            if ((kind == JobOutcome::Kind::done) == done) numbers.push_back(number);
        }
    }
    std::vector<std::vector<QueueEvent>> events(numbers.size());
    for (const auto number : numbers) {
        const auto at = held_slot.finished[number].at;
        if (states[at] == ClaimState::gone) continue;
        const auto refusal =
            co_await end_job(rows, held_slot.jobs[at], held_slot.finished[number].outcome);
        if (refusal) {
            turn.refused = number;
            co_return refusal;
        }
        events[number] = std::exchange(turn.changes.events, {});
    }
    rows.put_fresh();
    // The events name jobs in the order in which they ended, and then those that have not.
    for (auto& of_one : events) turn.changes.add_all(std::move(of_one));
    for (const auto at : turn.returned) {
        const auto& job = held_slot.jobs[at];
        turn.changes.add(QueueEvent::Kind::returned, {job.id, job.key, job.kind});
    }
    if (held_slot.current) hold_current(held_slot, turn);
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

/// The job that runs stays claimed. If it was claimed ahead, an event reports that it began.
void Queue::hold_current(const HeldSlot& held_slot, Turn& turn) {
    const auto& job = held_slot.jobs[*held_slot.current];
    if (!held_slot.recorded.empty() && held_slot.recorded.front().id == job.id) return;
    add_running(turn.changes, job);
    end_running(turn.changes, held_slot.slot);
}

void Queue::HeldSlot::learn() {
    if (rows.empty()) return;
    std::size_t bytes = 0;
    for (const auto& job : jobs) bytes += job.payload.text.size();
    per_row = jobs.size() / rows.size();
    row_bytes = std::max<std::size_t>(bytes / rows.size(), 1);
}

std::size_t Queue::HeldSlot::rows_ahead() const {
    const auto many = (ahead + per_row - 1) / per_row;
    return std::clamp<std::size_t>(ahead_bytes / row_bytes, 1, many);
}

/// Rows of jobs that may run, of the kinds that this tab handles: by priority and rank the first of
/// them all, and `limit` at least. Every now and then all rows are listed, since a spoilt head
/// hides some.
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
    sort_stably(found, [](const auto& a, const auto& b) { return a.first < b.first; });
    co_return found;
}

/// The first ones, in the order of priority and rank, of the kinds that this tab handles.
Task<void> Queue::select(QueueRows& rows, const std::vector<Row>& slots, const HeldSlot& held_slot,
                         Turn& turn) {
    if (rows.head.delayed > 0) turn.next_due_ms = co_await rows.promote();
    if (rows.head.count == 0) co_return;
    std::set<std::string> busy;
    for (const auto& row : slots) {
        const auto slot = parse_slot_row(row.value);
        const auto number =
            parse_decimal(std::string_view(row.key).substr(rows.key("s/").size()), 0, INT32_MAX);
        if (!slot || !number || *number == held_slot.slot || slot->entries.empty()) continue;
        for (const auto& entry : slot->entries) busy.insert(entry.id);
        if (*number >= options_.concurrency) turn.orphans.push_back(static_cast<int>(*number));
    }
    turn.gapless = busy.empty();
    const auto found = co_await first_rows(rows, held_slot.rows_ahead() + busy.size());
    auto most = held_slot.ahead;
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
            turn.strict = once && !held_slot.strict && options_.durability != Durability::strict;
            if (turn.strict) break;
            co_await rows.read_value(jobs.front());
        }
        claim_first(rows, std::move(jobs), count, turn);
        if (single) break;
    }
    if (!turn.claimed.empty()) end_running(rows.changes, held_slot.slot);
}

/// So many of the row's jobs. What is left of it is another row.
void Queue::claim_first(QueueRows& rows, std::vector<Job> jobs, std::size_t count, Turn& turn) {
    const auto first = std::span(jobs).first(count);
    if (count < jobs.size()) {
        rows.put(first);
        rows.put(std::span(jobs).subspan(count));
    }
    const auto position = first.back().position();
    turn.rows.push_back({position, turn.claimed.size(), count, false});
    turn.entries.push_back({position, first.front().id});
    for (auto& job : first) {
        add_running(rows.changes, job);
        turn.claimed.push_back(std::move(job));
    }
}

}  // namespace tabacus
