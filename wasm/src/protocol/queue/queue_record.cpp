#include "queue_record.hpp"

#include <algorithm>
#include <tuple>

#include "protocol/common/concat.hpp"
#include "protocol/common/names.hpp"
#include "protocol/common/record.hpp"

namespace tabacus {
namespace {

/// More fields than any record has. A longer text is not parsed, to save memory.
constexpr std::size_t queue_fields_max = 8192;

/// The number of digits of a time in a key, so that the keys are in the order of the times.
constexpr std::size_t key_digits = 16;
/// Ranks are less than this, and greater than its negative. In keys it is added to them, so that
/// they are not negative.
constexpr std::int64_t rank_middle = value_max / 2;

std::string padded(std::int64_t number, std::size_t digits) {
    auto text = format_decimal(number);
    text.insert(0, digits > text.size() ? digits - text.size() : 0, '0');
    return text;
}

/// Takes fields off the front of a text, and remembers whether one of them was invalid.
class QueueFields {
  public:
    explicit QueueFields(std::string_view text)
        : rest_(text), good_(version_of(text) == RecordVersion::readable) {
        next();
    }

    [[nodiscard]] bool good() const { return good_; }
    [[nodiscard]] bool ended() const { return ended_; }
    [[nodiscard]] std::string_view rest() const { return rest_; }

    std::string_view next() {
        if (ended_) {
            good_ = false;
            return {};
        }
        const auto end = rest_.find(record_separator);
        const auto field = rest_.substr(0, end);
        ended_ = end == std::string_view::npos;
        rest_.remove_prefix(ended_ ? rest_.size() : end + 1);
        return field;
    }
    std::int64_t number(std::int64_t min, std::int64_t max) {
        const auto value = parse_decimal(next(), min, max);
        good_ = good_ && value;
        return value.value_or(0);
    }
    std::int64_t count() { return number(0, value_max); }
    std::string text() {
        auto value = unescaped(next());
        good_ = good_ && value;
        return value ? std::move(*value) : std::string();
    }
    std::string identifier() {
        const auto field = next();
        good_ = good_ && is_identifier(field);
        return std::string(field);
    }
    char letter(std::string_view allowed) {
        const auto field = next();
        good_ = good_ && field.size() == 1 && allowed.find(field[0]) != std::string_view::npos;
        return good_ ? field[0] : allowed[0];
    }
    /// Takes "length;" and as many bytes as that.
    std::optional<std::string_view> counted() {
        const auto size = number(0, static_cast<std::int64_t>(rest_.size()));
        if (!good_ || ended_ || static_cast<std::size_t>(size) > rest_.size()) return std::nullopt;
        const auto bytes = rest_.substr(0, static_cast<std::size_t>(size));
        rest_.remove_prefix(bytes.size());
        return bytes;
    }
    std::vector<std::string> texts() {
        std::vector<std::string> all;
        while (!ended_ && good_ && all.size() < queue_fields_max) all.push_back(text());
        return all;
    }

  private:
    std::string_view rest_;
    bool ended_ = false;
    bool good_;
};

class Format {
  public:
    Format& raw(std::string_view field) {
        (text_ += record_separator) += field;
        return *this;
    }
    Format& text(std::string_view field) { return raw(escaped(field)); }
    Format& number(std::int64_t field) { return raw(format_decimal(field)); }
    Format& letter(char field) { return raw(std::string_view(&field, 1)); }
    std::string take() { return std::move(text_); }

  private:
    std::string text_ = std::string(record_version);
};

std::string joined_tabs(const std::vector<std::string>& tabs) {
    std::string text;
    for (const auto& tab : tabs) (text += text.empty() ? "" : ",") += tab;
    return text;
}

std::optional<std::vector<std::string>> split_tabs(std::string_view text) {
    std::vector<std::string> tabs;
    while (!text.empty()) {
        const auto end = text.find(',');
        const auto tab = text.substr(0, end);
        if (!is_identifier(tab)) return std::nullopt;
        tabs.emplace_back(tab);
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
        if (text.empty()) return std::nullopt;
    }
    return tabs;
}

/// The parts of a job's id, "born-serial".
struct JobId {
    std::string_view born;
    std::int64_t serial = 0;
};

std::optional<JobId> parse_job_id(std::string_view id) {
    const auto dash = id.find('-');
    if (dash == std::string_view::npos || !is_identifier(id.substr(0, dash))) return std::nullopt;
    const auto serial = parse_decimal(id.substr(dash + 1), 1, value_max);
    return serial ? std::optional<JobId>({id.substr(0, dash), *serial}) : std::nullopt;
}

/// Returns 1 or -1, by which the serials of a batch that begins with these two jobs rise. Returns 0
/// if the jobs cannot share a row.
int batch_step(const Job& first, const Job& second) {
    const auto alike = [](const Job& job) {
        return std::tie(job.kind, job.priority, job.optional, job.at_most_once, job.attempts,
                        job.lost_workers, job.delay_ms, job.enqueued_ms, job.tabs, job.error);
    };
    const auto can_be = [](const Job& job) {
        return job.key.empty() && job.due_ms == 0 && !job.payload.by_value;
    };
    const auto one = parse_job_id(first.id);
    const auto other = parse_job_id(second.id);
    if (!one || !other || one->born != other->born || first.rank + 1 != second.rank) return 0;
    if (!can_be(first) || !can_be(second) || alike(first) != alike(second)) return 0;
    const auto rise = other->serial - one->serial;
    return rise == 1 || rise == -1 ? static_cast<int>(rise) : 0;
}

/// Adds all fields of a job except its payload.
void add_head(Format& format, const Job& job) {
    const int flags =
        (job.optional ? 1 : 0) | (job.at_most_once ? 2 : 0) | (job.payload.by_value ? 4 : 0);
    format.raw(job.id).text(job.key).text(job.kind).number(job.priority).number(job.rank);
    format.number(flags).number(job.attempts).number(job.lost_workers).number(job.due_ms);
    format.number(job.delay_ms).number(job.enqueued_ms).raw(joined_tabs(job.tabs));
    format.text(job.error);
}

std::optional<Job> take_head(QueueFields& fields) {
    Job job;
    job.id = fields.next();
    job.key = fields.text();
    job.kind = fields.text();
    job.priority = static_cast<int>(fields.number(-priority_max, priority_max));
    job.rank = fields.number(-rank_middle + 1, rank_middle - 1);
    const auto flags = fields.number(0, 7);
    job.optional = flags % 2 == 1;
    job.at_most_once = flags / 2 % 2 == 1;
    job.payload.by_value = flags / 4 == 1;
    job.attempts = static_cast<int>(fields.number(0, INT32_MAX));
    job.lost_workers = static_cast<int>(fields.number(0, INT32_MAX));
    job.due_ms = fields.count();
    job.delay_ms = fields.count();
    job.enqueued_ms = fields.count();
    auto tabs = split_tabs(fields.next());
    job.error = fields.text();
    if (!fields.good() || fields.ended() || !tabs || !parse_job_id(job.id)) return std::nullopt;
    job.tabs = std::move(*tabs);
    return job;
}

std::vector<Job> parse_batch(QueueFields fields) {
    constexpr std::int64_t most = batch_jobs_max;
    const auto count = fields.number(-most, most);
    const int step = count < 0 ? -1 : 1;
    if (!fields.good() || count * step < 2) return {};
    const auto head = take_head(fields);
    std::vector<Job> batch;
    if (!head) return batch;
    const auto id = *parse_job_id(head->id);
    for (std::int64_t i = 0; i < count * step; ++i) {
        Job job = *head;
        job.rank += i;
        const auto serial = id.serial + i * step;
        if (i > 0) job.id = concat({id.born, "-", format_decimal(serial)});
        const auto payload = fields.counted();
        if (!payload || serial < 1 || serial > value_max || job.rank >= rank_middle) return {};
        job.payload.text = *payload;
        batch.push_back(std::move(job));
    }
    if (!fields.rest().empty() || batch_step(batch[0], batch[1]) != step) return {};
    return batch;
}

}  // namespace

std::string kind_prefix(std::string_view kind) { return concat({"r/", escaped(kind), "/"}); }

std::string Job::position() const {
    if (due_ms > 0) return concat({"w/", padded(due_ms, key_digits), "/", id});
    return concat({kind_prefix(kind), padded(priority_max - priority, order_digits - rank_digits),
                   padded(rank_middle + rank, rank_digits)});
}

bool is_order(std::string_view text) {
    return text.size() == order_digits &&
           text.find_first_not_of("0123456789") == std::string_view::npos;
}

QueueHead::Kind* QueueHead::kind(std::string_view name) {
    const auto found = std::find_if(kinds.begin(), kinds.end(),
                                    [name](const Kind& known) { return known.name == name; });
    return found == kinds.end() ? nullptr : &*found;
}

std::string format_queue_head(const QueueHead& head) {
    Format format;
    format.raw(head.born)
        .number(head.version)
        .number(head.serial)
        .number(head.front)
        .number(head.back);
    format.number(head.count).number(head.delayed).number(head.edits);
    format.letter(static_cast<char>(head.paused));
    for (const auto& kind : head.kinds) format.text(kind.name).raw(kind.first);
    return format.take();
}

std::optional<QueueHead> parse_queue_head(std::string_view text) {
    QueueFields fields(text);
    QueueHead head;
    head.born = fields.identifier();
    head.version = fields.count();
    head.serial = fields.count();
    head.front = fields.number(-rank_middle + 1, 0);
    head.back = fields.number(0, rank_middle - 1);
    head.count = fields.count();
    head.delayed = fields.count();
    head.edits = fields.count();
    head.paused = static_cast<QueueHead::Paused>(fields.letter("nuf"));
    while (!fields.ended() && fields.good() && head.kinds.size() <= kinds_max) {
        auto name = fields.text();
        const auto first = fields.next();
        if (!first.empty() && !is_order(first)) return std::nullopt;
        head.kinds.push_back({std::move(name), std::string(first)});
    }
    if (!fields.good() || !fields.ended() || head.kinds.size() > kinds_max) return std::nullopt;
    return head;
}

std::string format_job(const Job& job) {
    Format format;
    add_head(format, job);
    format.raw(job.payload.by_value ? "" : job.payload.text);
    return format.take();
}

std::optional<Job> parse_job(std::string_view text) {
    QueueFields fields(text);
    auto job = take_head(fields);
    if (!job || (job->payload.by_value && !fields.rest().empty())) return std::nullopt;
    job->payload.text = fields.rest();
    return job;
}

std::size_t batch_of(std::span<const Job> jobs) {
    if (jobs.size() < 2) return jobs.size();
    const int step = batch_step(jobs[0], jobs[1]);
    std::size_t bytes = 0;
    std::size_t count = 1;
    for (; count < std::min(jobs.size(), batch_jobs_max); ++count) {
        bytes += jobs[count].payload.text.size();
        if (step == 0 || batch_step(jobs[count - 1], jobs[count]) != step) break;
        if (bytes > batch_bytes_max) break;
    }
    return count;
}

std::string format_jobs(std::span<const Job> batch) {
    if (batch.size() == 1) return format_job(batch.front());
    Format format;
    const auto count = static_cast<std::int64_t>(batch.size());
    format.number(count * batch_step(batch[0], batch[1]));
    add_head(format, batch.front());
    auto text = format.raw("").take();
    for (const auto& job : batch) {
        text += format_decimal(static_cast<std::int64_t>(job.payload.text.size()));
        (text += record_separator) += job.payload.text;
    }
    return text;
}

std::vector<Job> parse_jobs(std::string_view text) {
    auto jobs = parse_batch(QueueFields(text));
    if (!jobs.empty()) return jobs;
    if (auto job = parse_job(text)) jobs.push_back(std::move(*job));
    return jobs;
}

std::string format_slot_row(const SlotRow& row) {
    Format format;
    format.raw(row.turn).raw(row.tab);
    for (const auto& entry : row.entries) format.raw(entry.position).raw(entry.id);
    return format.take();
}

bool is_job_position(std::string_view position) {
    return position.starts_with("r/") || position.starts_with("w/");
}

std::optional<SlotRow> parse_slot_row(std::string_view text) {
    QueueFields fields(text);
    SlotRow row;
    row.turn = fields.identifier();
    row.tab = fields.identifier();
    while (fields.good() && !fields.ended() && row.entries.size() < queue_fields_max) {
        SlotRow::RowReference entry{std::string(fields.next()), std::string(fields.next())};
        if (!fields.good() || !is_job_position(entry.position) || !parse_job_id(entry.id)) {
            return std::nullopt;
        }
        row.entries.push_back(std::move(entry));
    }
    if (!fields.good() || !fields.ended()) return std::nullopt;
    return row;
}

std::string format_exit(std::string_view turn, std::string_view next_turn) {
    return concat({turn, ";", next_turn});
}

bool exit_names_turn(std::string_view exit, std::string_view turn) {
    const auto end = exit.find(';');
    return !turn.empty() && end != std::string_view::npos &&
           (exit.substr(0, end) == turn || exit.substr(end + 1) == turn);
}

std::string format_outcome_row(const OutcomeRow& row) {
    Format format;
    format.number(row.settled_ms).letter(static_cast<char>(row.kind));
    format.number(row.value.by_value ? 1 : 0).raw(row.value.by_value ? "" : row.value.text);
    return format.take();
}

std::optional<OutcomeRow> parse_outcome_row(std::string_view text) {
    QueueFields fields(text);
    OutcomeRow row;
    row.settled_ms = fields.count();
    row.kind = static_cast<JobOutcome::Kind>(fields.letter("sfx"));
    row.value.by_value = fields.number(0, 1) == 1;
    if (!fields.good() || fields.ended()) return std::nullopt;
    if (row.value.by_value && !fields.rest().empty()) return std::nullopt;
    row.value.text = fields.rest();
    return row;
}

JobInfo info_of(const Job& job, JobInfo::State state) {
    JobInfo info;
    info.id = job.id;
    info.key = job.key;
    info.kind = job.kind;
    info.payload = job.payload;
    info.priority = job.priority;
    info.optional = job.optional;
    info.at_most_once = job.at_most_once;
    info.state = state;
    info.attempts = job.attempts;
    info.lost_workers = job.lost_workers;
    info.enqueued_ms = static_cast<double>(job.enqueued_ms);
    info.due_ms = static_cast<double>(job.due_ms);
    info.error = job.error;
    return info;
}

std::string format_queue_event(const std::string& queue, const QueueEvent& event) {
    Format format;
    format.raw(queue).letter(static_cast<char>(event.kind)).raw(event.tab);
    format.number(event.version).number(event.count);
    for (const auto& field : event.fields) format.text(field);
    return format.take();
}

std::optional<QueueMessage> parse_queue_event(std::string_view text, bool with_fields) {
    QueueFields fields(text);
    QueueMessage message;
    message.queue = fields.next();
    message.event.kind = static_cast<QueueEvent::Kind>(fields.letter("qrpdfbxzcm"));
    message.event.tab = fields.identifier();
    message.event.version = fields.count();
    message.event.count = fields.count();
    if (with_fields) message.event.fields = fields.texts();
    if (!fields.good() || (with_fields && !fields.ended()) || !unescaped(message.queue))
        return std::nullopt;
    return message;
}

std::string format_commit_notice(std::string_view queue, std::string_view tab) {
    Format format;
    format.raw(queue).letter('w').raw(tab);
    return format.take();
}

std::optional<std::string> parse_commit_notice(std::string_view text) {
    QueueFields fields(text);
    std::string queue(fields.next());
    fields.letter("w");
    fields.identifier();
    if (!fields.good()) return std::nullopt;
    return queue;
}

std::string format_ahead(std::string_view tab, std::int64_t ahead_ms) {
    Format format;
    format.raw("").letter('e').raw(tab).number(ahead_ms);
    return format.take();
}

std::optional<std::int64_t> parse_ahead(std::string_view text) {
    QueueFields fields(text);
    const bool named = !fields.next().empty();
    fields.letter("e");
    fields.identifier();
    const auto ahead_ms = fields.number(-value_max, value_max);
    if (named || !fields.good()) return std::nullopt;
    return ahead_ms;
}

}  // namespace tabacus
