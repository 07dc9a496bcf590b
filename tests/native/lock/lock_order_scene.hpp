// Tabs that ask for one lock one after another, to see in which order they get it.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "lock_scene.hpp"
#include "seeds.hpp"

namespace tabacus::test {

inline const LockOptions to_read{.mode = LockMode::shared};

/// Tabs that ask one after another. What one step begins has ended before the next step.
struct LockOrderScene : LockScene {
    using RequestPtr = LockPage::RequestPtr;

    explicit LockOrderScene(std::uint64_t seed = 1, int tabs = 3)
        : LockScene(seed, model_of_seed(seed), std::make_unique<TimeLastChooser>(seed)) {
        for (int i = 0; i <= tabs; ++i) open();
    }
    void settle(double delay_ms = 60) { wait_ms(*this, *members.back().page, delay_ms); }
    RequestPtr ask(std::size_t tab, LockOptions options = {}, double settle_ms = 60) {
        const auto request = members[tab].page->hold(std::move(options));
        settle(settle_ms);
        return request;
    }
    /// Asks with a request that gives up when `signal` is aborted.
    RequestPtr ask_until(const AbortSignal& signal, std::size_t tab, LockOptions options = {}) {
        options.signal = signal;
        return ask(tab, std::move(options));
    }
    void give_up(const AbortSignal& signal) {
        signal.abort();
        settle();
    }
    void release(const RequestPtr& request) {
        request->let_go.complete({});
        settle();
    }
    bool is_locked(std::size_t tab) {
        std::optional<bool> locked;
        run_in(
            members[tab].page->scope(), members[tab].page->table().is_locked("l"),
            [&](bool is) { locked = is; }, [](const Failure&) {});
        until([&] { return locked.has_value(); });
        return *locked;
    }
};

inline bool holds(const LockPage::RequestPtr& request) {
    return request->granted && !request->ended && request->loss.empty();
}

inline bool waits(const LockPage::RequestPtr& request) {
    return !request->granted && !request->ended;
}

}  // namespace tabacus::test
