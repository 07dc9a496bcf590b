#include "browser/browser_locks.hpp"

#include <algorithm>

namespace tabacus::browser {

struct BrowserLocks::Held final : HeldLock {
    Held(int request, std::shared_ptr<std::vector<Held*>> all_held)
        : id(request), all(std::move(all_held)) {
        all->push_back(this);
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    Held(Held&&) = delete;
    Held& operator=(Held&&) = delete;
    ~Held() override {
        std::erase(*all, this);
        host::locks_release(id);
    }
    void on_lost(Function<void()> callback) override { when_lost = std::move(callback); }

    int id;
    std::shared_ptr<std::vector<Held*>> all;
    Function<void()> when_lost;
};

namespace {

/// A lock manager's snapshot comes as held, name, exclusive, client id, …; null is for no.
LockSnapshot read_snapshot(Texts& answer) {
    LockSnapshot snapshot;
    for (std::size_t i = 0; i + 3 < answer.size(); i += 4) {
        auto& list = answer[i] ? snapshot.held : snapshot.pending;
        list.push_back({std::move(answer[i + 1]).value_or(""),
                        answer[i + 2] ? LockMode::exclusive : LockMode::shared,
                        std::move(answer[i + 3]).value_or("")});
    }
    return snapshot;
}

}  // namespace

Async<std::unique_ptr<HeldLock>> BrowserLocks::request(LockRequest request) {
    const int id = operations_.next();
    // A text in the answer: an available lock was asked for in vain. A grant has none, as others
    // have waited for it.
    const auto wrap = [id, held = held_](const Texts& answer) -> std::unique_ptr<HeldLock> {
        if (!answer.empty()) return nullptr;
        return std::make_unique<Held>(id, held);
    };
    auto [operation, granted] = operations_.begin<std::unique_ptr<HeldLock>>(wrap);
    host::locks_request(operation, request.name, request.mode, request.if_available, request.steal);
    if (request.signal) {
        const auto abort = [id] { host::locks_abort(id); };
        if (request.signal->aborted()) {
            abort();
        } else {
            request.signal->on_abort(abort);
        }
    }
    return std::move(granted);
}

Async<LockSnapshot> BrowserLocks::query() {
    auto [operation, answer] = operations_.begin<LockSnapshot>(read_snapshot);
    host::locks_query(operation);
    return std::move(answer);
}

void BrowserLocks::lost(int id) const {
    const auto found = std::find_if(held_->begin(), held_->end(),
                                    [id](const Held* held) { return held->id == id; });
    if (found == held_->end()) return;
    const auto callback = std::exchange((*found)->when_lost, nullptr);
    if (callback) callback();
}

}  // namespace tabacus::browser
