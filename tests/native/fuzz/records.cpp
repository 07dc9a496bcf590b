// For libFuzzer: no text makes a parser crash, and if a parser accepts a text, its formatter writes
// the same text, with the version field of this program.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "protocol/common/record.hpp"
#include "protocol/limit/limit_record.hpp"
#include "protocol/lock/lock_record.hpp"
#include "protocol/queue/queue_record.hpp"

namespace {

using namespace tabacus;

void check(bool holds) {
    if (!holds) std::abort();
}

/// Returns a text as this program writes it. Parsers accept "<writer>.1;…" of a later program, too,
/// and do not keep which program that was.
std::string with_own_version(std::string_view text) {
    std::string own(text);
    if (version_of(text) == RecordVersion::readable) {
        own.replace(0, text.find(record_separator), record_version);
    }
    return own;
}

template <typename Parse, typename Format>
void round_trip(std::string_view text, Parse parse, Format format) {
    if (const auto record = parse(text)) check(format(*record) == with_own_version(text));
}

void counters(std::string_view text) {
    round_trip(text, parse_totals, format_totals);
    round_trip(text, parse_holder, format_holder);
    round_trip(text, parse_message, format_message);
    round_trip(text, parse_value, format_value);
    if (const auto totals = parse_totals(text)) {
        check(totals->totals.plus >= 0 && totals->totals.minus >= 0 && totals->epoch >= 0);
        check(totals->totals.plus <= total_max && totals->epoch <= epoch_max);
    }
}

void locks(std::string_view text) {
    round_trip(text, parse_lock_row, format_lock_row);
    round_trip(text, parse_eviction_row, format_eviction_row);
    round_trip(text, parse_call_row, format_call_row);
    round_trip(text, parse_call_id, format_call_id);
    round_trip(text, parse_call_number, format_call_number);
    round_trip(text, parse_lock_message, format_lock_message);
    if (const auto row = parse_lock_row(text)) check(row->fence <= row->last);
}

void queues(std::string_view text) {
    round_trip(text, parse_queue_head, format_queue_head);
    round_trip(text, parse_slot_row, format_slot_row);
    round_trip(text, parse_outcome_row, format_outcome_row);
    const auto parse_event = [](std::string_view event) { return parse_queue_event(event); };
    round_trip(text, parse_event, [](const QueueMessage& message) {
        return format_queue_event(message.queue, message.event);
    });
    const auto jobs = parse_jobs(text);
    if (jobs.empty()) return;
    check(format_jobs(jobs) == with_own_version(text));
    check(jobs.size() <= batch_jobs_max);
    for (std::size_t i = 1; i < jobs.size(); ++i) {
        check(jobs[i - 1].position() < jobs[i].position());
        check(jobs[i - 1].id != jobs[i].id);
    }
}

void limits(std::string_view text) {
    round_trip(text, parse_sequence, format_sequence);
    round_trip(text, parse_budget, format_budget);
    round_trip(text, parse_holding, format_holding);
    round_trip(text, parse_rate, format_rate);
    round_trip(text, parse_limit_message, format_limit_message);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    counters(text);
    locks(text);
    queues(text);
    limits(text);
    return 0;
}
