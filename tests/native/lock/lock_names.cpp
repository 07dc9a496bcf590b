// Locks of many names: a name that is let go leaves no state behind.
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lock_parts_scene.hpp"
#include "protocol/lock/lock_queue.hpp"

namespace tabacus::test {
namespace {

/// More than the queues that a tab keeps although it does not use them.
constexpr std::size_t few = 40;

/// A tab that uses locks of many names.
struct NamesTab {
    explicit NamesTab(World& world) : context(world, "test", [](const Notice&) {}) {}

    /// Takes a lock, and releases it after `hold_ms`, or never.
    void take(const std::string& name, std::optional<double> hold_ms = 0) {
        scope.spawn(take_once(name, hold_ms));
    }

    LockContext context;
    std::vector<std::int64_t> tokens;
    std::vector<Held> kept;
    Scope scope;  // last: its coroutines use all of the above

  private:
    Task<void> take_once(std::string name, std::optional<double> hold_ms) {
        const auto queue = context.queue(name);
        auto held = co_await queue->acquire(queue, {});
        tokens.push_back(*held.token());
        if (!hold_ms) {
            kept.push_back(std::move(held));
        } else if (*hold_ms > 0) {
            co_await context.world.clock().sleep(*hold_ms);
        }
    }
};

struct NamesScene {
    explicit NamesScene(lab::Platform platform = {})
        : tab(origin.open_tab(platform)), names(tab.run<NamesTab>(tab)) {}

    /// Takes the locks of `count` other names, and lets time pass until they are not used any more.
    void use_others(int count) {
        for (int i = 0; i < count; ++i) {
            names.take("other " + std::to_string(++others));
            if (i % 100 == 99) pass(10'000);
        }
        pass(10'000);
    }
    void pass(double delay_ms) {
        const auto over = std::make_shared<bool>(false);
        names.scope.spawn(
            [](Clock& clock, double time_ms, std::shared_ptr<bool> end) -> Task<void> {
                co_await clock.sleep(time_ms);
                *end = true;
            }(names.context.world.clock(), delay_ms, over));
        origin.run_until([&] { return *over; });
    }

    lab::Origin origin{lab::Origin::Options{}, std::make_unique<TimeLastChooser>(1)};
    lab::LabTab& tab;
    NamesTab& names;
    int others = 0;
};

}  // namespace

TEST_CASE("lock names: 2,000 names that were let go leave the queues of a few") {
    NamesScene scene;
    constexpr int all = 2'000;
    std::size_t most = 0;
    for (int used = 0; used < all; used += 500) {
        scene.use_others(500);
        most = std::max(most, scene.names.context.queues.size());
    }
    CHECK(scene.names.tokens.size() == all);
    CHECK(most < 500);  // 100 at a time are used together
    scene.use_others(static_cast<int>(most));
    for (std::size_t i = 0; i < few; ++i) scene.use_others(1);
    CHECK(scene.names.context.queues.size() < few);
}

TEST_CASE("lock names: the queue of a name that is held, awaited or watched stays") {
    NamesScene scene;
    auto& context = scene.names.context;
    scene.names.take("held", std::nullopt);
    scene.names.take("held", std::nullopt);
    const auto subscription = context.queue("watched")->on_broadcast([](const std::string&) {});
    const std::weak_ptr held(context.queue("held"));
    const std::weak_ptr watched(context.queue("watched"));
    scene.use_others(500);
    CHECK(context.queue("held") == held.lock());
    CHECK(context.queue("watched") == watched.lock());
    REQUIRE(scene.names.kept.size() == 1);
    CHECK(scene.names.kept.front().held());
    scene.names.kept.front().release();
    scene.pass(1'000);
    CHECK(scene.names.kept.size() == 2);
}

TEST_CASE("lock names: the tokens of a name rise after its queue was removed") {
    for (const bool database : {true, false}) {
        for (const bool cleared : {false, true}) {
            CAPTURE(database, cleared);
            NamesScene scene({.storage = false, .database = database});
            auto& context = scene.names.context;
            const auto& tokens = scene.names.tokens;
            scene.names.take("n");
            scene.pass(10'000);
            const std::weak_ptr before(context.queue("n"));
            const auto token = tokens.back();
            scene.use_others(500);
            CHECK(before.expired());
            if (cleared) {
                scene.origin.database().overwrite(Store::locks, "n", std::nullopt);
                scene.origin.clock().jump(-1e9);
            }
            scene.names.take("n");
            scene.pass(10'000);
            CHECK(tokens.back() > token);
        }
    }
}

TEST_CASE("lock names: tokens of a forgotten name count as contended if another tab had it last") {
    NamesScene scene;
    auto& second = scene.origin.open_tab({});
    NamesTab& other = second.run<NamesTab>(second);
    const auto raise = [&scene](NamesTab& tab) {
        LockTokens tokens;
        tab.scope.spawn([](LockEpochs& epochs, LockTokens& raised) -> Task<void> {
            raised = co_await epochs.raise("n", {});
        }(tab.context.epochs, tokens));
        scene.pass(1'000);
        REQUIRE_FALSE(tokens.empty());
        return tokens.contended;
    };
    scene.names.take("n");
    scene.use_others(500);
    CHECK_FALSE(raise(scene.names));
    CHECK(raise(other));
    scene.names.context.epochs.forget("n");
    CHECK(raise(scene.names));
    CHECK_FALSE(raise(scene.names));
    CHECK(raise(other));
}

TEST_CASE("lock names: the queue of a lease stays, whose heartbeats must not begin anew") {
    NamesScene scene({.locks = false});
    scene.names.take("n");
    scene.pass(60'000);
    const std::weak_ptr before(scene.names.context.queue("n"));
    scene.use_others(100);
    CHECK_FALSE(before.expired());
}

TEST_CASE("lock names: two queues of one tab never give two positions one number") {
    LockPartsScene scene;
    auto& parts = scene.parts;
    const auto request = parts.ask();
    const auto first = parts.order.pop_position(*request).number;
    FairOrder again(parts.lock, parts.requests, parts.contenders, *parts.holds);
    CHECK(again.pop_position(*request).number > first);
}

}  // namespace tabacus::test
