#include "request_queue.hpp"

#include <algorithm>

namespace tabacus {

void RequestQueue::join(const AcquireRequestPtr& request) {
    if (requests_.size() >= sweep_at_) {
        std::erase_if(requests_, [](const AcquireRequestPtr& other) { return other->ended; });
        sweep_at_ = 2 * requests_.size() + 16;
    }
    requests_.push_back(request);
    newest_ = request->id;
}

AcquireRequestPtr RequestQueue::front() {
    while (!requests_.empty() && requests_.front()->ended) requests_.pop_front();
    return requests_.empty() ? nullptr : requests_.front();
}

AcquireRequestPtr RequestQueue::last_in_place() const {
    const auto found =
        std::find_if(requests_.rbegin(), requests_.rend(),
                     [](const AcquireRequestPtr& request) { return request->keeps_place(); });
    return found == requests_.rend() ? nullptr : *found;
}

AcquireRequestPtr RequestQueue::next_in_place(const AcquireRequest& request) const {
    const auto found =
        std::find_if(requests_.begin(), requests_.end(), [&](const AcquireRequestPtr& other) {
            return other->id > request.id && other->keeps_place();
        });
    return found == requests_.end() ? nullptr : *found;
}

std::optional<double> RequestQueue::least_max_hold_ms() const {
    std::optional<double> least;
    for (const auto& request : requests_) {
        const auto own = request->options.max_hold_ms;
        if (!request->ended && own) least = std::min(least.value_or(*own), *own);
    }
    return least;
}

}  // namespace tabacus
