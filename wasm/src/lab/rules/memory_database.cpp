#include "memory_database.hpp"

#include <algorithm>

namespace tabacus::lab {
namespace {

/// The number of relaxed commits that a crash can take back. The bound keeps long runs small.
constexpr std::size_t relaxed_max = 16;

std::size_t bytes_of(const Contents& contents) {
    std::size_t bytes = 0;
    for (const auto& rows : contents) {
        for (const auto& [key, value] : rows) bytes += key.size() + value.text.size();
    }
    return bytes;
}

Row row_of(const StoreRows::value_type& stored) {
    const auto& [key, value] = stored;
    return {key, value.foreign ? std::string() : value.text, value.foreign};
}

bool is_read(Operation::Kind kind) {
    return kind == Operation::Kind::get || kind == Operation::Kind::list ||
           kind == Operation::Kind::holder;
}

/// Returns the claim on a subject. There is at most one: a unique index refuses a second record
/// with the same index key (ConstraintError), and the transaction aborts (§6.1 "Object store
/// storage operation").
auto claim_on(const StoreRows& claims, std::string_view subject) {
    return std::find_if(claims.begin(), claims.end(), [&](const auto& claim) {
        return !claim.second.foreign && claim.second.text == subject;
    });
}

}  // namespace

void MemoryDatabase::note_order(Stores scope, Access access) const {
    for (std::size_t store = 0; store < store_count; ++store) {
        if (!scope.has(static_cast<Store>(store))) continue;
        recorder_->note(Object::order, store,
                        access == Access::read ? AccessKind::read : AccessKind::write);
    }
}

void MemoryDatabase::note_settled(Stores scope, AccessKind access) const {
    for (std::size_t store = 0; store < store_count; ++store) {
        if (scope.has(static_cast<Store>(store))) recorder_->note(Object::settled, store, access);
    }
}

void MemoryDatabase::begin(TransactionId id, Stores scope, Access access, Durability durability) {
    note_order(scope, access);
    live_.emplace(id, Live{++begun_, scope, access, durability, {}, {}, false});
}

/// Whether a transaction may run (§2.7.2). A read-write transaction waits for every earlier one
/// with an overlapping scope, a read-only transaction only for the earlier read-write ones.
bool MemoryDatabase::may_run(const Live& transaction) const {
    return std::none_of(live_.begin(), live_.end(), [&](const auto& entry) {
        const Live& earlier = entry.second;
        if (earlier.begun >= transaction.begun) return false;
        if (earlier.access == Access::read && transaction.access == Access::read) return false;
        return earlier.scope.overlaps(transaction.scope);
    });
}

void MemoryDatabase::announce() {
    for (auto& [id, transaction] : live_) {
        if (transaction.announced || transaction.operations.empty()) continue;
        if (!may_run(transaction)) continue;
        transaction.announced = true;
        on_runnable_(id);
    }
}

void MemoryDatabase::enqueue(TransactionId id, Operation operation) {
    recorder_->note(Object::transaction, id, AccessKind::write);
    const auto found = live_.find(id);
    if (found == live_.end()) {
        const auto reason = aborted_.find(id);
        const bool known = operation.kind == Operation::Kind::commit && reason != aborted_.end();
        const auto error = known ? reason->second : ErrorCode::store_failed;
        if (operation.reply) operation.reply({error, {}});
        return;
    }
    found->second.operations.push_back(std::move(operation));
    announce();
}

void MemoryDatabase::trace(TransactionId id, const Operation& operation) const {
    constexpr std::array<const char*, 8> verbs = {
        "gets",   "lists",    "puts",   "removes", "looks for the holder of",
        "claims", "releases", "commits"};
    recorder_->trace(static_cast<std::uint32_t>(id >> 32U), Object::transaction, [&] {
        auto text = std::string(verbs.at(static_cast<std::size_t>(operation.kind)));
        if (!operation.key.empty()) text += " " + operation.key;
        const bool from = operation.kind == Operation::Kind::list;
        if (!operation.value.empty()) text += (from ? " from " : " = ") + operation.value;
        return text;
    });
}

void MemoryDatabase::execute(TransactionId id) {
    const auto found = live_.find(id);
    if (found == live_.end()) return;
    Live& transaction = found->second;
    recorder_->note(Object::transaction, id, AccessKind::write);
    recorder_->note(Object::database, 0, AccessKind::read);
    note_settled(transaction.scope, AccessKind::read);
    if (failing_from_ != 0) recorder_->note(Object::database, 0, AccessKind::write);
    transaction.announced = false;
    while (!transaction.operations.empty()) {
        Operation operation = std::move(transaction.operations.front());
        transaction.operations.pop_front();
        ++operations_;
        Operation::Reply reply;
        trace(id, operation);
        const bool failing = operations_ >= failing_from_ && operations_ <= failing_until_;
        if (failing || operations_ == failing_again_) {
            reply.error = ErrorCode::store_failed;
        } else {
            perform(transaction, operation, reply);
        }
        if (reply.error || operation.kind == Operation::Kind::commit) {
            const bool is_commit = operation.kind == Operation::Kind::commit;
            if (is_read(operation.kind)) operation.reply({ErrorCode::store_failed, {}});
            finish(id, reply.error, is_commit ? &operation : nullptr);
            return;
        }
        if (operation.reply) {
            operation.reply(std::move(reply));
            break;
        }
    }
    announce();
}

StoreRows MemoryDatabase::visible(const Live& transaction, Store store) const {
    StoreRows rows = contents_[index(store)];
    for (const auto& [key, value] : transaction.changes) {
        if (key.first != index(store)) continue;
        if (value) {
            rows.insert_or_assign(key.second, *value);
        } else {
            rows.erase(key.second);
        }
    }
    return rows;
}

void MemoryDatabase::remove_range(Live& transaction, const Operation& operation) {
    const auto rows = visible(transaction, operation.store);
    const auto end = rows.upper_bound(operation.value);
    for (auto row = rows.lower_bound(operation.key); row != end; ++row) {
        transaction.changes[{index(operation.store), row->first}] = std::nullopt;
    }
}

void MemoryDatabase::perform(Live& transaction, Operation& operation, Operation::Reply& reply) {
    using Kind = Operation::Kind;
    const Key key{index(operation.store), operation.key};
    switch (operation.kind) {
        case Kind::get: {
            const auto rows = visible(transaction, operation.store);
            const auto found = rows.find(operation.key);
            if (found != rows.end()) reply.rows.push_back(row_of(*found));
            break;
        }
        case Kind::list:
            for (const auto& stored : visible(transaction, operation.store)) {
                if (reply.rows.size() == operation.limit) break;
                if (stored.first < operation.value) continue;
                if (stored.first.starts_with(operation.key)) reply.rows.push_back(row_of(stored));
            }
            break;
        case Kind::put:
            transaction.changes[key] = StoredValue{std::move(operation.value), false};
            break;
        case Kind::remove:
            if (!operation.value.empty()) {
                remove_range(transaction, operation);
                break;
            }
            [[fallthrough]];
        case Kind::release:
            transaction.changes[key] = std::nullopt;
            break;
        case Kind::holder: {
            const auto claims = visible(transaction, Store::claims);
            const auto found = claim_on(claims, operation.value);
            if (found != claims.end()) reply.rows.push_back({operation.value, found->first});
            break;
        }
        case Kind::claim: {
            auto claims = visible(transaction, Store::claims);
            claims.erase(operation.key);  // a claim replaces the same holder's earlier one
            if (claim_on(claims, operation.value) != claims.end()) {
                reply.error = ErrorCode::fenced;
                break;
            }
            transaction.changes[key] = StoredValue{std::move(operation.value), false};
            break;
        }
        case Kind::commit:
            reply.error = over_quota(transaction);
            if (quota_bytes_) recorder_->note(Object::database, 0, AccessKind::write);
            break;
    }
}

std::optional<ErrorCode> MemoryDatabase::over_quota(const Live& transaction) const {
    if (!quota_bytes_) return std::nullopt;
    Contents after = contents_;
    apply(after, transaction.changes);
    const auto bytes = bytes_of(after);
    if (bytes <= *quota_bytes_ || bytes <= bytes_of(contents_)) return std::nullopt;
    return ErrorCode::quota_exceeded;
}

void MemoryDatabase::apply(Contents& contents, const Changes& changes) {
    for (const auto& [key, value] : changes) {
        auto& rows = contents.at(key.first);
        if (value) {
            rows.insert_or_assign(key.second, *value);
        } else {
            rows.erase(key.second);
        }
    }
}

void MemoryDatabase::keep(Live transaction) {
    apply(contents_to_change(), transaction.changes);
    relaxed_.push_back(std::move(transaction.changes));
    const bool strict = transaction.durability == Durability::strict;
    while (!relaxed_.empty() && (strict || relaxed_.size() > relaxed_max)) {
        apply(durable_, relaxed_.front());
        relaxed_.pop_front();
    }
}

void MemoryDatabase::finish(TransactionId id, std::optional<ErrorCode> error,
                            const Operation* commit) {
    auto node = live_.extract(id);
    Live& transaction = node.mapped();
    recorder_->note(Object::transaction, id, AccessKind::write);
    note_settled(transaction.scope, AccessKind::write);
    auto waiting = std::move(transaction.operations);
    recorder_->trace(static_cast<std::uint32_t>(id >> 32U), Object::transaction, [&] {
        return error ? "has its transaction aborted: " + std::string(code_name(*error))
                     : std::string("has committed");
    });
    if (error) {
        aborted_.emplace(id, *error);
    } else {
        keep(std::move(transaction));
    }
    if (commit != nullptr) commit->reply({error, {}});
    for (const auto& operation : waiting) {
        if (!operation.reply) continue;
        const bool is_commit = operation.kind == Operation::Kind::commit;
        operation.reply({is_commit && error ? *error : ErrorCode::store_failed, {}});
    }
    announce();
}

void MemoryDatabase::abort(TransactionId id, ErrorCode reason) {
    if (live_.contains(id)) finish(id, reason, nullptr);
}

void MemoryDatabase::drop(TransactionId id) {
    recorder_->note(Object::transaction, id, AccessKind::write);
    if (!committing(id)) abort(id, ErrorCode::store_failed);
    aborted_.erase(id);
}

bool MemoryDatabase::committing(TransactionId id) const {
    const auto found = live_.find(id);
    return found != live_.end() && !found->second.operations.empty() &&
           found->second.operations.back().kind == Operation::Kind::commit;
}

void MemoryDatabase::decide(TransactionId id, bool happens) {
    if (happens && committing(id) && may_run(live_.at(id))) {
        while (live_.contains(id)) execute(id);
    } else {
        abort(id, ErrorCode::store_failed);
    }
}

std::optional<std::string> MemoryDatabase::create_if_missing() {
    recorder_->note(Object::existence, 0, exists_ ? AccessKind::read : AccessKind::write);
    recorder_->observe([this] { return exists_ ? 1 : lab::digest(std::string_view(data_loss_)); });
    if (std::exchange(exists_, true)) return std::nullopt;
    Changes made;
    made[{index(Store::meta), "generation"}] =
        StoredValue{"g" + std::to_string(++generations_), false};
    apply(contents_to_change(), made);
    apply(durable_, made);
    return std::exchange(data_loss_, "none");
}

void MemoryDatabase::lose(std::string data_loss) {
    recorder_->note(Object::existence, 0, AccessKind::write);
    recorder_->note(Object::database, 0, AccessKind::write);
    data_loss_ = std::move(data_loss);
    while (!live_.empty()) abort(live_.begin()->first, ErrorCode::store_failed);
    exists_ = false;
    contents_to_change() = {};
    durable_ = {};
    relaxed_.clear();
}

void MemoryDatabase::crash(SeededRandom& random) {
    crash_keeping(random.below(relaxed_.size() + 1));
}

void MemoryDatabase::crash(bool keep_relaxed) { crash_keeping(keep_relaxed ? relaxed_.size() : 0); }

void MemoryDatabase::crash_keeping(std::size_t commits) {
    while (!live_.empty()) abort(live_.begin()->first, ErrorCode::store_failed);
    for (auto kept = commits; kept > 0; --kept) {
        apply(durable_, relaxed_.front());
        relaxed_.pop_front();
    }
    relaxed_.clear();
    contents_to_change() = durable_;
}

namespace {

std::uint64_t digest_of(std::size_t store, std::string_view key, const StoredValue& value) {
    return digest(store, key, std::string_view(value.text), std::uint64_t{value.foreign});
}

std::uint64_t digest_of(const Contents& contents) {
    std::uint64_t sum = 0;
    for (std::size_t store = 0; store < contents.size(); ++store) {
        for (const auto& [key, value] : contents.at(store)) sum += digest_of(store, key, value);
    }
    return sum;
}

template <typename Changes>
std::uint64_t digest_of_changes(const Changes& changes) {
    std::uint64_t sum = 0;
    for (const auto& [key, value] : changes) {
        sum += value ? digest_of(key.first, key.second, *value)
                     : digest(key.first, std::string_view(key.second));
    }
    return sum;
}

}  // namespace

std::uint64_t MemoryDatabase::digest(bool with_disk) const {
    if (!digest_) digest_ = digest_of(contents_);
    auto sum = *digest_;
    sum +=
        lab::digest(std::uint64_t{exists_}, std::uint64_t{refusing_}, std::string_view(data_loss_),
                    quota_bytes_.value_or(UINT64_MAX), generations_);
    for (const auto& [id, transaction] : live_) {
        Digest all(id);
        all.add(transaction.scope.bits());
        all.add(static_cast<std::uint64_t>(transaction.access))
            .add(static_cast<std::uint64_t>(transaction.durability))
            .add(transaction.announced ? 1 : 0)
            .add(digest_of_changes(transaction.changes));
        for (const auto& operation : transaction.operations) {
            all.add(static_cast<std::uint64_t>(operation.kind))
                .add(index(operation.store))
                .add(operation.key)
                .add(operation.value)
                .add(operation.limit);
        }
        std::uint64_t earlier = 0;
        for (const auto& [other, one] : live_) {
            if (one.begun < transaction.begun) earlier += mixed(other);
        }
        sum += all.add(earlier).value();
    }
    for (const auto& [id, reason] : aborted_) {
        sum += lab::digest(id, static_cast<std::uint64_t>(reason), 7U);
    }
    if (failing_from_ != 0) {
        sum += lab::digest(operations_, failing_from_, failing_until_, failing_again_);
    }
    if (with_disk) {
        Digest disk(digest_of(durable_));
        for (const auto& changes : relaxed_) disk.add(digest_of_changes(changes));
        sum += disk.value();
    }
    return sum;
}

void MemoryDatabase::overwrite(Store store, const std::string& key,
                               std::optional<StoredValue> value) {
    recorder_->note(Object::database, 0, AccessKind::write);
    Changes changes;
    changes[{index(store), key}] = std::move(value);
    apply(contents_to_change(), changes);
    apply(durable_, changes);
}

}  // namespace tabacus::lab
