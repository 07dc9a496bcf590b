// The part of a LabTab for connections that die or do not answer. It repeats transactions by the
// rules of js/host/transaction.js, whose table has the states: all operations are made again on
// another connection. Reads must have the same answers as before. A transaction that may have been
// committed is repeated only if it wrote a proof, and only after the proof was looked for.
#include <algorithm>
#include <utility>

#include "lab_parts.hpp"

namespace tabacus::lab {
namespace {

/// How often a transaction is repeated: `repetitionsMax` of js/host/transaction.js.
constexpr int repetitions_max = 3;

/// After so long without an answer a connection counts as dead. It is the default of
/// `timeouts.transaction` and the interval of the check (`checksPerTimeout` of js/host/database.js).
constexpr double silent_max_ms = 12'500;

/// Whether a row is a proof (docs/formats.md): `isProof` of js/host/transaction.js.
bool is_proof(const Operation& operation) {
    if (operation.kind != Operation::Kind::put) return false;
    if (operation.store != Store::locks && operation.store != Store::jobs) return false;
    return operation.key.ends_with("/commit") &&
           operation.key.find('/') == operation.key.size() - std::string_view("/commit").size();
}

bool equal_rows(const std::vector<Row>& some, const std::vector<Row>& others) {
    return std::ranges::equal(some, others, [](const Row& one, const Row& other) {
        return one.key == other.key && one.value == other.value && one.foreign == other.foreign;
    });
}

}  // namespace

/// Makes a request, or makes it again. A commit waits until all reads are compared.
void LabTab::LabDatabase::send_again(const ClientPointer& client, std::size_t index) {
    const auto& request = client->requests[index];
    auto operation = request.operation;
    if (operation.kind == Operation::Kind::commit && client->uncompared > 0) return;
    const bool awaited = request.answered || request.known;
    if (awaited) {
        operation.reply = [this, client, id = client->id, connection = client->connection,
                           index](const Operation::Reply& reply) {
            if (client->waiting || client->id != id) return;
            tab_.in_tab(
                Source::Kind::database,
                [this, client, id, index, reply] { answer(client, id, index, reply); },
                digest_of(id, reply), connection);
        };
    }
    tab_.origin_.database_.enqueue(client->id, std::move(operation));
}

void LabTab::LabDatabase::issue(const ClientPointer& client, Operation operation,
                                Answered answered) {
    if (!tab_.origin_.connections_die_) return send(client, std::move(operation), answered);
    if (client->ended) {
        if (!answered) return;
        const auto report = [client, answered] { answered(*client, {client->ended, {}}); };
        return tab_.in_tab(Source::Kind::database, report, 3, connection_);
    }
    client->requests.push_back({std::move(operation), std::move(answered), std::nullopt});
    if (!client->waiting) send_again(client, client->requests.size() - 1);
}

void LabTab::LabDatabase::answer(const ClientPointer& client, TransactionId id, std::size_t index,
                                 const Operation::Reply& reply) {
    if (client->waiting || client->id != id || client->ended) return;
    auto& request = client->requests[index];
    if (request.known) return compare(client, *request.known, reply);
    if (!reply.error) request.known = reply.rows;
    const auto answered = std::exchange(request.answered, nullptr);
    if (answered) answered(*client, reply);
}

/// Compares the answer to a read that was made again with what the tab knows. A failure is
/// reported to the operation that the tab awaits.
void LabTab::LabDatabase::compare(const ClientPointer& client, const std::vector<Row>& known,
                                  const Operation::Reply& reply) {
    --client->uncompared;
    if (reply.error) {
        // The attempt was aborted. A commit that waits for this read is not sent any more.
        if (client->commit_called)
            end(*client, client->uncertain ? failure_of(*client) : *reply.error);
        return;
    }
    if (!equal_rows(known, reply.rows)) {
        client->uncompared = 0;
        tab_.origin_.database_.abort(client->id, ErrorCode::store_failed);
        return end(*client, failure_of(*client));
    }
    if (client->commit_called && client->uncompared == 0) {
        send_again(client, client->requests.size() - 1);
    }
}

/// Whether the tab awaits anything of the transaction.
bool LabTab::LabDatabase::in_progress(const Client& client) const {
    if (client.waiting || client.ended) return false;
    if (client.cancelled && client.awaited == 0) return false;
    return client.awaited > 0 || (!client.commit_called && tab_.origin_.database_.live(client.id));
}

/// Ends the attempts of all transactions. A hung attempt whose commit() was called cannot be
/// aborted. Returns whether there was any.
bool LabTab::LabDatabase::lose_attempts() {
    bool any = false;
    for (const auto& client : clients_) {
        if (!in_progress(*client)) continue;
        any = client->waiting = client->lost = true;
        client->uncompared = 0;
        client->uncertain = client->uncertain || client->commit_called;
        if (hung_ && client->commit_called) continue;
        tab_.origin_.database_.abort(client->id, ErrorCode::store_failed);
    }
    dead_ = open_;
    return any;
}

void LabTab::LabDatabase::kill_connection() {
    auto& origin = tab_.origin_;
    origin.note_stop(tab_);
    if (!connected()) return;
    origin.recorder_.trace(tab_.id_, Object::faults,
                           [] { return std::string("has a dead connection to the database"); });
    const Source replies{Source::Kind::database, tab_.id_, connection_};
    origin.recorder_.note(Object::queue, key_of(replies), AccessKind::write);
    origin.scheduler_.truncate(replies, 0);
    tab_.observe(lab::digest(static_cast<std::uint64_t>(Source::Kind::database), 1U));
    // The tab learns of it from a transaction that is aborted, or else when it begins another one.
    if (!lose_attempts()) return;
    tab_.in_tab(Source::Kind::database, [this] { found_dead(); }, 2, connection_);
}

/// Drops a dead connection, and repeats its transactions on another one.
void LabTab::LabDatabase::found_dead() {
    std::vector<ClientPointer> repeated;
    for (const auto& client : clients_) {
        if (client->waiting && std::exchange(client->lost, false)) repeated.push_back(client);
    }
    if (std::exchange(dead_, false) && std::exchange(open_, false)) {
        was_closed_ = true;
        events_.call({DatabaseEvent::Kind::closed, ""});
    }
    for (const auto& client : repeated) repeat(client);
}

ErrorCode LabTab::LabDatabase::failure_of(const Client& client) {
    return client.uncertain ? ErrorCode::unknown_commit : ErrorCode::store_failed;
}

void LabTab::LabDatabase::repeat(const ClientPointer& client) {
    const bool proof = std::ranges::any_of(
        client->requests, [](const Request& request) { return is_proof(request.operation); });
    if (client->cancelled) return end(*client, ErrorCode::store_failed);
    if (++client->repetitions > repetitions_max || (client->uncertain && !proof)) {
        return end(*client, failure_of(*client));
    }
    if (open_) return restart(client);
    waiting_.push_back({client->scope,
                        client->access,
                        client->durability,
                        TransactionGroup::Member(nullptr),
                        {},
                        client});
    if (openings_.empty() && waiting_.size() == 1) request_opening();
}

void LabTab::LabDatabase::restart(const ClientPointer& client) {
    if (client->cancelled || client->ended) return end(*client, ErrorCode::store_failed);
    auto& database = tab_.origin_.database_;
    database.drop(client->id);
    client->id = owned_id(tab_.id_, ++tab_.last_transaction_);
    client->connection = connection_;
    client->waiting = false;
    database.begin(client->id, client->scope, client->access, client->durability);
    if (!client->uncertain) return make_requests_again(client);
    const auto proof = std::ranges::find_if(
        client->requests, [](const Request& request) { return is_proof(request.operation); });
    const auto& put = proof->operation;
    Operation look{Operation::Kind::get, put.store, put.key, ""};
    look.reply = [this, client, id = client->id, connection = connection_,
                  value = put.value](const Operation::Reply& reply) {
        if (client->waiting || client->id != id) return;
        const bool found = !reply.rows.empty() && reply.rows.front().value == value;
        tab_.in_tab(
            Source::Kind::database, [this, client, id, found] { proved(client, id, found); },
            digest_of(id, reply), connection);
    };
    database.enqueue(client->id, std::move(look));
}

void LabTab::LabDatabase::proved(const ClientPointer& client, TransactionId id, bool found) {
    if (client->waiting || client->id != id) return;
    if (found) {
        tab_.origin_.database_.abort(id, ErrorCode::store_failed);
        return end(*client, std::nullopt);
    }
    // Another tab's proof may have replaced it: a repetition that reads anything else than before ends
    // with an unknown outcome.
    make_requests_again(client);
}

void LabTab::LabDatabase::make_requests_again(const ClientPointer& client) {
    client->uncompared = static_cast<std::size_t>(std::ranges::count_if(
        client->requests, [](const Request& request) { return request.known.has_value(); }));
    for (std::size_t index = 0; index < client->requests.size(); ++index) {
        send_again(client, index);
    }
}

/// Ends a transaction that is not repeated any more. Its operations fail; without an error its commit
/// succeeds, and its reads fail.
void LabTab::LabDatabase::end(Client& client, std::optional<ErrorCode> error) {
    client.waiting = false;
    client.ended = error.value_or(ErrorCode::store_failed);
    for (auto& request : std::exchange(client.requests, {})) {
        const bool commit = request.operation.kind == Operation::Kind::commit;
        if (request.answered) request.answered(client, {commit ? error : client.ended, {}});
    }
}

// --- Connections that do not answer -------------------------------------------------------------

void LabTab::LabDatabase::hang() {
    auto& origin = tab_.origin_;
    origin.note_stop(tab_);
    origin.recorder_.note(Object::database, 0, AccessKind::write);
    origin.recorder_.trace(tab_.id_, Object::faults, [] {
        return std::string("has a connection to the database that does not answer");
    });
    tab_.observe(lab::digest(static_cast<std::uint64_t>(Source::Kind::database), 2U));
    hung_ = true;
    hung_last_ = UINT32_MAX;
    watch();
}

/// Sets the timer after which the tab gives the connection up, if it hangs and is used.
void LabTab::LabDatabase::watch() {
    if (!hung_ || gave_up() || watching_ || !used()) return;
    watching_ = true;
    Action due = [this] { give_up(); };
    auto& clock = tab_.origin_.clock_;
    if (tab_.hidden_) {
        clock.start_throttled(tab_.id_, silent_max_ms, std::move(due));
    } else {
        clock.start(tab_.id_, silent_max_ms, std::move(due));
    }
}

bool LabTab::LabDatabase::used() const {
    return std::ranges::any_of(clients_,
                               [this](const auto& client) { return in_progress(*client); });
}

void LabTab::LabDatabase::give_up() {
    watching_ = false;
    if (!hung_ || gave_up() || !used()) return;
    hung_last_ = tab_.last_transaction_;
    lose_attempts();
    found_dead();
}

void LabTab::LabDatabase::answer_again() {
    auto& recorder = tab_.origin_.recorder_;
    recorder.note(Object::database, 0, AccessKind::write);
    recorder.note(Object::pulse, tab_.id_, AccessKind::write);
    recorder.note(Object::turn, tab_.id_, AccessKind::write);
    if (!std::exchange(hung_, false)) return;
    recorder.trace(tab_.id_, Object::faults, [] { return std::string("is answered again"); });
}

// --- The faults of an origin ------------------------------------------------------------------

void Origin::kill_connection(LabTab& tab) { tab.database_->kill_connection(); }

void Origin::hang(LabTab& tab) { tab.database_->hang(); }

void Origin::answer_again(LabTab& tab) { tab.database_->answer_again(); }

bool Origin::hung(const LabTab& tab) const { return tab.database_->hung(); }

bool Origin::gave_up(const LabTab& tab) const { return tab.database_->gave_up(); }

}  // namespace tabacus::lab
