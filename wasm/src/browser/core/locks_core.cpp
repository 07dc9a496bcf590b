#include "browser/core/locks_core.hpp"

#include "protocol/lock/lock_record.hpp"

namespace tabacus::browser {
namespace {

Error ended() { return {ErrorCode::closed, "the transaction has ended"}; }

}  // namespace

void LocksCore::prepare(LockOptions& options, const Texts& texts, int within, int request) {
    options.signal = requests_.begin(request);
    options.label = texts[0].value_or("");
    if (const auto outer = held_.find(within); outer != held_.end()) {
        options.within = outer->second.grant();
    }
}

void LocksCore::settle_request(Task<Numbers> task, int request, PromiseId promise) {
    requests_.run(scope_, std::move(task), request, promise, [promise](const Numbers& numbers) {
        if (numbers.size() <= 1) {
            return Resolve{promise}(std::int64_t{numbers.empty() ? 0 : numbers.front()});
        }
        std::string texts;
        for (const auto number : numbers) add_text(texts, std::to_string(number));
        Resolve{promise}(texts);
    });
}

void LocksCore::acquire(const Texts& texts, LockOptions options, int within, int request,
                        PromiseId promise) {
    prepare(options, texts, within, request);
    std::vector<std::string> names;
    for (std::size_t i = 1; i < texts.size(); ++i) names.push_back(texts[i].value_or(""));
    settle_request(take(std::move(names), std::move(options), texts.size() > 2), request, promise);
}

void LocksCore::acquire_permit(const Texts& texts, int permits, LockOptions options, int within,
                               int request, PromiseId promise) {
    prepare(options, texts, within, request);
    settle_request(take_permit(texts[1].value_or(""), permits, std::move(options)), request,
                   promise);
}

Task<LocksCore::Numbers> LocksCore::take_permit(std::string name, int permits,
                                                LockOptions options) {
    auto held = co_await semaphore_.acquire(std::move(name), permits, std::move(options));
    Numbers numbers;
    if (held) numbers.push_back(keep(std::move(held)));
    co_return numbers;
}

Task<LocksCore::Numbers> LocksCore::take(std::vector<std::string> names, LockOptions options,
                                         bool all) {
    std::vector<Held> taken;
    if (all) {
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
    held.on_lost([number](std::string_view reason) {
        call(Call::lock_lost, {.object = number, .first = reason});
    });
    held_[number] = std::move(held);
    return number;
}

void LocksCore::enter(const std::string& key, LockOptions options, OnceAge age, int request,
                      PromiseId promise) {
    options.signal = requests_.begin(request);
    requests_.run(scope_, once_.enter(key, std::move(options), age), request, promise,
                  [this, promise](OnceTurn turn) {
                      std::string texts;
                      if (turn.outcome) {
                          add_text(texts, turn.outcome->succeeded ? "s" : "f");
                          add_text(texts, turn.outcome->text);
                      } else {
                          add_text(texts, "h");
                          add_text(texts, std::to_string(keep(std::move(turn.held))));
                      }
                      Resolve{promise}(texts);
                  });
}

void LocksCore::settle_once(const std::string& key, int held, bool succeeded,
                            const std::string& text, PromiseId promise) {
    auto found = held_.extract(held);
    settle(scope_,
           once_.settle(key, found.empty() ? Held() : std::move(found.mapped()), {succeeded, text}),
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
    // Out of the table first: what the release lets run may release others.
    const auto released = held_.extract(held);
}

void LocksCore::query(const std::string& name, PromiseId promise) {
    run_in(
        scope_, table_.query(name),
        [promise](const std::vector<LockRequestInfo>& infos) {
            std::string texts;
            for (const auto& info : infos) {
                add_text(texts, info.held ? "held" : "waiting");
                add_text(texts, info.mode == LockMode::exclusive ? "exclusive" : "shared");
                add_text(texts, info.label);
                add_text(texts, format_since(info.since_ms));
                add_text(texts, info.tab);
            }
            Resolve{promise}(texts);
        },
        Reject{promise});
}

void LocksCore::names(PromiseId promise) {
    run_in(
        scope_, table_.names(),
        [promise](const std::vector<std::string>& names) {
            std::string texts;
            for (const auto& name : names) add_text(texts, name);
            Resolve{promise}(texts);
        },
        Reject{promise});
}

void LocksCore::wait_for_unlock(const std::string& name, double timeout_ms, int request,
                                PromiseId promise) {
    const auto timeout =
        timeout_ms >= 0 ? std::optional<double>(timeout_ms) : std::optional<double>();
    requests_.run(scope_, table_.wait_for_unlock(name, requests_.begin(request), timeout), request,
                  promise, Resolve{promise});
}

void LocksCore::watch(const std::string& name, int watch) {
    watches_[watch] =
        table_.on_change(name, [watch] { call(Call::lock_changed, {.object = watch}); });
}

void LocksCore::capabilities(PromiseId promise) const {
    std::string texts;
    const auto exclusion = table_.exclusion();
    add_text(texts, exclusion == Exclusion::web_locks ? "web-locks"
                    : exclusion == Exclusion::lease   ? "lease"
                                                      : "page");
    add_text(texts, table_.fenced() ? "fenced" : "");
    add_text(texts, table_.tab());
    Resolve{promise}(texts);
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
    run_in(
        scope_,
        [](std::shared_ptr<FencedTransaction> of, std::string from,
           std::string what) -> Task<std::string> {
            const auto read = std::move(of);  // a parameter would live as long as the frame
            auto value = co_await read->get(std::move(from), std::move(what));
            co_return value.value_or("");
        }(found->second, store, key),
        Resolve{promise}, Reject{promise});
}

void LocksCore::list(int transaction, const std::string& store, const std::string& prefix,
                     PromiseId promise) {
    const auto found = transactions_.find(transaction);
    if (found == transactions_.end()) return Reject{promise}(failure_of(ended()));
    run_in(
        scope_,
        [](std::shared_ptr<FencedTransaction> of, std::string from,
           std::string start) -> Task<std::string> {
            const auto listed = std::move(of);
            std::string texts;
            const auto rows = co_await listed->list(std::move(from), std::move(start));
            for (const auto& row : rows) {
                add_text(texts, row.key);
                add_text(texts, row.value);
            }
            co_return texts;
        }(found->second, store, prefix),
        Resolve{promise}, Reject{promise});
}

void LocksCore::commit(int transaction, const Texts& texts, PromiseId promise) {
    settle(scope_, write(transaction, texts), promise);
}

Task<void> LocksCore::write(int transaction, Texts texts) {
    auto writing = co_await written(transaction, std::move(texts));
    co_await writing.commit();
}

Task<FencedTransaction> LocksCore::written(int transaction, Texts texts) {
    const auto found = transactions_.extract(transaction);
    if (found.empty()) co_await fail(ended());
    auto& writing = *found.mapped();
    for (std::size_t i = 0; i + 2 < texts.size(); i += 3) {
        const auto store = texts[i].value_or("");
        const auto key = texts[i + 1].value_or("");
        if (texts[i + 2]) {
            writing.put(store, key, *texts[i + 2]);
        } else {
            writing.remove(store, key);
        }
    }
    co_return std::move(writing);
}

// --- Calls to a leader --------------------------------------------------------------------------

void LocksCore::call_leader(const Texts& texts, double timeout_ms, int request, PromiseId promise) {
    LeaderCallOptions options;
    if (texts.size() > 2) options.key = texts[2];
    if (timeout_ms >= 0) options.timeout_ms = timeout_ms;
    options.signal = requests_.begin(request);
    requests_.run(scope_,
                  leader_.call(texts[0].value_or(""), texts[1].value_or(""), std::move(options)),
                  request, promise, [promise](const LeaderAnswer& answer) {
                      std::string outcome;
                      add_text(outcome, answer.succeeded ? "s" : "f");
                      add_text(outcome, answer.text);
                      Resolve{promise}(outcome);
                  });
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
    if (!grant) return Resolve{promise}();
    run_in(
        scope_, leader_.next(name, grant),
        [promise](const std::optional<LeaderCall>& call) {
            if (!call) return Resolve{promise}();
            std::string texts;
            add_text(texts, call->id);
            add_text(texts, call->request);
            Resolve{promise}(texts);
        },
        Reject{promise});
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

void LocksCore::answer(int transaction, Texts texts, bool succeeded, PromiseId promise) {
    settle(scope_, give(transaction, std::move(texts), succeeded), promise);
}

Task<void> LocksCore::give(int transaction, Texts texts, bool succeeded) {
    constexpr std::ptrdiff_t skipped = 3;  // name, id, answer
    auto writing = co_await written(transaction, Texts(texts.begin() + skipped, texts.end()));
    co_await leader_.answer(texts[0].value_or(""), texts[1].value_or(""), std::move(writing),
                            {succeeded, texts[2].value_or("")});
}

}  // namespace tabacus::browser
