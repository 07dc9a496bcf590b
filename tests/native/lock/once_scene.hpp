// Keepers: tabs whose callers of once() refresh a secret, each run with a value of its own.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "lock_scene.hpp"
#include "tabacus/lock/once.hpp"

namespace tabacus::test {

inline constexpr const char* secret = "SECRET";

/// Whether any row, or any item of localStorage, contains the text of a secret.
inline bool on_disk(Origin& origin) {
    for (const auto store :
         {Store::meta, Store::claims, Store::rows, Store::counters, Store::quarantine,
          Store::deltas, Store::locks, Store::data, Store::jobs, Store::limits}) {
        for (const auto& [key, value] : origin.database().rows(store)) {
            if ((key + value.text).find(secret) != std::string::npos) return true;
        }
    }
    for (const auto& [key, value] : lab::StorageArea::Values(origin.storage().values())) {
        if ((key + value).find(secret) != std::string::npos) return true;
    }
    return false;
}

/// A tab whose callers refresh a secret, each with a value of its own.
class Keeper {
  public:
    Keeper(LabTab& world, int& runs)
        : world_(world),
          runs_(runs),
          table_(world, "test", [](const Notice&) {}),
          once_(world, table_) {}

    struct Call {
        bool ended = false;
        bool ran = false;
        std::string value;
        std::optional<ErrorCode> error;
        std::function<void()> then;  // called at the end
    };
    using CallPtr = std::shared_ptr<Call>;

    /// Calls once(). A run takes `run_ms`; if that is negative, it lasts until its lock is lost.
    CallPtr call(OnceAge age = {.memory = true}, double run_ms = 1) {
        const auto call = std::make_shared<Call>();
        scope_.spawn(call_once(call, age, run_ms));
        return call;
    }
    CallPtr forget() {
        const auto call = std::make_shared<Call>();
        scope_.spawn([](Keeper& self, CallPtr forgetting) -> Task<void> {
            const auto outcome = co_await attempt(self.once_.forget("k"));
            if (!outcome) forgetting->error = outcome.error().code();
            forgetting->ended = true;
            if (forgetting->then) forgetting->then();
        }(*this, call));
        return call;
    }

  private:
    Task<void> call_once(CallPtr call, OnceAge age, double run_ms) {
        auto value = co_await attempt(get(call, age, run_ms));
        if (value) {
            call->value = value.value();
        } else {
            call->error = value.error().code();
        }
        call->ended = true;
    }
    Task<std::string> get(CallPtr call, OnceAge age, double run_ms) {
        auto turn = co_await once_.enter("k", {}, age);
        if (turn.outcome) co_return turn.outcome->text;
        call->ran = true;
        const auto value = secret + std::to_string(++runs_);
        if (run_ms < 0) {
            const Completer<Unit> lost;
            turn.held.on_lost([lost](std::string_view) { lost.complete({}); });
            co_await lost.async();
        } else {
            co_await world_.clock().sleep(run_ms);
        }
        co_await once_.settle("k", std::move(turn.held), {true, value}, age);
        co_return value;
    }

    LabTab& world_;
    int& runs_;
    LockTable table_;
    Once once_;
    Scope scope_;  // declared last: its coroutines use all members above
};

}  // namespace tabacus::test
