#include "job_lists.hpp"

#include <algorithm>

#include "protocol/common/next_key.hpp"
#include "protocol/common/stable_sort.hpp"

namespace tabacus {
namespace {

/// How many rows of each kind are read at once.
constexpr std::uint32_t listed_rows = 64;
/// How many places are remembered.
constexpr std::size_t places_max = 16;

// Places are compared as texts. The running jobs come first. Then come the queued jobs, in the
// order of the priority and rank in the keys of their rows, and then the delayed jobs, in the order
// of the keys of their rows.
constexpr std::string_view running_place = "0";
constexpr std::string_view queued_place = "1";
constexpr std::string_view delayed_place = "2";

std::string order_of_job(const Job& job) {
    auto runs = job;
    runs.due_ms = 0;
    return std::string(order_of(runs.position()));
}

/// Returns the rest of the place if it begins with `part`; otherwise an empty text.
std::string_view within(std::string_view part, std::string_view place) {
    return place.starts_with(part) ? place.substr(part.size()) : std::string_view();
}

/// The failure of a list that is to begin behind a job that does not exist.
Error unknown_job(std::string_view id) {
    return {
        ErrorCode::invalid_argument,
        concat(
            {"after must be the id of a job in the list, or of the last job of an earlier list of "
             "this tab, not ",
             id})};
}

bool precedes(const ListedJob& a, const ListedJob& b) { return a.place < b.place; }

}  // namespace

/// Reads the head, and the jobs that run.
Task<void> JobLists::Reading::begin() {
    const auto row = co_await rows.transaction.get(Store::jobs, rows.key("h"));
    auto head = row ? parse_queue_head(row->value) : std::nullopt;
    if (!head) head = co_await rows.counted({});
    rows.head = std::move(*head);
    const auto slots = co_await rows.read_slots();
    for (const auto& slot : slots) {
        if (slot.entries.empty()) continue;
        // The jobs behind the first one wait for it.
        const auto& entry = slot.entries.front();
        const auto found = co_await rows.transaction.get(Store::jobs, rows.key(entry.position));
        auto jobs = found ? parse_jobs(found->value) : std::vector<Job>();
        if (jobs.empty() || jobs.front().id != entry.id) continue;
        auto place = concat({running_place, order_of_job(jobs.front())});
        running.push_back({std::move(place), std::move(jobs.front()), JobInfo::State::running});
        running.back().tab = slot.tab;
    }
    sort_stably(running, precedes);
}

/// Returns jobs behind the place, in their order: none if no job is behind it.
Task<std::vector<ListedJob>> JobLists::Reading::next(std::string place) {
    std::vector<ListedJob> listed;
    for (const auto& job : running) {
        if (job.place > place) listed.push_back(job);
    }
    if (listed.empty() && place < delayed_place) listed = co_await next_queued(place);
    if (!listed.empty()) co_return listed;
    const auto prefix = rows.key("w/");
    const auto order = within(delayed_place, place);
    const auto from = order.empty() ? prefix : next_key(concat({prefix, order}));
    const auto found = co_await rows.transaction.list(Store::jobs, prefix, listed_rows, from);
    for (const auto& row : found) {
        for (auto& job : parse_jobs(row.value)) {
            auto at = concat({delayed_place, std::string_view(row.key).substr(prefix.size())});
            listed.push_back({std::move(at), std::move(job), JobInfo::State::delayed});
        }
    }
    co_return listed;
}

/// Returns the first jobs behind the place that may run and do not run.
Task<std::vector<ListedJob>> JobLists::Reading::next_queued(std::string place) {
    const std::string order(within(queued_place, place));
    std::vector<Async<std::vector<Row>>> reads;
    for (const auto& kind : rows.head.kinds) {
        const auto prefix = rows.key(kind_prefix(kind.name));
        const auto from = order.empty() ? prefix : next_key(concat({prefix, order}));
        reads.push_back(rows.transaction.list(Store::jobs, prefix, listed_rows, from));
    }
    std::vector<ListedJob> listed;
    std::string horizon;  // if not empty: behind it, a kind may have rows that were not read yet
    for (auto& read : reads) {
        const auto found = co_await std::move(read);
        for (const auto& row : found) {
            for (auto& job : parse_jobs(row.value)) {
                auto at = concat({queued_place, order_of_job(job)});
                if (at <= place || runs(job.id)) continue;
                listed.push_back({std::move(at), std::move(job)});
            }
        }
        if (found.size() < listed_rows) continue;
        const std::string_view key = found.back().key;
        const auto last = concat({queued_place, key.substr(key.rfind('/') + 1)});
        if (horizon.empty() || last < horizon) horizon = last;
    }
    if (!horizon.empty()) {
        std::erase_if(listed, [&](const ListedJob& job) { return job.place > horizon; });
        if (listed.empty()) co_return co_await next_queued(horizon);
    }
    sort_stably(listed, precedes);
    co_return listed;
}

bool JobLists::Reading::runs(const std::string& id) const {
    return std::any_of(running.begin(), running.end(),
                       [&](const ListedJob& other) { return other.job.id == id; });
}

void JobLists::Places::remember(const std::string& id, std::string place) {
    forget(id);
    if (places_.size() == places_max) places_.erase(places_.begin());
    places_.emplace_back(id, std::move(place));
}

void JobLists::Places::forget(const std::string& id) {
    std::erase_if(places_, [&](const auto& known) { return known.first == id; });
}

std::string JobLists::Places::find(const std::string& id) const {
    for (const auto& [known, place] : places_) {
        if (known == id) return place;
    }
    return {};
}

Task<std::vector<JobInfo>> JobLists::list(JobRange range) {
    if (open_.closed) co_await fail(queue_closed());
    constexpr Stores scope{Store::jobs, Store::data};
    const auto transaction = co_await open_.begin_read(scope);
    QueueChanges changes;
    Reading reading{open_.rows(*transaction, changes)};
    co_await reading.begin();
    std::string place;
    if (!range.after.empty()) place = co_await place_of(reading, range.after);
    std::vector<JobInfo> infos;
    for (bool more = true; more;) {
        auto listed = co_await reading.next(place);
        more = !listed.empty();
        for (auto& one : listed) {
            if (range.limit > 0 && infos.size() == static_cast<std::size_t>(range.limit))
                more = false;
            if (!more) break;
            co_await reading.rows.read_value(one.job);
            infos.push_back(info_of(one.job, one.state));
            infos.back().tab = one.tab;
            place = std::move(one.place);
        }
    }
    if (!infos.empty()) places_.remember(infos.back().id, std::move(place));
    co_return infos;
}

/// Returns the place of the job. Searches the queue if the place is not remembered.
Task<std::string> JobLists::place_of(Reading& reading, std::string id) {
    auto place = places_.find(id);
    if (!place.empty()) co_return place;
    for (;;) {
        const auto listed = co_await reading.next(place);
        if (listed.empty()) co_await fail(unknown_job(id));
        for (const auto& one : listed) {
            if (one.job.id == id) co_return one.place;
        }
        place = listed.back().place;
    }
}

Task<std::vector<JobInfo>> JobLists::list_dead(JobRange range) {
    if (open_.closed) co_await fail(queue_closed());
    constexpr Stores scope{Store::jobs, Store::data};
    const auto transaction = co_await open_.begin_read(scope);
    QueueChanges changes;
    auto rows = open_.rows(*transaction, changes);
    auto place = dead_places_.find(range.after);
    if (place.empty() && !range.after.empty()) {
        const auto row =
            co_await transaction->get(Store::jobs, rows.key(concat({"d/", range.after})));
        const auto job = row ? parse_job(row->value) : std::nullopt;
        if (!job) co_await fail(unknown_job(range.after));
        place = job->position();
    }
    std::vector<ListedJob> first;
    const auto keep = [&](std::size_t count) {
        sort_stably(first, precedes);
        if (first.size() > count)
            first.erase(first.begin() + static_cast<std::ptrdiff_t>(count), first.end());
    };
    const std::size_t most = range.limit > 0 ? static_cast<std::size_t>(range.limit) : SIZE_MAX / 2;
    co_await rows.each_row("d/", [&](const Row& row) {
        auto job = parse_job(row.value);
        if (!job || job->position() <= place) return;
        auto at = job->position();  // by the time when the job became a dead letter
        first.push_back({std::move(at), std::move(*job), JobInfo::State::dead});
        if (first.size() > 2 * most) keep(most);
    });
    keep(most);
    std::vector<JobInfo> infos;
    for (auto& one : first) {
        co_await rows.read_value(one.job);
        infos.push_back(info_of(one.job, one.state));
    }
    if (!infos.empty()) dead_places_.remember(infos.back().id, std::move(first.back().place));
    co_return infos;
}

Task<std::vector<JobInfo>> JobLists::list_running() {
    if (open_.closed) co_await fail(queue_closed());
    const auto transaction = co_await open_.begin_read({Store::jobs});
    QueueChanges changes;
    Reading reading{open_.rows(*transaction, changes)};
    co_await reading.begin();
    std::vector<JobInfo> infos;
    for (const auto& one : reading.running) {
        infos.push_back(info_of(one.job, one.state));
        infos.back().tab = one.tab;
    }
    co_return infos;
}

Task<std::vector<JobInfo>> JobLists::jobs(JobRange range) {
    return read_again(open_.context.world, [this, range] { return list(range); });
}

Task<std::vector<JobInfo>> JobLists::running() {
    return read_again(open_.context.world, [this] { return list_running(); });
}

Task<std::vector<JobInfo>> JobLists::dead_letters(JobRange range) {
    return read_again(open_.context.world, [this, range] { return list_dead(range); });
}

Task<std::int64_t> JobLists::read_count() {
    return read_again(open_.context.world, [this] { return read_head(); });
}

Task<std::int64_t> JobLists::read_head() {
    if (open_.closed) co_await fail(queue_closed());
    constexpr Stores scope{Store::jobs};
    std::optional<QueueHead> head;
    {
        const auto transaction = co_await open_.begin_read(scope);
        const auto row = co_await transaction->get(Store::jobs, open_.row_key("h"));
        if (row) head = parse_queue_head(row->value);
    }
    if (head) {
        news_.note(head->version, head->count);
        status_.paused = head->paused != QueueHead::Paused::no;
    }
    co_return head ? head->count : 0;
}

}  // namespace tabacus
