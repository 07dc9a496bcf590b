#include "browser/core/locks_core.hpp"

namespace tabacus::browser {
namespace {

Error ended() { return {ErrorCode::closed, "the transaction has ended"}; }

}  // namespace

void LocksCore::prepare(LockOptions& options, int within, int request) {
    options.signal = requests_.begin(request);
    if (const auto outer = held_.find(within); outer != held_.end()) {
        options.within = outer->second.grant();
    }
}

void LocksCore::acquire(std::vector<std::string> names, LockOptions options, int within,
                        int request, PromiseId promise) {
    prepare(options, within, request);
    requests_.run(scope_, take(std::move(names), std::move(options)), request, promise,
                  Resolve{promise});
}

void LocksCore::acquire_permit(const std::string& name, int permits, LockOptions options,
                               int within, int request, PromiseId promise) {
    prepare(options, within, request);
    requests_.run(scope_, take_permit(name, permits, std::move(options)), request, promise,
                  Resolve{promise});
}

Task<LocksCore::Numbers> LocksCore::take_permit(std::string name, int permits,
                                                LockOptions options) {
    auto held = co_await semaphore_.acquire(std::move(name), permits, std::move(options));
    Numbers numbers;
    if (held) numbers.push_back(keep(std::move(held)));
    co_return numbers;
}

Task<LocksCore::Numbers> LocksCore::take(std::vector<std::string> names, LockOptions options) {
    std::vector<Held> taken;
    if (names.size() > 1) {
        taken = co_await table_.acquire_all(std::move(names), std::move(options));
    } else {
        taken.push_back(co_await table_.acquire(names.front(), std::move(options)));
        if (!taken.front()) taken.clear();
    }
    Numbers numbers;
    for (auto& held : taken) numbers.push_back(keep(std::move(held)));
    co_return numbers;
}

int LocksCore::keep(Held held) {
    const int number = ++last_;
    held.on_lost([number](std::string_view reason) { host::lock_lost(number, reason); });
    held_[number] = std::move(held);
    return number;
}

void LocksCore::enter(const std::string& key, LockOptions options, OnceAge age, int request,
                      PromiseId promise) {
    options.signal = requests_.begin(request);
    requests_.run(scope_, once_.enter(key, std::move(options), age), request, promise,
                  [this, promise](OnceTurn turn) {
                      const int held = turn.outcome ? 0 : keep(std::move(turn.held));
                      Resolve{promise}(OnceEntry{std::move(turn.outcome), held});
                  });
}

void LocksCore::settle_once(const std::string& key, int held, OnceOutcome outcome,
                            PromiseId promise) {
    auto found = held_.extract(held);
    settle(
        scope_,
        once_.settle(key, found.empty() ? Held() : std::move(found.mapped()), std::move(outcome)),
        promise);
}

double LocksCore::token(int held) const {
    const auto found = held_.find(held);
    const auto token = found == held_.end() ? std::nullopt : found->second.token();
    return token ? static_cast<double>(*token) : __builtin_nan("");
}

void LocksCore::check_max_hold(int held) const {
    const auto found = held_.find(held);
    if (found != held_.end()) found->second.check_max_hold();
}

void LocksCore::release(int held) {
    // The lock is removed from the table first, because code that the release resumes may release
    // other locks.
    const auto released = held_.extract(held);
}

void LocksCore::wait_for_unlock(const std::string& name, std::optional<double> timeout_ms,
                                int request, PromiseId promise) {
    requests_.run(scope_, table_.wait_for_unlock(name, requests_.begin(request), timeout_ms),
                  request, promise, Resolve{promise});
}

void LocksCore::watch(const std::string& name, int watch) {
    watches_[watch] = table_.on_change(name, [watch] { host::lock_changed(watch); });
}

void LocksCore::capabilities(PromiseId promise) const {
    Resolve{promise}(LockCapabilities{table_.exclusion(), table_.fenced(), table_.tab()});
}

// --- Fenced transactions ------------------------------------------------------------------------

void LocksCore::begin(int held, PromiseId promise) { settle(scope_, open(held), promise); }

Task<std::int64_t> LocksCore::open(int held) {
    const auto found = held_.find(held);
    if (found == held_.end()) {
        co_await fail(ErrorCode::lock_lost, "the lock is already released");
    }
    co_return keep(co_await found->second.begin());
}

int LocksCore::keep(FencedTransaction transaction) {
    const int number = ++last_;
    transactions_[number] = std::make_shared<FencedTransaction>(std::move(transaction));
    return number;
}

void LocksCore::get(int transaction, const std::string& store, const std::string& key,
                    PromiseId promise) {
    const auto found = transactions_.find(transaction);
    if (found == transactions_.end()) return Reject{promise}(failure_of(ended()));
    settle(
        scope_,
        [](std::shared_ptr<FencedTransaction> of, std::string from,
           std::string what) -> Task<Text> {
            // Moved, because a parameter would live as long as the coroutine's frame.
            const auto read = std::move(of);
            co_return co_await read->get(std::move(from), std::move(what));
        }(found->second, store, key),
        promise);
}

void LocksCore::list(int transaction, const std::string& store, const std::string& prefix,
                     PromiseId promise) {
    const auto found = transactions_.find(transaction);
    if (found == transactions_.end()) return Reject{promise}(failure_of(ended()));
    settle(
        scope_,
        [](std::shared_ptr<FencedTransaction> of, std::string from,
           std::string start) -> Task<std::vector<Row>> {
            const auto listed = std::move(of);
            co_return co_await listed->list(std::move(from), std::move(start));
        }(found->second, store, prefix),
        promise);
}

void LocksCore::commit(int transaction, std::vector<FencedWrite> writes, PromiseId promise) {
    settle(scope_, write(transaction, std::move(writes)), promise);
}

Task<void> LocksCore::write(int transaction, std::vector<FencedWrite> writes) {
    auto writing = co_await written(transaction, std::move(writes));
    co_await writing.commit();
}

Task<FencedTransaction> LocksCore::written(int transaction, std::vector<FencedWrite> writes) {
    const auto found = transactions_.extract(transaction);
    if (found.empty()) co_await fail(ended());
    auto& writing = *found.mapped();
    for (const auto& [store, key, value] : writes) {
        if (value) {
            writing.put(store, key, *value);
        } else {
            writing.remove(store, key);
        }
    }
    co_return std::move(writing);
}

// --- Calls to a leader --------------------------------------------------------------------------

void LocksCore::call_leader(const std::string& name, const std::string& call,
                            LeaderCallOptions options, int request, PromiseId promise) {
    options.signal = requests_.begin(request);
    requests_.run(scope_, leader_.call(name, call, std::move(options)), request, promise,
                  Resolve{promise});
}

std::shared_ptr<Grant> LocksCore::term(int held) const {
    const auto found = held_.find(held);
    return found == held_.end() ? nullptr : found->second.grant();
}

void LocksCore::begin_term(const std::string& name, int held, PromiseId promise) {
    const auto grant = term(held);
    if (!grant) return Resolve{promise}();
    settle(scope_, leader_.begin_term(name, grant), promise);
}

void LocksCore::next_call(const std::string& name, int held, PromiseId promise) {
    const auto grant = term(held);
    if (!grant) return Resolve{promise}(std::optional<LeaderCall>());
    settle(scope_, leader_.next(name, grant), promise);
}

void LocksCore::begin_answer(const std::string& name, const std::string& id, int held,
                             PromiseId promise) {
    settle(scope_, open_answer(name, id, term(held)), promise);
}

Task<std::int64_t> LocksCore::open_answer(std::string name, std::string id,
                                          std::shared_ptr<Grant> term) {
    if (!term) co_await fail(ErrorCode::lock_lost, "the term has been handed over");
    auto transaction = co_await leader_.answering(std::move(name), std::move(id), std::move(term));
    co_return transaction ? keep(std::move(*transaction)) : 0;
}

void LocksCore::answer(const std::string& name, const std::string& id, int transaction,
                       LeaderAnswer answer, std::vector<FencedWrite> writes, PromiseId promise) {
    settle(scope_, give(name, id, transaction, std::move(answer), std::move(writes)), promise);
}

Task<void> LocksCore::give(std::string name, std::string id, int transaction, LeaderAnswer answer,
                           std::vector<FencedWrite> writes) {
    auto writing = co_await written(transaction, std::move(writes));
    co_await leader_.answer(std::move(name), std::move(id), std::move(writing), std::move(answer));
}

}  // namespace tabacus::browser
