// The part of a LabTab for the database and its transactions.
#include <algorithm>
#include <stdexcept>

#include "lab_parts.hpp"
#include "protocol/common/version_guard.hpp"

namespace tabacus::lab {

std::uint64_t digest_of(TransactionId id, const Operation::Reply& reply) {
    Digest all(id);
    all.add(reply.error ? static_cast<std::uint64_t>(*reply.error) + 1 : 0);
    for (const auto& row : reply.rows) {
        all.add(std::string_view(row.key))
            .add(std::string_view(row.value))
            .add(row.foreign ? 1 : 0);
    }
    return all.value();
}

namespace {

Error failure(ErrorCode code) {
    return Error(code, std::string("IndexedDB: ") + std::string(code_name(code)));
}

}  // namespace

Async<Unit> LabTab::LabDatabase::open() {
    if (!tab_.alive_) return never<Unit>();
    if (!available()) return Async<Unit>::failed(failure(ErrorCode::unavailable));
    if (open_) return Unit{};
    const Completer<Unit> completer;
    openings_.push_back(completer);
    if (waiting_.empty() && openings_.size() == 1) request_opening();
    return completer.async();
}

Async<std::unique_ptr<Transaction>> LabTab::LabDatabase::begin(Stores scope, Access access,
                                                               Durability durability,
                                                               const TransactionGroup* group) {
    using Result = Async<std::unique_ptr<Transaction>>;
    if (!tab_.alive_) return never<std::unique_ptr<Transaction>>();
    if (!available()) return Result::failed(failure(ErrorCode::unavailable));
    if (dead_) found_dead();
    TransactionGroup::Member member(group);
    if (open_) return Result(make(scope, access, durability, std::move(member)));
    waiting_.push_back({scope, access, durability, std::move(member), {}});
    if (openings_.empty() && waiting_.size() == 1) request_opening();
    return waiting_.back().completer.async();
}

void LabTab::LabDatabase::request_opening() {
    tab_.in_tab(Source::Kind::database, [this] { opened(); }, 0);
}

void LabTab::LabDatabase::opened() {
    auto& database = tab_.origin_.database_;
    const auto openings = std::exchange(openings_, {});
    auto waiting = std::exchange(waiting_, {});
    if (database.refusing()) {
        const auto refused = std::make_exception_ptr(failure(ErrorCode::store_failed));
        for (const auto& opening : openings) opening.fail(refused);
        for (const auto& request : waiting) {
            request.completer.fail(refused);
            if (request.repeated) end(*request.repeated, ErrorCode::store_failed);
        }
        return;
    }
    open_ = true;
    lost_ = dead_ = false;
    ++connection_;
    if (auto data_loss = database.create_if_missing()) {
        events_.call({DatabaseEvent::Kind::created, std::move(*data_loss)});
    }
    for (const auto& opening : openings) opening.complete({});
    for (auto& [scope, access, durability, member, completer, repeated] : waiting) {
        if (repeated) {
            restart(repeated);
        } else {
            completer.complete(make(scope, access, durability, std::move(member)));
        }
    }
}

std::unique_ptr<Transaction> LabTab::LabDatabase::make(Stores scope, Access access,
                                                       Durability durability,
                                                       TransactionGroup::Member member) {
    auto& database = tab_.origin_.database_;
    const auto id = owned_id(tab_.id_, ++tab_.last_transaction_);
    database.begin(id, scope, access, durability);
    if (lost_) database.abort(id, ErrorCode::store_failed);
    std::erase_if(clients_, [&](const auto& client) {
        return client->awaited == 0 && !client->waiting && !database.live(client->id);
    });
    auto client = std::make_shared<Client>(Client{id, connection_, scope, access});
    client->durability = durability;
    clients_.push_back(client);
    watch();
    return std::make_unique<LabTransaction>(tab_, std::move(client), std::move(member));
}

void LabTab::LabDatabase::abort_uncommitted() {
    for (const auto& client : clients_) {
        if (client->commit_called) continue;
        tab_.origin_.database_.abort(client->id, ErrorCode::store_failed);
    }
}

void LabTab::LabDatabase::lose_under_way() {
    for (const auto& client : clients_) client->unreported = true;
}

bool LabTab::LabDatabase::commits_under_way() const {
    return std::any_of(clients_.begin(), clients_.end(), [this](const auto& client) {
        return client->commit_called && tab_.origin_.database_.live(client->id);
    });
}

void LabTab::LabDatabase::check_end_of_turn() const {
    for (const auto& client : clients_) {
        if (client->awaited > 0 || client->commit_called || client->uncompared > 0) continue;
        if (!tab_.origin_.database_.live(client->id)) continue;
        throw std::logic_error("a transaction was left with nothing to do at the end of a turn");
    }
}

// --- Transactions -------------------------------------------------------------------------------

LabTab::LabTransaction::~LabTransaction() {
    if (!client_->commit_called) client_->cancelled = true;
    tab_.origin_.database_.drop(client_->id);
}

/// Throws std::logic_error for a call that would throw in a browser (NotFoundError, ReadOnlyError,
/// TransactionInactiveError), which is a defect of the program.
void LabTab::LabTransaction::check(Store store, Access access) const {
    if (!client_->scope.has(store)) {
        throw std::logic_error("the store is not in the transaction's scope");
    }
    if (access == Access::write && client_->access == Access::read) {
        throw std::logic_error("a write in a read-only transaction");
    }
    if (client_->commit_called) throw std::logic_error("a call after commit()");
}

template <typename T, typename Convert>
Async<T> LabTab::LabTransaction::ask(Operation operation, Convert convert) {
    if (!tab_.alive_) return never<T>();
    Completer<T> completer;
    ++client_->awaited;
    const auto by = operation.kind == Operation::Kind::list ? ReadBy::list : ReadBy::get;
    auto answered = [completer, convert, by, store = operation.store](
                        LabDatabase::Client& client, const Operation::Reply& reply) {
        --client.awaited;
        auto error = reply.error;
        if (client.unreported) error = ErrorCode::store_failed;
        if (client.commit_called && (client.connection_lost || client.unreported)) {
            error = ErrorCode::unknown_commit;
        }
        const auto barred = std::ranges::find_if(reply.rows, [&](const Row& row) {
            return is_newer_row(store, row.key, row.value) && bars_reader(store, by, row.key);
        });
        if (error) {
            completer.fail(std::make_exception_ptr(failure(*error)));
        } else if (barred != reply.rows.end()) {
            completer.fail(std::make_exception_ptr(newer_record(barred->key)));
        } else {
            completer.complete(convert(reply));
        }
    };
    auto async = completer.async();
    tab_.database_->issue(client_, std::move(operation), std::move(answered));
    return async;
}

/// While an earlier connection of the tab is closing, its events and those of the next connection
/// may arrive in any order.
void LabTab::LabDatabase::send(const ClientPointer& client, Operation operation,
                               const Answered& answered) {
    if (answered) {
        operation.reply = [tab = &tab_, connection = client->connection, client,
                           answered](const Operation::Reply& reply) {
            tab->in_tab(
                Source::Kind::database, [client, answered, reply] { answered(*client, reply); },
                digest_of(client->id, reply), connection);
        };
    }
    tab_.origin_.database_.enqueue(client->id, std::move(operation));
}

void LabTab::LabTransaction::write(Operation operation) {
    if (tab_.alive_) tab_.database_->issue(client_, std::move(operation), nullptr);
}

Async<std::optional<Row>> LabTab::LabTransaction::get(Store store, std::string_view key) {
    check(store, Access::read);
    return ask<std::optional<Row>>({Operation::Kind::get, store, std::string(key), ""},
                                   [](const Operation::Reply& reply) -> std::optional<Row> {
                                       if (reply.rows.empty()) return std::nullopt;
                                       return reply.rows.front();
                                   });
}

Async<std::vector<Row>> LabTab::LabTransaction::list(Store store, std::string_view prefix,
                                                     std::uint32_t limit, std::string_view from) {
    check(store, Access::read);
    return ask<std::vector<Row>>(
        {Operation::Kind::list, store, std::string(prefix), std::string(from), nullptr, limit},
        [](const Operation::Reply& reply) { return reply.rows; });
}

void LabTab::LabTransaction::put(Store store, std::string_view key, std::string_view value) {
    check(store, Access::write);
    write({Operation::Kind::put, store, std::string(key), std::string(value)});
}

void LabTab::LabTransaction::remove(Store store, std::string_view key) {
    check(store, Access::write);
    write({Operation::Kind::remove, store, std::string(key), ""});
}

void LabTab::LabTransaction::remove_range(Store store, std::string_view first,
                                          std::string_view last) {
    check(store, Access::write);
    write({Operation::Kind::remove, store, std::string(first), std::string(last)});
}

Async<std::optional<std::string>> LabTab::LabTransaction::holder(std::string_view subject) {
    check(Store::claims, Access::read);
    return ask<std::optional<std::string>>(
        {Operation::Kind::holder, Store::claims, "", std::string(subject)},
        [](const Operation::Reply& reply) -> std::optional<std::string> {
            if (reply.rows.empty()) return std::nullopt;
            return reply.rows.front().value;
        });
}

void LabTab::LabTransaction::claim(std::string_view subject, std::string_view holder) {
    check(Store::claims, Access::write);
    write({Operation::Kind::claim, Store::claims, std::string(holder), std::string(subject)});
}

void LabTab::LabTransaction::release(std::string_view holder) {
    check(Store::claims, Access::write);
    write({Operation::Kind::release, Store::claims, std::string(holder), ""});
}

Async<Unit> LabTab::LabTransaction::commit() {
    if (client_->commit_called) throw std::logic_error("commit() called twice");
    client_->commit_called = true;
    return ask<Unit>({Operation::Kind::commit, Store::claims, "", ""},
                     [](const Operation::Reply&) { return Unit{}; });
}

void LabTab::LabTransaction::abort() {
    if (client_->commit_called) return;
    client_->cancelled = true;
    tab_.origin_.recorder_.note(Object::transaction, client_->id, AccessKind::write);
    tab_.origin_.database_.abort(client_->id, ErrorCode::store_failed);
}

}  // namespace tabacus::lab
