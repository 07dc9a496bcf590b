#include <algorithm>

#include "lock_record.hpp"
#include "protocol/common/abortable_transactions.hpp"
#include "protocol/common/record.hpp"
#include "sweep/lock_sweeper.hpp"
#include "sweep/once_rows.hpp"
#include "tabacus/lock/once.hpp"

namespace tabacus {
namespace {

constexpr std::string_view success = "s";
constexpr std::string_view failure = "f";

std::string lock_name(std::string_view key) { return concat({once_lock_prefix, key}); }

}  // namespace

/// Parses "1;s or f;flight;finished".
std::optional<Once::Finished> Once::parse(std::string_view text) {
    constexpr std::size_t fields_max = 4;
    const auto fields = fields_of(text, fields_max);
    if (fields.size() != fields_max || fields[0] != record_version) return std::nullopt;
    const bool succeeded = fields[1] == success;
    const auto flight = parse_value(fields[2]);
    const auto finished = parse_value(fields[3]);
    if ((!succeeded && fields[1] != failure) || !flight || !finished) return std::nullopt;
    return Finished{*flight, static_cast<double>(*finished), succeeded};
}

Task<Once::Seen> Once::read_outcome(std::string key, OnceAge age) {
    constexpr Stores scope{Store::locks, Store::data};
    const auto transaction =
        co_await world_.database().begin(scope, Access::read, Durability::relaxed);
    Seen seen;
    const auto note = co_await transaction->get(Store::locks, note_key(escaped(lock_name(key))));
    if (note) seen.finished = parse(note->value);
    if (!seen.finished) co_return seen;
    const auto [flight, finished_ms, succeeded] = *seen.finished;
    const auto age_ms = world_.clock().now_ms() - finished_ms;
    const bool young = succeeded && age_ms < age.ttl_ms;
    const bool later = finished_ms > age.called_ms;
    if (age_ms < 0 || (!young && !later)) co_return seen;
    auto value = co_await transaction->get(Store::data, once_value_key(key));
    if (value) seen.outcome = OnceOutcome{succeeded, std::move(value->value)};
    co_return seen;
}

Task<OnceTurn> Once::enter(std::string key, LockOptions options, OnceAge age) {
    const auto began_ms = world_.clock().monotonic_ms();
    return read_again(world_, [=, this] {
        auto left = options;
        left.spend(world_.clock().monotonic_ms() - began_ms);
        return enter_once(key, std::move(left), age);
    });
}

Task<OnceTurn> Once::enter_once(std::string key, LockOptions options, OnceAge age) {
    auto before = co_await read_outcome(key, age);
    if (before.outcome) co_return OnceTurn{std::move(before.outcome), Held()};
    auto held = co_await table_.acquire(lock_name(key), std::move(options));
    {
        // This is under the fence, so that a later run cannot have settled unseen.
        auto transaction = co_await held.begin();
        const auto note = co_await transaction.note();
        const auto finished = note ? parse(*note) : std::nullopt;
        if (finished && (!before.finished || finished->flight != before.finished->flight)) {
            auto text = co_await transaction.get(std::string(once_store), key);
            if (text) {
                co_return OnceTurn{OnceOutcome{finished->succeeded, std::move(*text)}, Held()};
            }
        }
    }
    co_return OnceTurn{std::nullopt, std::move(held)};
}

Task<void> Once::settle(std::string key, Held held, OnceOutcome outcome, double ttl_ms) {
    auto own = std::move(held);  // a parameter would live as long as the frame
    auto transaction = co_await own.begin();
    const auto now_ms = static_cast<std::int64_t>(std::max(world_.clock().now_ms(), 0.0));
    transaction.set_note(
        concat({record_version, ";", outcome.succeeded ? success : failure, ";",
                format_decimal(own.token().value_or(0)), ";", format_decimal(now_ms)}));
    transaction.put(once_store, key, outcome.text);
    if (ttl_ms > LockSweeper::kept_ms) {
        const auto until_ms = std::min(static_cast<double>(now_ms) + ttl_ms, double{value_max});
        transaction.transaction().put(Store::locks, once_until_key(escaped(lock_name(key))),
                                      format_decimal(static_cast<std::int64_t>(until_ms)));
    }
    transaction.prove();
    co_await transaction.commit();
}

}  // namespace tabacus
