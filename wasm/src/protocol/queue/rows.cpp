#include "rows.hpp"

#include <algorithm>
#include <cmath>

#include "kind_limits.hpp"
#include "protocol/common/concat.hpp"
#include "protocol/common/names.hpp"
#include "protocol/common/next_key.hpp"
#include "protocol/common/record.hpp"

namespace tabacus {
namespace {

/// The longest wait for the next attempt.
constexpr double back_off_max_ms = 3'600'000;
/// How many delayed jobs that are due one transaction moves to those that may run.
constexpr std::uint32_t promoted_max = 64;
/// How many rows each_row() reads at once.
constexpr std::uint32_t piece_rows = 256;

std::string lost_error() {
    return R"({"name":"TabacusError","message":"the worker of the job was lost","code":"lost-worker"})";
}

/// Removes the row of the job's key. done() does not, because a follower that its transaction has
/// enqueued may have written that row already. All other jobs that end have no followers.
void free_key(const QueueRows& rows, const Job& job) {
    if (!job.key.empty()) rows.transaction.remove(Store::jobs, rows.index_key(job.key));
}

/// Whether a worker of an older version has claimed jobs.
[[maybe_unused]] Task<bool> has_older_claim(const QueueRows& rows) {
    const auto slots = co_await rows.transaction.list(Store::jobs, rows.key("s/"));
    co_return std::ranges::any_of(slots, [](const Row& row) {
        const auto slot = parse_slot_row(row.value);
        return slot && !slot->entries.empty() && is_older(row.value);
    });
}

}  // namespace

void QueueChanges::add(QueueEvent::Kind kind, std::initializer_list<std::string_view> fields) {
    auto& all = fields_of(kind);
    for (const auto field : fields) all.emplace_back(field);
}

void QueueChanges::add_all(std::vector<QueueEvent> more) {
    for (auto& event : more) {
        auto& all = fields_of(event.kind);
        std::move(event.fields.begin(), event.fields.end(), std::back_inserter(all));
    }
}

void QueueChanges::add_running(const Job& job) {
    add(QueueEvent::Kind::running, {job.id, job.key, job.kind, format_decimal(job.attempts + 1)});
}

void QueueChanges::end_running(int slot) { events.back().fields.push_back(format_decimal(slot)); }

std::vector<std::string>& QueueChanges::fields_of(QueueEvent::Kind kind) {
    if (events.empty() || events.back().kind != kind ||
        events.back().fields.size() >= event_fields_max) {
        events.push_back({kind, "", 0, 0, {}});
    }
    return events.back().fields;
}

std::string queue_value_key(std::string_view row_key) {
    return concat({"tabacus%2Fqueue/", row_key});
}

std::string queue_value_key(const std::string& queue, std::string_view rest) {
    return queue_value_key(concat({queue, "/", rest}));
}

std::string QueueRows::key(std::string_view rest) const { return concat({queue, "/", rest}); }

std::string QueueRows::index_key(std::string_view of) const {
    return key(concat({"k/", escaped(of)}));
}

std::int64_t QueueRows::now_ms() {
    // The least is 1, because 0 means that a job does not wait.
    if (began_ms == 0) {
        const auto clock_ms = context.world.clock().now_ms();
        began_ms = static_cast<std::int64_t>(std::clamp(clock_ms, 1.0, 0x1p51));
    }
    return began_ms;
}

std::int64_t QueueRows::due_ms(std::int64_t delay_ms) const {
    return static_cast<std::int64_t>(std::clamp(context.steady_ms(), 1.0, 0x1p51)) + delay_ms;
}

// --- The head -----------------------------------------------------------------------------------

Task<void> QueueRows::read_head() {
    const auto row = co_await transaction.get(Store::jobs, key("h"));
    if constexpr (has_earlier_formats) {
        // A head in the format of this program is not readable for older ones, which then claim
        // nothing.
        const bool own = row && row->value.starts_with(record_start);
        if (!own) older_claim = co_await has_older_claim(*this);
    }
    auto parsed = row ? parse_queue_head(row->value) : std::nullopt;
    if (parsed) {
        head = std::move(*parsed);
    } else {
        co_await make_head(row ? &*row : nullptr);
    }
}

/// Makes a head. Counts the rows, because there may be jobs if the head could not be read.
Task<void> QueueRows::make_head(const Row* unreadable) {
    if (unreadable) quarantine(*unreadable);
    head.born = identifier_of(context.world.random().bits());
    // This is above the versions of a lost database, because a head is not written 1000 times in a
    // millisecond.
    head.version = std::min(now_ms(), value_max / 4000) * 1000;
    head = co_await counted(std::move(head));
}

Task<QueueHead> QueueRows::counted(QueueHead of) const {
    of.count = of.delayed = 0;
    for (const std::string_view part : {"r/", "w/"}) {
        co_await each_row(part, [&of](const Row& row) {
            const auto jobs = parse_jobs(row.value);
            if (jobs.empty()) return;
            of.count += static_cast<std::int64_t>(jobs.size());
            of.delayed += jobs.front().due_ms > 0 ? 1 : 0;
            of.front = std::min(of.front, jobs.front().rank);
            of.back = std::max(of.back, jobs.back().rank + 1);
            if (!of.kind(jobs.front().kind)) of.kinds.push_back({jobs.front().kind});
        });
    }
    co_return of;
}

Task<void> QueueRows::each_row(std::string_view part, Function<void(const Row&)> visit) const {
    const auto prefix = key(part);
    auto from = prefix;
    for (;;) {
        const auto rows = co_await transaction.list(Store::jobs, prefix, piece_rows, from);
        for (const auto& row : rows) visit(row);
        if (rows.size() < piece_rows) co_return;
        from = next_key(rows.back().key);
    }
}

Task<void> QueueRows::write_head() {
    if (spoilt) head = co_await counted(std::move(head));
    ++head.version;
    put_record(*this, key("h"), format_queue_head(head));
    stamp_events();
}

void QueueRows::prove() {
    transaction.put(Store::jobs, key("commit"), identifier_of(context.world.random().bits()));
}

void QueueRows::stamp_events() {
    for (auto& event : changes.events) {
        event.tab = context.tab;
        event.version = head.version;
        event.count = head.count;
    }
}

void QueueRows::quarantine(const Row& row) {
    transaction.put(Store::quarantine, concat({"jobs/", row.key}), row.text());
    transaction.remove(Store::jobs, row.key);
    context.on_notice({Notice::Kind::warning, "corrupt-record",
                       "A record that cannot be read was set aside; all others count.",
                       concat({"jobs ", row.key}), "", 0});
}

// --- Jobs ---------------------------------------------------------------------------------------

std::vector<Job> QueueRows::jobs_of(const Row& row) {
    auto jobs = parse_jobs(row.value);
    if (!jobs.empty() && key(jobs.back().position()) == row.key) return jobs;
    quarantine(row);
    touched = spoilt = true;
    return {};
}

std::optional<Job> QueueRows::job_of(const Row& row) {
    auto jobs = jobs_of(row);
    if (jobs.size() != 1) return std::nullopt;
    return std::move(jobs.front());
}

Task<void> QueueRows::read_value(Job& job) {
    if (!job.payload.by_value) co_return;
    auto row =
        co_await transaction.get(Store::data, queue_value_key(queue, concat({"p/", job.id})));
    if (row && !row->foreign) job.payload.text = std::move(row->value);
}

void QueueRows::put(std::span<const Job> batch) {
    const auto& last = batch.back();
    const auto position = last.position();
    put_record(*this, key(position), format_jobs(batch));
    if (auto* const kind = head.kind(last.kind); kind && last.due_ms == 0) {
        kind->first = std::min(kind->first, position.substr(position.size() - order_digits));
    } else if (!kind) {
        KindLimits(*this).admit(last.kind);
    }
    if (!last.key.empty()) {
        transaction.put(Store::jobs, index_key(last.key), position);
    }
    touched = true;
}

void QueueRows::put_all(std::span<const Job> jobs) {
    while (!jobs.empty()) {
        const auto count = batch_of(jobs);
        put(jobs.first(count));
        jobs = jobs.subspan(count);
    }
}

void QueueRows::take(std::string_view position) {
    transaction.remove(Store::jobs, key(position));
    touched = true;
}

void QueueRows::move(const Job& from, const Job& to) {
    head.delayed += (to.due_ms > 0 ? 1 : 0) - (from.due_ms > 0 ? 1 : 0);
    put(to);
}

/// Removes what belongs to the job beside its row and that of its key, and no longer counts the job.
void QueueRows::forget(const Job& job, bool keep_payload) {
    if (job.payload.by_value && !keep_payload) {
        transaction.remove(Store::data, queue_value_key(queue, concat({"p/", job.id})));
    }
    if (job.due_ms > 0) --head.delayed;
    head.count = std::max<std::int64_t>(head.count - 1, 0);
    touched = true;
}

/// Reports the outcome to the tabs that wait for the job. Other tabs find it in the store, even if
/// messages are lost.
void QueueRows::report_outcome(const Job& job, const JobOutcome& outcome) {
    for (const auto& tab : job.tabs) {
        if (tab == context.tab) {
            changes.outcomes.emplace_back(job.id, JobOutcome{outcome.kind, outcome.value, {}});
            continue;
        }
        const auto rest = concat({"o/", tab, "/", job.id});
        put_record(*this, key(rest), format_outcome_row({now_ms(), outcome.kind, outcome.value}));
        if (outcome.value.by_value) {
            transaction.put(Store::data, queue_value_key(queue, rest), outcome.value.text);
        }
    }
}

void QueueRows::done(const Job& job, const JobOutcome& outcome) {
    forget(job, false);
    report_outcome(job, outcome);
    changes.add(QueueEvent::Kind::done, {job.id, job.key, job.kind});
}

void QueueRows::make_dead_letter(Job job, std::string_view error) {
    free_key(*this, job);
    forget(job, true);
    job.due_ms = now_ms();
    job.error = error;
    report_outcome(job, {JobOutcome::Kind::failed, {job.error, false}, {}});
    changes.add(QueueEvent::Kind::failed, {job.id, job.key, job.kind, error, "dead"});
    job.tabs.clear();
    put_record(*this, key(concat({"d/", job.id})), format_job(job));
}

void QueueRows::failed(Job job, const JobOutcome& outcome) {
    const auto& error = outcome.value.text;
    if (job.optional) {
        free_key(*this, job);
        forget(job, false);
        report_outcome(job, outcome);
        changes.add(QueueEvent::Kind::failed, {job.id, job.key, job.kind, error, "dropped"});
        return;
    }
    const auto before = job;
    ++job.attempts;
    if (options.pause_on_failure && head.paused == QueueHead::Paused::no) {
        head.paused = QueueHead::Paused::by_failure;
    }
    const bool last = options.attempts > 0 && job.attempts >= options.attempts;
    if (last || job.at_most_once) {
        auto dead = before;
        dead.attempts = job.attempts;
        make_dead_letter(std::move(dead), error);
    } else {
        job.error = error;
        if (!options.pause_on_failure) {
            const auto doubled = options.back_off_ms * std::exp2(std::min(job.attempts - 1, 30));
            // Half of the delay is random, so that jobs that failed together are not tried
            // together.
            const auto random = static_cast<double>(context.world.random().bits() >> 11U) * 0x1p-53;
            job.delay_ms =
                static_cast<std::int64_t>(std::min(doubled, back_off_max_ms) * (0.5 + random / 2));
            job.due_ms = due_ms(job.delay_ms);
        }
        // The job keeps its position, which may lie between jobs that its slot has not settled.
        if (job.due_ms == 0) ++head.edits;
        move(before, job);
        changes.add(QueueEvent::Kind::failed, {job.id, job.key, job.kind, error, "again"});
    }
    if (head.paused == QueueHead::Paused::by_failure) {
        changes.add(QueueEvent::Kind::paused, {"failure"});
    }
}

void QueueRows::give_back(std::vector<Job> batch, bool unchanged) {
    const auto& last = batch.back();
    unchanged = unchanged && !last.at_most_once;
    for (auto& job : batch) job.lost_workers += unchanged ? 0 : 1;
    if (last.at_most_once || last.lost_workers >= lost_workers_max) {
        take(last.position());
        for (auto& job : batch) make_dead_letter(std::move(job), lost_error());
        return;
    }
    if (!unchanged) put(batch);
    for (const auto& job : batch) {
        changes.add(QueueEvent::Kind::returned, {job.id, job.key, job.kind});
    }
}

void QueueRows::cancel(const Job& job) {
    free_key(*this, job);
    forget(job, false);
    ++head.edits;
    report_outcome(job, {JobOutcome::Kind::cancelled, {}, {}});
    changes.add(QueueEvent::Kind::cancelled, {job.id, job.key, job.kind});
}

Task<std::optional<double>> QueueRows::promote() {
    const auto rows = co_await transaction.list(Store::jobs, key("w/"), promoted_max);
    const auto now = due_ms(0);
    for (const auto& row : rows) {
        const auto job = job_of(row);
        if (!job) continue;
        // If a job has longer to wait than its whole delay, the clock was set back: it may run.
        if (job->due_ms > now && job->due_ms - now <= job->delay_ms) {
            co_return static_cast<double>(job->due_ms);
        }
        auto ready = *job;
        ready.due_ms = 0;
        ++head.edits;  // it may come between jobs that are claimed
        take(job->position());
        move(*job, ready);
    }
    // More jobs may be due. The next transaction moves them, without a wait.
    if (rows.size() == promoted_max) co_return static_cast<double>(now);
    co_return std::nullopt;
}

Task<std::vector<SlotRow>> QueueRows::read_slots() {
    std::vector<SlotRow> slots;
    const auto rows = co_await transaction.list(Store::jobs, key("s/"));
    for (const auto& row : rows) {
        if (auto slot = parse_slot_row(row.value)) slots.push_back(std::move(*slot));
    }
    co_return slots;
}

// --- Limits -------------------------------------------------------------------------------------

std::optional<Error> QueueRows::refusal_of(const std::string& kind) {
    if (options.limit > 0 && head.count >= options.limit) {
        return Error(ErrorCode::queue_full,
                     "the queue is full: its limit is " + format_decimal(options.limit));
    }
    return KindLimits(*this).refusal_of(kind);
}

}  // namespace tabacus
