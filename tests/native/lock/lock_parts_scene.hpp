// LockPartsScene: the parts of a lock's queue in one simulated tab, over a native lock that a test
// scripts.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lab/lab_tab.hpp"
#include "lab/origin.hpp"
#include "protocol/lock/lock_timers.hpp"
#include "protocol/lock/queue/fair_order.hpp"
#include "protocol/lock/queue/hand_over.hpp"
#include "time_last_chooser.hpp"

namespace tabacus::test {

/// A native lock that grants nothing by itself.
class ScriptedLock final : public NativeLock {
  public:
    Task<std::shared_ptr<NativeHold>> acquire(NativeRequest request) override {
        ++asked;
        if (deferred) co_await answer.async();
        if (failure) co_await fail(*std::exchange(failure, std::nullopt));
        if (available) {
            auto hold = std::make_shared<NativeHold>();
            hold->mode = request.mode;
            hold->tokens.last = 256;
            co_return hold;
        }
        co_return nullptr;
    }
    std::shared_ptr<EntryLockRequest> request_entry(LockMode /*mode*/,
                                                    Function<void()> on_next) override {
        entries.push_back(std::make_shared<EntryLockRequest>());
        next_callbacks.push_back(std::move(on_next));
        return entries.back();
    }
    void cancel() override { ++cancelled; }
    void release(const std::shared_ptr<NativeHold>& hold) override { released.push_back(hold); }
    void on_possible_release() override {}
    [[nodiscard]] bool first_in_line() const override { return true; }
    Task<bool> query_other_waiters(bool /*is_next*/) override { co_return others_wait; }
    Task<bool> is_known_to_wait() override { co_return known_to_wait; }

    /// Makes the position the next in line, as if the browser had granted its entry lock.
    void grant_entry(std::size_t index) {
        entries[index]->lock = std::make_unique<EntryLock>();
        next_callbacks[index]();
    }

    int asked = 0;
    int cancelled = 0;
    bool available = false;
    bool deferred = false;  // acquire() waits for `answer`
    Completer<Unit> answer;
    std::optional<Error> failure;  // of the next acquire()
    bool others_wait = false;
    bool known_to_wait = false;
    std::vector<std::shared_ptr<EntryLockRequest>> entries;
    std::vector<Function<void()>> next_callbacks;
    std::vector<std::shared_ptr<NativeHold>> released;

  private:
    class EntryLock final : public HeldLock {
      public:
        void on_lost(Function<void()> /*callback*/) override {}
    };
};

/// The parts that a test can call by themselves. They run in a tab of their own.
struct LockParts {
    explicit LockParts(World& world)
        : context(world, "test", [this](const Notice& notice) { notices.push_back(notice.code); }),
          lock(context, context.scope, "l", "l"),
          holds(std::make_shared<NativeHolds>(lock, listeners, contenders)),
          order(lock, requests, contenders, *holds),
          hand_over(lock, requests, contenders, order) {
        holds->set_self(holds);
        auto scripted = std::make_unique<ScriptedLock>();
        native = scripted.get();
        lock.native = std::move(scripted);
    }
    LockParts(const LockParts&) = delete;
    LockParts& operator=(const LockParts&) = delete;
    LockParts(LockParts&&) = delete;
    LockParts& operator=(LockParts&&) = delete;
    /// A grant and its hold refer to each other until it is released or lost.
    ~LockParts() { holds->lose_all("closed"); }

    /// Makes a request at this moment that is not in the queue.
    AcquireRequestPtr make(LockOptions options = {}) {
        auto request = std::make_shared<AcquireRequest>();
        request->id = context.stamps.next_id();
        context.stamps.read_ms(context.world.clock());
        request->since_ms = context.stamps.next_ms();
        request->options = std::move(options);
        return request;
    }
    /// Makes a request at this moment, and adds it to the queue.
    AcquireRequestPtr ask(LockOptions options = {}) {
        auto request = make(std::move(options));
        requests.join(request);
        return request;
    }
    /// A native hold that was acquired in turn.
    std::shared_ptr<NativeHold> hold(LockMode mode = LockMode::exclusive) {
        auto taken = std::make_shared<NativeHold>();
        taken->mode = mode;
        taken->tokens.last = 256;
        holds->adopt(taken);
        return taken;
    }
    /// Adds a contender: another tab whose request was received at this moment.
    Contender contender(const std::string& tab) {
        const auto now_ms = lock.clock().now_ms();
        return {.tab = tab,
                .since_ms = now_ms,
                .received_ms = now_ms,
                .after_request = requests.newest(),
                .after_position = order.current()};
    }

    std::vector<std::string> notices;
    LockContext context;
    NamedLock lock;
    ScriptedLock* native = nullptr;
    LockListeners listeners;
    RequestQueue requests;
    Contenders contenders;
    std::shared_ptr<NativeHolds> holds;
    FairOrder order;
    HandOver hand_over;
};

struct LockPartsScene {
    LockPartsScene() : tab(origin.open_tab()), parts(tab.run<LockParts>(tab)) {}

    /// Lets time pass in the tab.
    void pass(double delay_ms) {
        const auto over = std::make_shared<bool>(false);
        parts.lock.spawn([](Clock& clock, double time_ms, std::shared_ptr<bool> end) -> Task<void> {
            co_await clock.sleep(time_ms);
            *end = true;
        }(parts.lock.clock(), delay_ms, over));
        origin.run_until([&] { return *over; });
    }

    lab::Origin origin{lab::Origin::Options{}, std::make_unique<TimeLastChooser>(1)};
    lab::LabTab& tab;
    LockParts& parts;
};

}  // namespace tabacus::test
