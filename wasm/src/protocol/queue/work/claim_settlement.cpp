#include "claim_settlement.hpp"

#include <algorithm>
#include <map>
#include <span>

namespace tabacus {

Task<std::optional<Error>> ClaimSettlement::settle() {
    const auto& claim = held_slot_.claim;
    const bool edited = rows_.head.edits != claim.edits;
    find_states();
    if (edited) co_await reread_claimed();
    const bool ranges = claim.gapless && !edited;
    if (ranges) remove_finished();
    co_await remove_keys();
    part_rows(ranges);
    const auto refusal = co_await end_jobs();
    if (refusal) co_return refusal;
    for (const auto at : turn_.returned) {
        const auto& job = claim.jobs[at];
        turn_.changes.add(QueueEvent::Kind::returned, {job.id, job.key, job.kind});
    }
    if (held_slot_.current) report_current();
    co_return std::nullopt;
}

void ClaimSettlement::find_states() {
    states_.assign(held_slot_.claim.jobs.size(), State::returned);
    for (const auto& one : held_slot_.unsettled.finished) states_[one.at] = State::ended;
    for (const auto& one : held_slot_.unsettled.postponed) states_[one.at] = State::stays;
    if (held_slot_.current) states_[*held_slot_.current] = State::runs;
}

/// Reads the claimed rows again, because another tab may have changed one. The row of a cancelled
/// job is gone, and further tabs may wait for the outcome of a job.
Task<void> ClaimSettlement::reread_claimed() {
    auto& claim = held_slot_.claim;
    std::vector<Async<std::optional<Row>>> reads;
    reads.reserve(claim.rows.size());
    for (const auto& row : claim.rows) {
        reads.push_back(rows_.transaction.get(Store::jobs, rows_.key(row.position)));
    }
    for (std::size_t i = 0; i < reads.size(); ++i) {
        auto& row = claim.rows[i];
        const auto found = co_await std::move(reads[i]);
        const auto jobs = found ? rows_.jobs_of(*found) : std::vector<Job>();
        row.gone = jobs.size() != row.count || jobs.front().id != claim.jobs[row.first].id;
        for (auto at = row.first; at < row.first + row.count; ++at) {
            if (!row.gone) claim.jobs[at] = jobs[at - row.first];
            const bool ends = states_[at] == State::ended || states_[at] == State::returned;
            if (row.gone && ends) states_[at] = State::gone;
        }
    }
}

/// Removes the rows of the finished jobs in ranges, because removing them one by one would be most
/// of the work. That is safe if no other job lies in a range. Among jobs of one kind and priority,
/// other jobs lie before all claimed ones or behind all of them. A job that is put between them
/// counts as an edit (QueueHead::edits).
void ClaimSettlement::remove_finished() {
    std::map<std::string, std::pair<std::string, std::string>> ranges;  // by all but the rank
    for (const auto& finished : held_slot_.unsettled.finished) {
        const auto position = held_slot_.claim.jobs[finished.at].position();
        auto& [first, last] = ranges[position.substr(0, position.size() - rank_digits)];
        if (first.empty() || position < first) first = position;
        last = std::max(last, position);
    }
    for (const auto& [group, range] : ranges) {
        rows_.transaction.remove_range(Store::jobs, rows_.key(range.first),
                                       rows_.key(range.second));
    }
}

/// Removes the rows of the keys of all jobs that are done, before any of their followers is enqueued:
/// a follower may have the key of any of these jobs, and then writes that row anew.
Task<void> ClaimSettlement::remove_keys() {
    KeyIndex index(rows_.transaction);
    for (const auto& one : held_slot_.unsettled.finished) {
        const auto& key = held_slot_.claim.jobs[one.at].key;
        const bool done = one.outcome.kind == JobOutcome::Kind::done;
        if (done && states_[one.at] == State::ended && !key.empty()) {
            index.add(rows_.index_key(key));
        }
    }
    co_await index.remove();
}

/// Writes the jobs of each claimed row that have not ended. Adjacent jobs of one state share a row.
/// `removed`: whether the rows of the finished jobs are removed already.
void ClaimSettlement::part_rows(bool removed) {
    auto& next_rows = turn_.claim.rows;
    for (const auto& row : held_slot_.claim.rows) {
        const auto end = row.first + row.count;
        for (auto at = row.first; at < end;) {
            const auto state = states_[at];
            auto next = at + 1;
            while (next < end && states_[next] == state) ++next;
            const auto jobs = std::span(held_slot_.claim.jobs).subspan(at, next - at);
            if (state == State::ended && next == end && !removed) rows_.take(row.position);
            const bool is_left = state != State::ended && state != State::gone;
            if (is_left && !row.gone && jobs.size() < row.count) rows_.put(jobs);
            if (state == State::runs || state == State::stays) {
                // The job that runs comes first.
                next_rows.insert(state == State::runs ? next_rows.begin() : next_rows.end(),
                                 {jobs.back().position(), at, jobs.size(), row.gone});
            }
            for (; at < next; ++at) {
                if (state == State::returned) turn_.returned.push_back(at);
            }
        }
    }
    for (const auto& row : next_rows) {
        turn_.claim.recorded.push_back({row.position, held_slot_.claim.jobs[row.first].id});
    }
}

Task<std::optional<Error>> ClaimSettlement::end_jobs() {
    const auto& finished = held_slot_.unsettled.finished;
    // Failed jobs go first. Otherwise a follower of a done job could recount the kinds while the
    // rows of the failed jobs are gone, and drop their kinds.
    std::vector<std::size_t> numbers;
    for (const bool done : {false, true}) {
        for (std::size_t number = 0; number < finished.size(); ++number) {
            const auto kind = finished[number].outcome.kind;
            if ((kind == JobOutcome::Kind::done) == done) numbers.push_back(number);
        }
    }
    std::vector<std::vector<QueueEvent>> events(numbers.size());
    for (const auto number : numbers) {
        const auto& one = finished[number];
        if (states_[one.at] == State::gone) continue;
        const auto refusal = co_await end_job(held_slot_.claim.jobs[one.at], one.outcome);
        if (refusal) {
            turn_.refused = number;
            co_return refusal;
        }
        events[number] = std::exchange(turn_.changes.events, {});
    }
    intake_.put_fresh();
    // The events name jobs in the order in which they ended.
    for (auto& of_one : events) turn_.changes.add_all(std::move(of_one));
    co_return std::nullopt;
}

/// Returns the reason if the followers of the job were refused.
Task<std::optional<Error>> ClaimSettlement::end_job(const Job& job, const JobOutcome& outcome) {
    if (outcome.kind != JobOutcome::Kind::done) {
        rows_.failed(job, outcome);
        co_return std::nullopt;
    }
    rows_.done(job, outcome);
    if (outcome.next.empty()) co_return std::nullopt;
    std::vector<QueueRequest> next(outcome.next.size());
    std::vector<QueueRequest*> requests;
    for (std::size_t i = 0; i < next.size(); ++i) {
        next[i].spec = outcome.next[i];
        next[i].awaited = false;
        requests.push_back(&next[i]);
    }
    co_await intake_.enqueue(std::move(requests));
    for (const auto& request : next) {
        if (request.refusal) co_return request.refusal;
    }
    co_return std::nullopt;
}

/// Reports the beginning of the job that runs, if it was claimed ahead. It stays claimed.
void ClaimSettlement::report_current() {
    const auto& claim = held_slot_.claim;
    const auto& job = claim.jobs[*held_slot_.current];
    if (!claim.recorded.empty() && claim.recorded.front().id == job.id) return;
    turn_.changes.add_running(job);
    turn_.changes.end_running(held_slot_.slot);
}

}  // namespace tabacus
