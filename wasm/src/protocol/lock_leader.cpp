// A call is a row of Store::locks, "<leader's lock>/call/<id>" (CallRow), and its request, in whose
// place the answer comes, one of Store::data under the same id. An id is a number that rises from
// call to call, for their order, and a nonce, since numbers begin anew in a new database.
#include <algorithm>
#include <array>
#include <cmath>

#include "concat.hpp"
#include "lock_queue.hpp"
#include "names.hpp"
#include "record.hpp"
#include "tabacus/leader.hpp"

namespace tabacus {
namespace {

/// A message that was lost delays a call or its answer by no more.
constexpr double call_again_ms = 1'000;
/// A transaction that aborted for a passing reason (a dropped connection, a page that froze) is
/// tried again.
constexpr int call_attempts_max = 4;
constexpr std::size_t number_digits = 16;

/// Not an application's: js/lock/options.js refuses names of stores that begin so.
std::string calls_of(const std::string& name) { return "tabacus/leader/" + name + "/calls"; }
/// What rings when a call comes or is answered.
std::string calls_bell(const std::string& name) { return leader_lock(name) + "/calls"; }
std::string call_prefix(const std::string& name) { return escaped(leader_lock(name)) + "/call/"; }
std::string call_number_key(const std::string& name) {
    return escaped(leader_lock(name)) + "/calls";
}

bool may_pass(const Error& error) { return error.code() == ErrorCode::store_failed; }

Error call_gone() {
    return {ErrorCode::unknown_commit, "the call is gone with the database that kept it"};
}

Error given_up(ErrorCode code) {
    return {code, code == ErrorCode::timed_out ? "the call was not answered in time"
                                               : "the call was aborted"};
}

Error term_lost(const Grant& term) {
    return {ErrorCode::lock_lost, "the term was lost: " + term.loss};
}

std::optional<CallRow> call_of(const Row& row) {
    return row.foreign ? std::nullopt : parse_call_row(row.value);
}
std::optional<CallRow> call_of(const std::optional<Row>& row) {
    return row ? call_of(*row) : std::nullopt;
}

/// Answered so long ago that its answer need not be kept.
bool outdated(const CallRow& call, double now_ms) {
    return call.state != CallRow::State::open &&
           static_cast<double>(call.at_ms) < now_ms - Leader::kept_ms;
}

void forget_call(Transaction& transaction, const std::string& name, std::string_view id) {
    transaction.remove(Store::locks, concat({call_prefix(name), id}));
    transaction.remove(Store::data, data_key(calls_of(name), id));
}

std::string padded(std::int64_t number) {
    auto digits = std::to_string(number);
    return std::string(number_digits - std::min(number_digits, digits.size()), '0') + digits;
}

/// The number of the newest call.
Task<std::int64_t> last_number(Transaction& transaction, const std::string& name) {
    const auto row = co_await transaction.get(Store::locks, call_number_key(name));
    const auto number = row && !row->foreign ? parse_call_number(row->value) : std::nullopt;
    if (number || !row) co_return number.value_or(0);
    // A row that cannot be read: the calls that are there say what it was.
    const auto rows = co_await transaction.list(Store::locks, call_prefix(name));
    if (rows.empty()) co_return 0;
    const auto id = std::string_view(rows.back().key).substr(call_prefix(name).size());
    const auto digits = id.substr(0, std::min(id.find_first_not_of('0'), id.size()));
    const auto end = id.find('-');
    if (end == std::string_view::npos) co_return 0;
    co_return parse_value(id.substr(digits.size(), end - digits.size())).value_or(0);
}

Task<FencedTransaction> begin_in_term(std::shared_ptr<Grant> term, Durability durability) {
    const auto queue = term->queue.lock();
    if (!queue) co_await fail(ErrorCode::lock_lost, "the term was handed over before");
    const std::vector scope{Store::locks, Store::data};
    co_return co_await queue->begin(term, scope, durability);
}

}  // namespace

std::string leader_lock(std::string_view name) { return "leader/" + std::string(name); }

// --- Waiting ------------------------------------------------------------------------------------

/// Rings whenever there may be something to see.
struct Leader::Wait {
    Completer<Unit> bell;
    bool heard = false;
    std::optional<ErrorCode> end;  // why nobody waits any more
    std::array<Subscription, 2> subscriptions;

    void ring() {
        heard = true;
        const auto now = std::exchange(bell, {});
        now.complete({});
    }
    void stop(ErrorCode code) {
        end = end.value_or(code);
        ring();
    }
};

void Leader::begin_to_wait(const std::shared_ptr<Wait>& wait, const std::string& name) {
    const std::weak_ptr weak(wait);
    const auto ring = [weak] {
        if (const auto waiting = weak.lock()) waiting->ring();
    };
    wait->subscriptions = {table_.on_ring(calls_bell(name), ring),
                           table_.on_ring(leader_lock(name), ring)};
    scope_.spawn(look_again(weak));
}

Task<void> Leader::look_again(std::weak_ptr<Wait> wait) {
    while (true) {
        co_await world_.clock().sleep(call_again_ms);
        const auto waiting = wait.lock();
        if (!waiting) co_return;
        if (table_.closed()) waiting->stop(ErrorCode::closed);
        if (waiting->end) co_return;
        waiting->ring();
    }
}

Task<void> Leader::expire(std::weak_ptr<Wait> wait, double timeout_ms) {
    co_await world_.clock().sleep(timeout_ms);
    if (const auto waiting = wait.lock()) waiting->stop(ErrorCode::timed_out);
}

/// Rung since the last time.
Task<void> Leader::rung(std::shared_ptr<Wait> wait) {
    if (!wait->heard) {
        const auto bell = wait->bell;
        co_await bell.async();
    }
    wait->heard = false;
}

// --- Who calls ----------------------------------------------------------------------------------

Task<LeaderAnswer> Leader::call(std::string name, std::string request, LeaderCallOptions options) {
    if (options.signal && options.signal->aborted()) co_await fail(given_up(ErrorCode::aborted));
    if (table_.closed()) co_await fail(ErrorCode::closed, "the tab was closed");
    const auto wait = std::make_shared<Wait>();
    const std::weak_ptr weak(wait);
    if (options.signal) {
        options.signal->on_abort([weak] {
            if (const auto waiting = weak.lock()) waiting->stop(ErrorCode::aborted);
        });
    }
    if (options.timeout_ms) scope_.spawn(expire(weak, *options.timeout_ms));
    const auto id = co_await keep(name, std::move(request), options.key);
    begin_to_wait(wait, name);
    table_.ring(calls_bell(name));
    for (int failures = 0;;) {
        const auto end = wait->end;
        if (end == ErrorCode::closed) co_await fail(ErrorCode::closed, "the tab was closed");
        auto seen = co_await attempt(look(name, id, end.has_value()));
        if (seen && seen.value()) co_return std::move(*seen.value());
        if (seen && end) co_await fail(given_up(*end));
        failures = seen ? 0 : failures + 1;
        if (failures > 0 && (failures == call_attempts_max || !may_pass(seen.error()))) {
            co_await fail(seen.error());
        }
        if (failures == 0 || !end) co_await rung(wait);
    }
}

/// The id of its row.
Task<std::string> Leader::keep(std::string name, std::string request,
                               std::optional<std::string> key) {
    const auto nonce = identifier_of(world_.random().bits());
    for (int tried = 1;; ++tried) {
        auto kept = co_await attempt(keep_once(name, request, key, nonce, tried > 1));
        if (kept && kept.value()) co_return std::move(*kept.value());
        // Whether an unknown commit happened shows in the next attempt.
        const bool passes =
            !kept && (may_pass(kept.error()) || kept.error().code() == ErrorCode::unknown_commit);
        if (!passes || tried == call_attempts_max) co_await fail(kept.error());
    }
}

/// `again`: it may be kept already, by its nonce.
Task<std::optional<std::string>> Leader::keep_once(const std::string& name,
                                                   const std::string& request,
                                                   const std::optional<std::string>& key,
                                                   const std::string& nonce, bool again) {
    const std::vector scope{Store::locks, Store::data};
    const auto prefix = call_prefix(name);
    const auto transaction = co_await table_.begin(scope, Access::write, Durability::strict);
    if (key || again) {
        for (const auto& row : co_await transaction->list(Store::locks, prefix)) {
            const auto call = call_of(row);
            if (!call) continue;
            const bool same = key ? call->key == key : row.key.ends_with("-" + nonce);
            const auto known = row.key.substr(prefix.size());
            if (same && !outdated(*call, world_.clock().now_ms())) co_return known;
            if (same) forget_call(*transaction, name, known);
        }
    }
    const auto number = co_await last_number(*transaction, name) + 1;
    const auto id = padded(number) + "-" + nonce;
    transaction->put(Store::locks, call_number_key(name), format_call_number(number));
    transaction->put(Store::locks, prefix + id,
                     format_call_row({.state = CallRow::State::open, .at_ms = 0, .key = key}));
    transaction->put(Store::data, data_key(calls_of(name), id), request);
    co_await transaction->commit();
    co_return id;
}

/// The answer, if there is one. `take_back`: else the call is taken back.
Task<std::optional<LeaderAnswer>> Leader::look(const std::string& name, const std::string& id,
                                               bool take_back) {
    if (!take_back && !co_await answered(name, id)) co_return std::nullopt;
    co_return co_await fetch(name, id, take_back);
}

Task<bool> Leader::answered(const std::string& name, const std::string& id) {
    const std::vector scope{Store::locks};
    const auto transaction = co_await table_.begin(scope, Access::read, Durability::relaxed);
    const auto call = call_of(co_await transaction->get(Store::locks, call_prefix(name) + id));
    if (!call) co_await fail(call_gone());
    co_return call->state != CallRow::State::open;
}

Task<std::optional<LeaderAnswer>> Leader::fetch(const std::string& name, const std::string& id,
                                                bool take_back) {
    const std::vector scope{Store::locks, Store::data};
    const auto where = call_prefix(name) + id;
    const auto transaction = co_await table_.begin(scope, Access::write, Durability::relaxed);
    const auto call = call_of(co_await transaction->get(Store::locks, where));
    if (!call) co_await fail(call_gone());
    const bool open = call->state == CallRow::State::open;
    if (call->key ? open : open && !take_back) co_return std::nullopt;
    std::optional<LeaderAnswer> answer;
    if (!open) {
        auto said = co_await transaction->get(Store::data, data_key(calls_of(name), id));
        if (!said) co_await fail(call_gone());
        answer = LeaderAnswer{call->state == CallRow::State::succeeded, std::move(said->value)};
        if (call->key) co_return answer;
    }
    forget_call(*transaction, name, id);
    const auto removed = co_await attempt(transaction->commit());
    // An answer that stays is cleared away by the next leader.
    if (!removed && open) co_await fail(removed.error());
    co_return answer;
}

// --- Who leads ----------------------------------------------------------------------------------

Task<void> Leader::take_office(std::string name, std::shared_ptr<Grant> term) {
    auto own = co_await begin_in_term(std::move(term), Durability::relaxed);
    auto& transaction = own.transaction();
    const auto prefix = call_prefix(name);
    int unreadable = 0;
    for (const auto& row : co_await transaction.list(Store::locks, prefix)) {
        const auto call = call_of(row);
        if (!call) {
            ++unreadable;
        } else if (outdated(*call, world_.clock().now_ms())) {
            forget_call(transaction, name, row.key.substr(prefix.size()));
        }
    }
    co_await own.commit();
    if (unreadable == 0) co_return;
    on_notice_({Notice::Kind::warning, "corrupt-record",
                std::to_string(unreadable) +
                    " rows among the calls to a leader cannot be read; all others are answered.",
                calls_bell(name), "", 0});
}

Task<std::optional<LeaderCall>> Leader::next(std::string name, std::shared_ptr<Grant> term) {
    const auto wait = std::make_shared<Wait>();
    begin_to_wait(wait, name);
    for (int failures = 0;;) {
        if (!term->held && term->loss.empty()) co_return std::nullopt;
        if (!term->held) co_await fail(term_lost(*term));
        auto found = co_await attempt(first_open(name, term));
        if (found && found.value()) co_return std::move(found.value());
        failures = found ? 0 : failures + 1;
        if (failures > 0 && term->held &&
            (failures == call_attempts_max || !may_pass(found.error()))) {
            co_await fail(found.error());
        }
        if (term->held) co_await rung(wait);
    }
}

/// Under the term's fence: a leader that hung and was deposed begins nothing.
Task<std::optional<LeaderCall>> Leader::first_open(const std::string& name,
                                                   std::shared_ptr<Grant> term) {
    auto own = co_await begin_in_term(std::move(term), Durability::relaxed);
    auto& transaction = own.transaction();
    const auto prefix = call_prefix(name);
    std::optional<LeaderCall> found;
    for (const auto& row : co_await transaction.list(Store::locks, prefix)) {
        const auto call = call_of(row);
        if (!call || call->state != CallRow::State::open) continue;
        auto id = row.key.substr(prefix.size());
        auto request = co_await transaction.get(Store::data, data_key(calls_of(name), id));
        if (request) {
            found = LeaderCall{std::move(id), std::move(request->value)};
            break;
        }
        transaction.remove(Store::locks, row.key);  // its caller is told that it is gone
    }
    co_await own.commit();
    co_return found;
}

Task<std::optional<FencedTransaction>> Leader::answering(std::string name, std::string id,
                                                         std::shared_ptr<Grant> term) {
    auto own = co_await begin_in_term(std::move(term), Durability::strict);
    const auto call = call_of(co_await own.transaction().get(Store::locks, call_prefix(name) + id));
    if (!call || call->state != CallRow::State::open) co_return std::nullopt;
    co_return std::move(own);
}

Task<void> Leader::answer(std::string name, std::string id, FencedTransaction transaction,
                          LeaderAnswer answer) {
    auto own = std::move(transaction);  // a parameter would live as long as the frame
    const auto where = call_prefix(name) + id;
    auto call = call_of(co_await own.transaction().get(Store::locks, where));
    if (!call) co_await fail(call_gone());
    call->state = answer.succeeded ? CallRow::State::succeeded : CallRow::State::failed;
    call->at_ms = static_cast<std::int64_t>(std::max(world_.clock().now_ms(), 0.0));
    own.transaction().put(Store::locks, where, format_call_row(*call));
    own.transaction().put(Store::data, data_key(calls_of(name), id), answer.text);
    co_await own.commit();
    table_.ring(calls_bell(name));
}

}  // namespace tabacus
