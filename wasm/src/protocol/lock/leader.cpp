// A call is a row of Store::locks, "<leader's lock>/call/<id>" and, once it is answered, "<leader's
// lock>/answer/<id>" (CallRow). Its request, which the answer replaces, is a row of Store::data
// under the same id. An id consists of a number that rises from call to call, for their order, and
// of a nonce, since numbers begin anew in a new database. The work for one call takes the same time
// however many calls there are.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "protocol/common/concat.hpp"
#include "protocol/common/names.hpp"
#include "protocol/common/record.hpp"
#include "queue/native_holds.hpp"
#include "tabacus/lock/leader.hpp"

namespace tabacus {
namespace {

/// How often a caller and a leader read the rows. A lost message therefore delays an answer by no
/// more than this. So does the lack of messages (LockTable::announced()).
constexpr double call_again_ms = 1'000;
/// A transaction that aborted for a passing reason (a dropped connection, a page that froze) is
/// tried again.
constexpr int call_attempts_max = 4;
/// If reads of an answer have failed for `hung_ms`, the database does not answer, and the host has
/// given up two attempts. Then only one more read follows, since a page that froze may have waited.
constexpr double hung_ms = 5'000;
constexpr std::size_t number_digits = 16;
/// How many rows of calls or answers are read at once. At least one of them can be parsed, unless
/// another script wrote them all.
constexpr std::uint32_t rows_read = 16;

/// Returns the store of the requests and answers. No application has it: js/lock/lock-options.js
/// refuses names of stores that begin so.
std::string calls_of(const std::string& name) { return "tabacus/leader/" + name + "/calls"; }
/// Returns the lock on which tabs broadcast that a call was made or answered.
std::string calls_topic(const std::string& name) { return leader_lock(name) + "/calls"; }
std::string call_prefix(const std::string& name) { return escaped(leader_lock(name)) + "/call/"; }
std::string answer_prefix(const std::string& name) {
    return escaped(leader_lock(name)) + "/answer/";
}
std::string call_number_key(const std::string& name) {
    return escaped(leader_lock(name)) + "/calls";
}
std::string key_key(const std::string& name, const std::string& key) {
    return concat({escaped(leader_lock(name)), "/key/", escaped(key)});
}

bool may_pass(const Error& error) { return error.code() == ErrorCode::store_failed; }

Error call_gone() {
    return {ErrorCode::unknown_commit, "the call is gone with the database that kept it"};
}

/// Returns the error of a call that is kept, so that it may be answered, while its row cannot be read.
Error call_unread(const Error& error) {
    if (!may_pass(error)) return error;
    return {ErrorCode::unknown_commit,
            concat({"the call is kept, but its answer cannot be read: ", error.what()})};
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

/// Whether the call was answered so long ago that its answer need not be kept.
bool outdated(const CallRow& call, double now_ms) {
    return call.state != CallRow::State::open &&
           static_cast<double>(call.at_ms) < now_ms - Leader::kept_ms;
}

void forget_call(Transaction& transaction, const std::string& name, const std::string& id,
                 const CallRow& call) {
    const bool open = call.state == CallRow::State::open;
    transaction.remove(Store::locks, (open ? call_prefix(name) : answer_prefix(name)) + id);
    transaction.remove(Store::data, data_key(calls_of(name), id));
    if (call.key) transaction.remove(Store::locks, key_key(name, *call.key));
}

/// Forgets answers that need not be kept. Reads the oldest answers alone, so that the work stays
/// the same however many there are. Each answer adds one row and removes up to rows_read, so that
/// the rows do not grow with the term.
Task<void> forget_outdated(Transaction& transaction, std::string name, double now_ms) {
    const auto prefix = answer_prefix(name);
    for (const auto& row : co_await transaction.list(Store::locks, prefix, rows_read)) {
        const auto call = call_of(row);
        if (call && outdated(*call, now_ms)) {
            forget_call(transaction, name, row.key.substr(prefix.size()), *call);
        }
    }
}

/// Returns the row of the call, open or answered, or nothing if there is none.
Task<std::optional<CallRow>> find_call(Transaction& transaction, std::string name, std::string id) {
    auto call = call_of(co_await transaction.get(Store::locks, answer_prefix(name) + id));
    if (!call) call = call_of(co_await transaction.get(Store::locks, call_prefix(name) + id));
    co_return call;
}

std::string padded(std::int64_t number) {
    auto digits = format_decimal(number);
    return std::string(number_digits - std::min(number_digits, digits.size()), '0') + digits;
}

Task<FencedTransaction> begin_in_term(std::shared_ptr<Grant> term, Durability durability) {
    const auto holds = term->holds.lock();
    if (!holds) co_await fail(ErrorCode::lock_lost, "the term has been handed over");
    constexpr Stores scope{Store::locks, Store::data};
    co_return co_await holds->begin(term, scope, durability);
}

/// Commits a transaction that only reads, and removes rows which nobody needs. An unknown outcome
/// is no failure, because it does not matter whether those rows are gone.
Task<void> commit_tidying(FencedTransaction& transaction) {
    const auto committed = co_await attempt(transaction.commit());
    if (committed || committed.error().code() == ErrorCode::unknown_commit) co_return;
    co_await fail(committed.error());
}

}  // namespace

std::string leader_lock(std::string_view name) { return "leader/" + std::string(name); }

// --- Waiting ------------------------------------------------------------------------------------

/// Wakes its waiter whenever there may be something to see.
struct Leader::Wait {
    Completer<Unit> wake_signal;
    double deadline_ms = std::numeric_limits<double>::infinity();  // World::clock().monotonic_ms()
    bool pending = false;
    std::optional<ErrorCode> end;  // why the wait has ended

    void wake() {
        pending = true;
        const auto now = std::exchange(wake_signal, {});
        now.complete({});
    }
    void stop(ErrorCode code) {
        end = end.value_or(code);
        wake();
    }
};

/// Lists a caller that waits for the answer to a call, for as long as the object lives.
class Leader::Listed {
  public:
    Listed(Leader& leader, const std::string& id, const std::shared_ptr<Wait>& wait)
        : leader_(leader), entry_(leader.waiting_.emplace(id, wait)) {}
    Listed(const Listed&) = delete;
    Listed& operator=(const Listed&) = delete;
    Listed(Listed&&) = delete;
    Listed& operator=(Listed&&) = delete;
    ~Listed() { leader_.waiting_.erase(entry_); }

  private:
    Leader& leader_;
    decltype(waiting_)::iterator entry_;
};

/// Wakes the waiters of each call that is answered. The broadcast names the call, so that the
/// waiters of other calls need not read.
void Leader::listen_for_answers(const std::string& name) {
    if (answer_subscriptions_.contains(name)) return;
    answer_subscriptions_[name] =
        table_.on_broadcast(calls_topic(name), [this](const std::string& id) {
            // A waiter that is woken may end, and is not listed any more. Without an id, all read.
            const auto [begin, end] =
                id.empty() ? std::pair(waiting_.begin(), waiting_.end()) : waiting_.equal_range(id);
            std::vector<std::weak_ptr<Wait>> those;
            for (auto entry = begin; entry != end; ++entry) those.push_back(entry->second);
            for (const auto& one : those) {
                if (const auto wait = one.lock()) wait->wake();
            }
        });
}

Task<void> Leader::poll(std::weak_ptr<Wait> wait) {
    auto& clock = world_.clock();
    while (true) {
        auto left_ms = call_again_ms;
        if (const auto waiting = wait.lock()) {
            left_ms = std::clamp(waiting->deadline_ms - clock.monotonic_ms(), 0.0, call_again_ms);
        }
        co_await clock.sleep(left_ms);
        const auto waiting = wait.lock();
        if (!waiting) co_return;
        if (table_.closed()) waiting->stop(ErrorCode::closed);
        if (clock.monotonic_ms() >= waiting->deadline_ms) waiting->stop(ErrorCode::timed_out);
        if (waiting->end) co_return;
        waiting->wake();
    }
}

/// Waits until wake() was called since the last time.
Task<void> Leader::await_wake(std::shared_ptr<Wait> wait) {
    if (!wait->pending) {
        const auto signal = wait->wake_signal;
        co_await signal.async();
    }
    wait->pending = false;
}

// --- Callers ------------------------------------------------------------------------------------

Task<LeaderAnswer> Leader::call(std::string name, std::string request, LeaderCallOptions options) {
    if (options.signal && options.signal->aborted()) co_await fail(given_up(ErrorCode::aborted));
    if (table_.closed()) co_await fail(table_.end_error());
    const auto wait = std::make_shared<Wait>();
    const std::weak_ptr weak(wait);
    if (options.signal) {
        options.signal->on_abort([weak] {
            if (const auto waiting = weak.lock()) waiting->stop(ErrorCode::aborted);
        });
    }
    if (options.timeout_ms) {
        wait->deadline_ms = world_.clock().monotonic_ms() + *options.timeout_ms;
    }
    listen_for_answers(name);
    const auto id = co_await keep(name, std::move(request), options.key);
    const Listed listed(*this, id, wait);
    scope_.spawn(poll(wait));
    double since_ms = 0;  // when the first of the failed reads began
    for (int failures = 0;;) {
        const auto end = wait->end;
        if (end == ErrorCode::closed) co_await fail(table_.end_error());
        if (failures == 0) since_ms = world_.clock().monotonic_ms();
        auto seen = co_await attempt(read_answer(name, id, end.has_value()));
        if (seen && seen.value()) co_return std::move(*seen.value());
        if (seen && end) co_await fail(given_up(*end));
        failures = seen ? 0 : failures + 1;
        const bool hung = world_.clock().monotonic_ms() - since_ms >= hung_ms;
        const int most = hung ? 2 : call_attempts_max;
        if (failures > 0 && (failures >= most || !may_pass(seen.error()))) {
            co_await fail(call_unread(seen.error()));
        }
        if (failures == 0 || !end) co_await await_wake(wait);
    }
}

/// Keeps the call in the database, and returns its id.
Task<std::string> Leader::keep(std::string name, std::string request,
                               std::optional<std::string> key) {
    const auto nonce = identifier_of(world_.random().bits());
    std::string id;
    for (int tried = 1;; ++tried) {
        const auto kept = co_await attempt(keep_once(name, request, key, nonce, id));
        if (kept) co_return id;
        // If the outcome of the commit is unknown, the next attempt finds out whether it happened.
        const bool passes =
            !kept && (may_pass(kept.error()) || kept.error().code() == ErrorCode::unknown_commit);
        if (!passes || tried == call_attempts_max) co_await fail(kept.error());
    }
}

/// Keeps the call in one transaction, unless `id` names a call that is kept already. `id` becomes
/// the call's.
Task<void> Leader::keep_once(const std::string& name, const std::string& request,
                             const std::optional<std::string>& key, const std::string& nonce,
                             std::string& id) {
    constexpr Stores scope{Store::locks, Store::data};
    const auto transaction = co_await table_.begin(scope, Access::write, Durability::strict);
    if (key) {
        const auto row = co_await transaction->get(Store::locks, key_key(name, *key));
        id = (row && !row->foreign ? parse_call_id(row->value) : std::nullopt).value_or("");
    }
    if (!id.empty()) {
        const auto call = co_await find_call(*transaction, name, id);
        const bool same = call && call->key == key;
        if (same && !outdated(*call, world_.clock().now_ms())) {
            co_return table_.broadcast(calls_topic(name), "new");
        }
        if (same) forget_call(*transaction, name, id, *call);
    }
    const auto last = co_await transaction->get(Store::locks, call_number_key(name));
    auto number = last && !last->foreign ? parse_call_number(last->value).value_or(0) : 0;
    // If the number cannot be read, the clock gives one that is larger than any before.
    if (last && number == 0) number = static_cast<std::int64_t>(world_.clock().now_ms());
    ++number;
    id = padded(number) + "-" + nonce;
    transaction->put(Store::locks, call_number_key(name), format_call_number(number));
    transaction->put(Store::locks, call_prefix(name) + id,
                     format_call_row({.state = CallRow::State::open, .at_ms = 0, .key = key}));
    if (key) transaction->put(Store::locks, key_key(name, *key), format_call_id(id));
    transaction->put(Store::data, data_key(calls_of(name), id), request);
    // This is sent before the commit: a leader that it wakes reads in a transaction that waits for
    // this one. So the leader finds the call even if this tab dies right after the commit.
    table_.broadcast(calls_topic(name), "new");
    co_await transaction->commit();
}

/// Returns the answer, if there is one. If there is none and `take_back` is set, takes the call
/// back.
Task<std::optional<LeaderAnswer>> Leader::read_answer(const std::string& name,
                                                      const std::string& id, bool take_back) {
    if (!take_back && !co_await answered(name, id)) co_return std::nullopt;
    co_return co_await fetch(name, id, take_back);
}

Task<bool> Leader::answered(const std::string& name, const std::string& id) {
    constexpr Stores scope{Store::locks};
    const auto transaction = co_await table_.begin(scope, Access::read, Durability::relaxed);
    const auto call = co_await find_call(*transaction, name, id);
    if (!call) co_await fail(call_gone());
    co_return call->state != CallRow::State::open;
}

Task<std::optional<LeaderAnswer>> Leader::fetch(const std::string& name, const std::string& id,
                                                bool take_back) {
    constexpr Stores scope{Store::locks, Store::data};
    const auto transaction = co_await table_.begin(scope, Access::write, Durability::relaxed);
    const auto call = co_await find_call(*transaction, name, id);
    if (!call) co_await fail(call_gone());
    const bool open = call->state == CallRow::State::open;
    if (call->key ? open : open && !take_back) co_return std::nullopt;
    std::optional<LeaderAnswer> answer;
    if (!open) {
        auto row = co_await transaction->get(Store::data, data_key(calls_of(name), id));
        if (!row) co_await fail(call_gone());
        answer = LeaderAnswer{call->state == CallRow::State::succeeded, std::move(row->value)};
        if (call->key) co_return answer;
    }
    forget_call(*transaction, name, id, *call);
    const auto removed = co_await attempt(transaction->commit());
    // An answer that stays is cleared away by a leader.
    if (!removed && open) co_await fail(removed.error());
    co_return answer;
}

// --- The leader ---------------------------------------------------------------------------------

Task<void> Leader::begin_term(std::string name, std::shared_ptr<Grant> term) {
    auto own = co_await begin_in_term(std::move(term), Durability::relaxed);
    auto& transaction = own.transaction();
    int unreadable = 0;
    for (const auto& prefix : {call_prefix(name), answer_prefix(name)}) {
        for (const auto& row : co_await transaction.list(Store::locks, prefix)) {
            const auto call = call_of(row);
            if (!call) {
                unreadable += is_newer(row.value) ? 0 : 1;
            } else if (outdated(*call, world_.clock().now_ms())) {
                forget_call(transaction, name, row.key.substr(prefix.size()), *call);
            }
        }
    }
    co_await commit_tidying(own);
    if (unreadable == 0 || !reported_.insert(name).second) co_return;
    on_notice_({Notice::Kind::warning, "corrupt-record",
                format_decimal(unreadable) +
                    " rows among the calls to a leader cannot be read; all others are answered.",
                calls_topic(name), "", 0});
}

Task<std::optional<LeaderCall>> Leader::next(std::string name, std::shared_ptr<Grant> term) {
    const auto wait = std::make_shared<Wait>();
    const auto wake = [wait](const std::string&) { wait->wake(); };
    const std::array subscriptions{table_.on_broadcast(calls_topic(name), wake),
                                   table_.on_broadcast(leader_lock(name), wake)};
    if (!table_.announced()) scope_.spawn(poll(wait));
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
        if (term->held) co_await await_wake(wait);
    }
}

/// Returns the first call that is not answered. It is read under the term's fence, so that a leader
/// that hung and was deposed begins nothing.
Task<std::optional<LeaderCall>> Leader::first_open(const std::string& name,
                                                   std::shared_ptr<Grant> term) {
    auto own = co_await begin_in_term(std::move(term), Durability::relaxed);
    auto& transaction = own.transaction();
    const auto prefix = call_prefix(name);
    std::optional<LeaderCall> found;
    for (const auto limit : {rows_read, Transaction::rows_max}) {
        const auto rows = co_await transaction.list(Store::locks, prefix, limit);
        for (const auto& row : rows) {
            const auto call = call_of(row);
            if (!call || call->state != CallRow::State::open) continue;
            auto id = row.key.substr(prefix.size());
            auto request = co_await transaction.get(Store::data, data_key(calls_of(name), id));
            if (request) {
                found = LeaderCall{std::move(id), std::move(request->value)};
                break;
            }
            transaction.remove(Store::locks, row.key);  // its caller learns that it is gone
        }
        if (found || rows.size() < rows_read) break;
    }
    co_await commit_tidying(own);
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
    const auto now_ms = std::max(world_.clock().now_ms(), 0.0);
    co_await forget_outdated(own.transaction(), name, now_ms);
    call->state = answer.succeeded ? CallRow::State::succeeded : CallRow::State::failed;
    call->at_ms = static_cast<std::int64_t>(now_ms);
    own.transaction().remove(Store::locks, where);
    own.transaction().put(Store::locks, answer_prefix(name) + id, format_call_row(*call));
    own.transaction().put(Store::data, data_key(calls_of(name), id), answer.text);
    own.prove();
    co_await own.commit();
    table_.broadcast(calls_topic(name), id);
}

}  // namespace tabacus
