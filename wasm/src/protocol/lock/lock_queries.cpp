#include "lock_queries.hpp"

#include <algorithm>
#include <utility>

#include "protocol/common/stable_sort.hpp"

namespace tabacus {

std::span<const LockInfo> LockQueries::Answer::holders_of(std::string_view name) const {
    const auto& held = snapshot.held;
    const auto begin = std::partition_point(
        held.begin(), held.end(), [name](const LockInfo& lock) { return lock.name < name; });
    const auto end =
        std::find_if(begin, held.end(), [name](const LockInfo& lock) { return lock.name != name; });
    return {begin, end};
}

Task<Shared<LockQueries::Answer>> LockQueries::query(std::string probed) {
    if (!next_) next_ = Shared(std::make_unique<Answer>());
    const auto answer = next_;
    if (!probed.empty()) answer->probed.push_back(std::move(probed));
    if (!running_) scope_.spawn(run());
    if (!answer->known) co_await answer->end.wait();
    if (answer->failure) co_await fail(*answer->failure);
    co_return answer;
}

Task<void> LockQueries::run() {
    running_ = true;
    while (next_) {
        const auto answer = std::exchange(next_, {});
        auto outcome = co_await attempt(locks_.query(answer->probed));
        if (outcome) {
            answer->snapshot = std::move(outcome.value());
            sort_stably(answer->snapshot.held,
                        [](const LockInfo& a, const LockInfo& b) { return a.name < b.name; });
        } else {
            answer->failure = outcome.error();
        }
        answer->known = true;
        answer->end.release_all();
    }
    running_ = false;
}

}  // namespace tabacus
