#include "job_intake.hpp"

#include <algorithm>

#include "protocol/common/concat.hpp"
#include "protocol/common/names.hpp"
#include "protocol/common/record.hpp"
#include "protocol/common/stable_sort.hpp"

namespace tabacus {
namespace {

/// The most tabs that are recorded as waiting for one job. Further tabs receive only its events.
constexpr std::size_t tabs_max = 64;
/// How many keys of jobs in rows of their own are read at once.
constexpr std::uint32_t single_keys_read = 64;

bool is_ascii(const std::string& text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

Task<void> JobIntake::enqueue(std::vector<QueueRequest*> requests) {
    std::vector<std::string> keys;
    for (const auto* request : requests) {
        const auto& name = request->spec.key;
        if (!name.empty() && positions_.emplace(name, "").second) keys.push_back(name);
    }
    if (!keys.empty()) co_await find_positions(std::move(keys));
    const auto more = std::count_if(requests.begin(), requests.end(), [&](const auto* request) {
        return !rows_.head.kind(request->spec.kind);
    });
    if (!rows_.has_room_for_kinds(static_cast<std::size_t>(more))) {
        put_fresh();  // or their kinds would not be counted
        co_await rows_.recount_kinds();
    }
    for (auto* request : requests) co_await enqueue_one(*request);
}

/// Finds the jobs that are there under these keys. If only few keys are in the queue from the first
/// one on, one request reads all of them.
Task<void> JobIntake::find_positions(std::vector<std::string> keys) {
    co_await rows_.pages.read(keys);
    std::sort(keys.begin(), keys.end());
    const auto prefix = rows_.key("k/");
    const auto from = concat({prefix, escaped(keys.front())});
    // Stores order texts that are not ASCII otherwise than C++ does.
    const bool ordered = std::all_of(keys.begin(), keys.end(), is_ascii);
    const auto limit = ordered ? single_keys_read : 0;
    const auto rows = limit == 0
                          ? std::vector<Row>()
                          : co_await rows_.transaction.list(Store::jobs, prefix, limit, from);
    std::map<std::string_view, std::string_view> listed;
    for (const auto& row : rows) listed.emplace(row.key, row.value);
    const bool all = ordered && rows.size() < limit;
    std::vector<std::pair<std::string*, Async<std::optional<Row>>>> reads;
    for (const auto& name : keys) {
        auto& position = positions_[name];
        position = rows_.pages.find(name);
        const auto index = concat({prefix, escaped(name)});
        const auto found = listed.find(index);
        if (found != listed.end() && is_job_position(found->second)) position = found->second;
        if (all || found != listed.end()) continue;
        if (ordered && !listed.empty() && index < listed.rbegin()->first) continue;
        // The reads are requested together: answers come faster so than one by one.
        reads.emplace_back(&position, rows_.transaction.get(Store::jobs, index));
    }
    for (auto& [position, read] : reads) {
        auto row = co_await std::move(read);
        if (row && is_job_position(row->value)) *position = std::move(row->value);
    }
}

Task<void> JobIntake::enqueue_one(QueueRequest& request) {
    const auto& spec = request.spec;
    if (fresh_keys_.contains(spec.key)) put_fresh();
    if (!spec.key.empty() && !positions_[spec.key].empty()) {
        const auto joined = co_await join(request, positions_[spec.key]);
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
        job.due_ms = job.enqueued_ms + job.delay_ms;
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
    if (!job.key.empty()) fresh_keys_.insert(job.key);
    fresh_.push_back(std::move(job));
}

void JobIntake::put_fresh() {
    auto jobs = std::exchange(fresh_, {});
    const auto keys = std::exchange(fresh_keys_, {});
    const bool many = keys.size() >= rows_.options.paged_keys_min && rows_.pages.are_close(keys);
    for (auto& job : jobs) {
        if (job.key.empty()) continue;
        job.paged = many && job.due_ms == 0 && !job.payload.by_value;
        positions_[job.key] = job.position();
        if (job.paged) rows_.pages.set(job.key, job.position());
    }
    // The last job of a lifo queue has the first rank.
    sort_stably(jobs, [](const Job& a, const Job& b) { return a.rank < b.rank; });
    rows_.put_all(jobs);
}

/// Lets the request join the job at `position`. Returns false if that job does not have the key. If
/// jobs are claimed together, no other tab knows which of them runs or has ended. Each of them
/// therefore takes the new payload, and if it is the one that runs, nothing of that run counts.
Task<bool> JobIntake::join(QueueRequest& request, std::string position) {
    const auto found = co_await rows_.find(request.spec.key, std::move(position));
    if (!found) co_return false;
    const auto& former = found->job();
    auto job = former;
    const auto& tab = rows_.context.tab;
    const bool waits = std::find(job.tabs.begin(), job.tabs.end(), tab) != job.tabs.end();
    if (request.awaited && !waits && job.tabs.size() < tabs_max) job.tabs.push_back(tab);
    if (!claimed_) co_await read_claimed();
    const auto claim = claimed_->find(found->row.front().id);
    const bool claimed = claim != claimed_->end();
    if (claimed) ++rows_.head.edits;
    // A job that was moved after it was claimed is not the one that runs.
    if (claimed && found->row.size() == 1 && claim->second == former.position()) {
        rows_.put(job);
    } else if (const auto refusal = rows_.refusal_of_kind(request.spec.kind)) {
        request.refusal = refusal;
        co_return true;
    } else {
        renew(job, request.spec);
        co_await rows_.extract(*found);
        if (found->row.size() > 1) claimed_.reset();  // the slot has claimed other rows
        rows_.move(former, job);
        positions_[job.key] = job.position();
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

/// The job takes what is asked for now, and moves to the front.
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
    job.paged = false;
    job.delay_ms = static_cast<std::int64_t>(spec.delay_ms);
    job.due_ms = job.delay_ms > 0 ? rows_.now_ms() + job.delay_ms : 0;
    job.optional = job.optional && spec.optional;
    job.at_most_once = job.at_most_once || spec.at_most_once;
}

}  // namespace tabacus
