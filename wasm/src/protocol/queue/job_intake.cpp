#include "job_intake.hpp"

#include <algorithm>

#include "kind_limits.hpp"
#include "protocol/common/concat.hpp"
#include "protocol/common/names.hpp"
#include "protocol/common/record.hpp"
#include "protocol/common/stable_sort.hpp"

namespace tabacus {
namespace {

/// The most tabs that are recorded as waiting for one job. Further tabs receive only its events.
constexpr std::size_t tabs_max = 64;

}  // namespace

Task<void> JobIntake::enqueue(std::vector<QueueRequest*> requests) {
    KeyIndex positions(rows_.transaction);
    for (const auto* request : requests) {
        if (!request->spec.key.empty()) positions.add(rows_.index_key(request->spec.key));
    }
    co_await positions.read();
    const auto more = std::count_if(requests.begin(), requests.end(), [&](const auto* request) {
        return !rows_.head.kind(request->spec.kind);
    });
    KindLimits kinds(rows_);
    if (!kinds.has_room(static_cast<std::size_t>(more))) {
        put_fresh();  // first, because recounting the kinds reads the rows
        co_await kinds.recount();
    }
    for (auto* request : requests) co_await enqueue_one(*request, positions);
}

Task<void> JobIntake::enqueue_one(QueueRequest& request, KeyIndex& positions) {
    const auto& spec = request.spec;
    auto* const position = spec.key.empty() ? nullptr : &positions.value(rows_.index_key(spec.key));
    if (position && is_job_position(*position)) {
        const auto joined = co_await join(request, *position);
        if (joined) co_return;
    }
    request.refusal = rows_.refusal_of(spec.kind);
    if (request.refusal) co_return;
    auto& head = rows_.head;
    Job job;
    job.id = concat({head.born, "-", format_decimal(++head.serial)});
    job.key = spec.key;
    job.kind = spec.kind;
    job.priority = spec.priority;
    job.rank = rows_.options.lifo ? --head.front : head.back++;
    job.optional = spec.optional;
    job.at_most_once = spec.at_most_once;
    job.enqueued_ms = rows_.now_ms();
    job.payload = spec.payload;
    if (request.awaited) job.tabs.push_back(rows_.context.tab);
    if (spec.delay_ms > 0) {
        job.delay_ms = static_cast<std::int64_t>(spec.delay_ms);
        job.due_ms = rows_.due_ms(job.delay_ms);
        ++head.delayed;
    }
    ++head.count;
    rows_.touched = true;
    if (job.payload.by_value) {
        rows_.transaction.put(Store::data, queue_value_key(rows_.queue, concat({"p/", job.id})),
                              job.payload.text);
    }
    request.receipt = {job.id, false, 0};
    rows_.changes.add(QueueEvent::Kind::queued, {job.id, job.key, job.kind});
    if (position) {
        rows_.put(job);  // another request may join it
        *position = job.position();
    } else {
        fresh_.push_back(std::move(job));
    }
}

void JobIntake::put_fresh() {
    // The last job of a lifo queue has the first rank.
    sort_stably(fresh_, [](const Job& a, const Job& b) { return a.rank < b.rank; });
    rows_.put_all(std::exchange(fresh_, {}));
}

/// Lets the request join the job at `position`. Returns false if that job does not have the key. If
/// jobs are claimed together, no other tab knows which of them runs or has ended. A job among them
/// therefore takes the new payload in any case; if it is the one that runs, the outcome of that run
/// is ignored.
Task<bool> JobIntake::join(QueueRequest& request, std::string& position) {
    const auto row = co_await rows_.transaction.get(Store::jobs, rows_.key(position));
    const auto found = row ? rows_.job_of(*row) : std::nullopt;
    if (!found || found->key != request.spec.key) co_return false;
    auto job = *found;
    const auto& tab = rows_.context.tab;
    const bool waits = std::find(job.tabs.begin(), job.tabs.end(), tab) != job.tabs.end();
    if (request.awaited && !waits && job.tabs.size() < tabs_max) job.tabs.push_back(tab);
    if (!claimed_) co_await read_claimed();
    const auto claim = claimed_->find(job.id);
    if (claim != claimed_->end()) ++rows_.head.edits;
    // A job that was moved after it was claimed is not the one that runs.
    if (claim != claimed_->end() && claim->second == found->position()) {
        rows_.put(job);
    } else if (const auto refusal = KindLimits(rows_).refusal_of(request.spec.kind)) {
        request.refusal = refusal;
        co_return true;
    } else {
        renew(job, request.spec);
        rows_.take(position);
        rows_.move(*found, job);
        position = job.position();
    }
    request.receipt = {job.id, true, 0};
    rows_.changes.add(QueueEvent::Kind::queued, {job.id, job.key, job.kind});
    co_return true;
}

Task<void> JobIntake::read_claimed() {
    claimed_.emplace();
    const auto slots = co_await rows_.read_slots();
    for (const auto& slot : slots) {
        for (const auto& entry : slot.entries) {
            const bool runs = slot.entries.size() == 1;
            claimed_->emplace(entry.id, runs ? entry.position : std::string());
        }
    }
}

/// Gives the job the payload and options of the new request, and moves it to the front.
void JobIntake::renew(Job& job, const JobSpec& spec) {
    const auto value = queue_value_key(rows_.queue, concat({"p/", job.id}));
    if (spec.payload.by_value) {
        rows_.transaction.put(Store::data, value, spec.payload.text);
    } else if (job.payload.by_value) {
        rows_.transaction.remove(Store::data, value);
    }
    job.payload = spec.payload;
    job.kind = spec.kind;
    job.priority = std::max(job.priority, spec.priority);
    job.rank = --rows_.head.front;
    job.delay_ms = static_cast<std::int64_t>(spec.delay_ms);
    job.due_ms = job.delay_ms > 0 ? rows_.due_ms(job.delay_ms) : 0;
    job.optional = job.optional && spec.optional;
    job.at_most_once = job.at_most_once || spec.at_most_once;
}

}  // namespace tabacus
