#include "browser/core/leader_core.hpp"

#include <utility>

namespace tabacus::browser {

void LeaderCore::call(const std::string& name, const std::string& call, LeaderCallOptions options,
                      int request, PromiseId promise) {
    options.signal = requests_.begin(request);
    requests_.run(scope_, leader_.call(name, call, std::move(options)), request, promise,
                  Resolve{promise});
}

void LeaderCore::begin_term(const std::string& name, int held, PromiseId promise) {
    const auto grant = held_.grant(held);
    if (!grant) return Resolve{promise}();
    settle(scope_, leader_.begin_term(name, grant), promise);
}

void LeaderCore::next(const std::string& name, int held, PromiseId promise) {
    const auto grant = held_.grant(held);
    if (!grant) return Resolve{promise}(std::optional<LeaderCall>());
    settle(scope_, leader_.next(name, grant), promise);
}

void LeaderCore::begin_answer(const std::string& name, const std::string& id, int held,
                              PromiseId promise) {
    settle(scope_, open_answer(name, id, held_.grant(held)), promise);
}

Task<std::int64_t> LeaderCore::open_answer(std::string name, std::string id,
                                           std::shared_ptr<Grant> term) {
    if (!term) co_await fail(ErrorCode::lock_lost, "the term has been handed over");
    auto transaction = co_await leader_.answering(std::move(name), std::move(id), std::move(term));
    co_return transaction ? transactions_.keep(std::move(*transaction)) : 0;
}

void LeaderCore::answer(const std::string& name, const std::string& id, int transaction,
                        LeaderAnswer answer, std::vector<FencedWrite> writes, PromiseId promise) {
    settle(scope_, give(name, id, transaction, std::move(answer), std::move(writes)), promise);
}

Task<void> LeaderCore::give(std::string name, std::string id, int transaction, LeaderAnswer answer,
                            std::vector<FencedWrite> writes) {
    auto writing = co_await transactions_.written(transaction, std::move(writes));
    co_await leader_.answer(std::move(name), std::move(id), std::move(writing), std::move(answer));
}

}  // namespace tabacus::browser
