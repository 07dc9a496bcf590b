#include <algorithm>

#include "protocol/common/abortable_transactions.hpp"
#include "protocol/common/record.hpp"
#include "protocol/lock/lock_record.hpp"
#include "protocol/lock/sweep/lock_sweeper.hpp"
#include "protocol/lock/sweep/once_rows.hpp"
#include "tabacus/lock/once.hpp"

namespace tabacus {
namespace {

constexpr std::string_view success = "s";
constexpr std::string_view failure = "f";

/// How long forget() waits for a lock that it steals.
constexpr double steal_within_ms = 10'000;
/// forget() is tried again if another tab has stolen the lock from it, which then forgets the key
/// itself, or if the database failed for a passing reason.
constexpr unsigned forget_attempts_max = 8;
constexpr double forget_pause_ms = 20;

std::string lock_name(std::string_view key) { return concat({once_lock_prefix, key}); }

Task<std::string> forgotten_row(Transaction& transaction, std::string key) {
    const auto row = co_await transaction.get(Store::locks, once_forgotten_key(escaped(key)));
    co_return row ? row->value : std::string();
}

Failing fail_forgotten() { return fail(ErrorCode::aborted, "the key was forgotten"); }

bool is_lost(ErrorCode code) { return code == ErrorCode::lock_lost || code == ErrorCode::fenced; }

bool may_pass(ErrorCode code) {
    return is_lost(code) || code == ErrorCode::store_failed || code == ErrorCode::unknown_commit;
}

}  // namespace

OnceValues& Once::values() {
    if (!values_) {
        values_ = {new OnceValues(world_, table_.naming()), [](OnceValues* own) { delete own; }};
    }
    return *values_;
}

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
    seen.forgotten = co_await forgotten_row(*transaction, lock_name(key));
    const auto note = co_await transaction->get(Store::locks, note_key(escaped(lock_name(key))));
    if (note) seen.finished = parse(note->value);
    if (!seen.finished) co_return seen;
    const auto [flight, finished_ms, succeeded] = *seen.finished;
    const auto age_ms = world_.clock().now_ms() - finished_ms;
    const bool young = succeeded && age_ms < age.ttl_ms;
    const bool later = finished_ms > age.called_ms;
    seen.accepted = age_ms >= 0 && (young || later);
    if (!seen.accepted) co_return seen;
    auto value = co_await transaction->get(Store::data, once_value_key(key));
    if (value) seen.outcome = OnceOutcome{succeeded, std::move(value->value)};
    co_return seen;
}

Task<OnceTurn> Once::enter(std::string key, LockOptions options, OnceAge age) {
    if (!age.memory) co_return co_await enter_again(std::move(key), std::move(options), age);
    if (!values().open()) {
        co_await fail(ErrorCode::unavailable,
                      "a value that only memory keeps needs BroadcastChannel");
    }
    const OnceValues::Caller caller(values(), key);
    co_return co_await enter_again(std::move(key), std::move(options), age);
}

Task<OnceTurn> Once::enter_again(std::string key, LockOptions options, OnceAge age) {
    const auto began_ms = world_.clock().monotonic_ms();
    Attempts attempts;
    auto entered = co_await attempt(read_again(world_, [&, this] {
        auto left = options;
        left.spend(world_.clock().monotonic_ms() - began_ms);
        return enter_once(key, std::move(left), age, attempts);
    }));
    if (entered) co_return std::move(entered.value());
    co_await fail(attempts.lost.value_or(entered.error()));
}

/// Fails with store_failed, so that the call tries again, if the tab finds that it had lost the lock:
/// forget() may have taken it before the call began.
Task<OnceTurn> Once::enter_once(std::string key, LockOptions options, OnceAge age,
                                Attempts& attempts) {
    attempts.lost.reset();
    auto before = co_await read_outcome(key, age);
    if (!attempts.forgotten) attempts.forgotten = before.forgotten;
    if (before.forgotten != *attempts.forgotten) co_await fail_forgotten();
    if (before.accepted && !before.outcome && age.memory) {
        before.outcome = co_await values().find(key, before.finished->flight);
    }
    if (before.outcome) co_return OnceTurn{std::move(before.outcome), Held()};
    auto held = co_await table_.acquire(lock_name(key), std::move(options));
    auto missed = co_await attempt(read_missed(key, held, before, age));
    if (!missed) {
        if (!is_lost(missed.error().code())) co_await fail(missed.error());
        attempts.lost = missed.error();
        co_await fail(ErrorCode::store_failed, "");
    }
    if (missed.value()) co_return OnceTurn{std::move(missed.value()), Held()};
    co_return OnceTurn{std::nullopt, std::move(held)};
}

/// Returns the outcome of a run that has ended since `before` was read.
Task<std::optional<OnceOutcome>> Once::read_missed(std::string key, Held& held, const Seen& before,
                                                   OnceAge age) {
    std::optional<Finished> finished;
    {
        // This reads under the fence of the lock, so that no later run can have settled meanwhile.
        auto transaction = co_await held.begin();
        const auto forgotten = co_await forgotten_row(transaction.transaction(), lock_name(key));
        if (!forgotten.empty() && forgotten != before.forgotten) co_await fail_forgotten();
        const auto note = co_await transaction.note();
        finished = note ? parse(*note) : std::nullopt;
        if (!finished || (before.finished && finished->flight == before.finished->flight)) {
            co_return std::nullopt;
        }
        auto text = co_await transaction.get(std::string(once_store), key);
        if (text) co_return OnceOutcome{finished->succeeded, std::move(*text)};
    }
    if (!age.memory) co_return std::nullopt;
    co_return co_await values().find(std::move(key), finished->flight);
}

Task<void> Once::settle(std::string key, Held held, OnceOutcome outcome, OnceAge age) {
    auto own = std::move(held);  // a parameter would live as long as the frame
    const auto settled = co_await attempt(settle_once(key, own, std::move(outcome), age));
    if (!settled) co_await fail_lost(std::move(key), own, settled.error());
}

/// Fails with `error`, or with aborted if the lock was lost because the key was forgotten.
Task<void> Once::fail_lost(std::string key, Held& held, Error error) {
    if (is_lost(error.code())) {
        const auto token = held.token().value_or(0);
        auto forgotten = co_await attempt(was_forgotten(std::move(key), token));
        if (forgotten && forgotten.value()) co_await fail_forgotten();
    }
    co_await fail(error);
}

Task<void> Once::settle_once(std::string key, Held& held, OnceOutcome outcome, OnceAge age) {
    std::shared_ptr<HeldLock> presence;
    if (age.memory) presence = co_await values().presence(key, false);
    auto transaction = co_await held.begin();
    const auto flight = held.token().value_or(0);
    const auto now_ms = static_cast<std::int64_t>(std::max(world_.clock().now_ms(), 0.0));
    const auto kept_ms = static_cast<double>(now_ms) + age.ttl_ms;
    transaction.set_note(concat({record_version, ";", outcome.succeeded ? success : failure, ";",
                                 format_decimal(flight), ";", format_decimal(now_ms)}));
    if (age.memory) {
        transaction.remove(once_store, key);
    } else {
        transaction.put(once_store, key, outcome.text);
    }
    if (age.ttl_ms > LockSweeper::kept_ms) {
        const auto until_ms = std::min(kept_ms, double{value_max});
        transaction.transaction().put(Store::locks, once_until_key(escaped(lock_name(key))),
                                      format_decimal(static_cast<std::int64_t>(until_ms)));
    }
    transaction.prove();
    co_await transaction.commit();
    if (!age.memory) co_return;
    const auto until_ms = std::max(kept_ms, static_cast<double>(now_ms) + OnceValues::kept_ms);
    values().keep(key, flight, outcome, until_ms, std::move(presence));
}

/// Whether forget() has ended a run with that token, or is about to.
Task<bool> Once::was_forgotten(std::string key, std::int64_t token) {
    constexpr Stores scope{Store::locks};
    const auto transaction = co_await table_.begin(scope, Access::read, Durability::relaxed);
    const auto row = co_await forgotten_row(*transaction, lock_name(key));
    const auto begun = fields_of(row, 2);
    if (begun.size() == 2 && begun[0] == once_forgetting) {
        const auto began_ms = parse_value(begun[1]);
        const auto age_ms = world_.clock().now_ms() - static_cast<double>(began_ms.value_or(0));
        co_return began_ms.has_value() && age_ms >= 0 && age_ms < steal_within_ms;
    }
    co_return parse_value(row).value_or(0) > token;
}

Task<void> Once::forget(std::string key) {
    for (unsigned tried = 1;; ++tried) {
        const auto done = co_await attempt(forget_once(key));
        if (done) co_return;
        const Error error = done.error();
        if (!may_pass(error.code()) || table_.closed() || tried == forget_attempts_max) {
            co_await fail(error);
        }
        const auto part = static_cast<double>(world_.random().bits() % tried);
        co_await world_.clock().sleep(forget_pause_ms * (1 + part));
    }
}

/// Forgets the key in two transactions. The first one records that a forget() is under way, so that
/// a tab that loses the lock finds out why. The second one removes the outcome; its fence refuses
/// the outcome of every run that began before.
Task<void> Once::forget_once(std::string key) {
    const auto lock_key = escaped(lock_name(key));
    {
        constexpr Stores scope{Store::locks};
        const auto transaction = co_await table_.begin(scope, Access::write, Durability::relaxed);
        const auto now_ms = static_cast<std::int64_t>(std::max(world_.clock().now_ms(), 0.0));
        transaction->put(Store::locks, once_forgotten_key(lock_key),
                         concat({once_forgetting, ";", format_decimal(now_ms)}));
        co_await transaction->commit();
    }
    auto held =
        co_await table_.acquire(lock_name(key), {.steal = true, .timeout_ms = steal_within_ms});
    auto transaction = co_await held.begin();
    auto& rows = transaction.transaction();
    rows.put(Store::locks, once_forgotten_key(lock_key), format_decimal(held.token().value_or(0)));
    rows.remove(Store::locks, note_key(lock_key));
    rows.remove(Store::locks, once_until_key(lock_key));
    transaction.remove(once_store, key);
    transaction.prove();
    co_await transaction.commit();
    values().forget(key);
}

}  // namespace tabacus
