#include "browser/locks.hpp"

#include <algorithm>

namespace tabacus::browser {

using emscripten::val;

struct BrowserLocks::Held final : HeldLock {
    Held(int request, val locks_host, std::shared_ptr<std::vector<Held*>> all_held)
        : id(request), host(std::move(locks_host)), all(std::move(all_held)) {
        all->push_back(this);
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    Held(Held&&) = delete;
    Held& operator=(Held&&) = delete;
    ~Held() override {
        std::erase(*all, this);
        host.call<void>("release", id);
    }
    void on_lost(Lost callback) override { when_lost = std::move(callback); }

    int id;
    val host;
    std::shared_ptr<std::vector<Held*>> all;
    Lost when_lost;
};

namespace {

/// A lock manager's snapshot comes as [held?, name, exclusive?, client id, …].
LockSnapshot read_snapshot(const val& flat) {
    LockSnapshot snapshot;
    const auto length = flat["length"].as<unsigned>();
    for (unsigned i = 0; i < length; i += 4) {
        const auto mode = flat[i + 2].as<bool>() ? LockMode::exclusive : LockMode::shared;
        auto& list = flat[i].as<bool>() ? snapshot.held : snapshot.pending;
        list.push_back({flat[i + 1].as<std::string>(), mode, flat[i + 3].as<std::string>()});
    }
    return snapshot;
}

}  // namespace

bool BrowserLocks::available() const {
    return host_["available"].as<bool>();
}

Async<std::unique_ptr<HeldLock>> BrowserLocks::request(LockRequest request) {
    const Completer<std::unique_ptr<HeldLock>> completer;
    // The answer is the request's own number, or null where an available lock was asked for in vain.
    const auto wrap = [host = host_, held = held_](const val& id) -> std::unique_ptr<HeldLock> {
        if (id.isNull()) return nullptr;
        return std::make_unique<Held>(id.as<int>(), host, held);
    };
    const int id = operations_.begin(completer, wrap);
    host_.call<void>("request", id, request.name, request.mode == LockMode::exclusive,
                     request.if_available, request.steal);
    if (request.signal) {
        const auto abort = [host = host_, id] { host.call<void>("abort", id); };
        if (request.signal->aborted()) {
            abort();
        } else {
            request.signal->on_abort(abort);
        }
    }
    return completer.async();
}

Async<LockSnapshot> BrowserLocks::query() {
    const Completer<LockSnapshot> completer;
    host_.call<void>("query", operations_.begin(completer, read_snapshot));
    return completer.async();
}

void BrowserLocks::lost(int id) const {
    const auto found =
        std::find_if(held_->begin(), held_->end(), [id](const Held* held) { return held->id == id; });
    if (found == held_->end()) return;
    const Lost callback = std::exchange((*found)->when_lost, nullptr);
    if (callback) callback();
}

}  // namespace tabacus::browser
