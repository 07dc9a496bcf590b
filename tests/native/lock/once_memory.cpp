// once() with outcomes that are kept in memory, and forget(), which drops them.
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "once_scene.hpp"
#include "seeds.hpp"
#include "time_last_chooser.hpp"

namespace tabacus::test {
namespace {

struct KeeperScene {
    /// `timely`: whether every message is faster than any timer.
    explicit KeeperScene(std::uint64_t seed, bool timely = false)
        : origin(Origin::Options{seed, model_of_seed(seed)},
                 timely ? std::make_unique<TimeLastChooser>(seed) : nullptr),
          random(seed * 7919 + 1) {}
    struct Member {
        LabTab* tab;
        Keeper* keeper;
    };
    Member open(Platform platform = {}) {
        auto& tab = origin.open_tab(platform);
        return {&tab, &tab.run<Keeper>(tab, runs)};
    }
    /// Steps until `done()` holds, and checks each time that no disk has the secret.
    template <typename Done>
    void until(Done done) {
        origin.run_until([&] {
            leaked = leaked || on_disk(origin);
            return done();
        });
    }
    void steps(std::size_t count) {
        for (; count > 0 && origin.step(); --count) leaked = leaked || on_disk(origin);
    }

    int runs = 0;
    bool leaked = false;
    Origin origin;
    lab::SeededRandom random;
};

constexpr double hour_ms = 3'600'000;
constexpr OnceAge young{.ttl_ms = hour_ms, .memory = true};

}  // namespace

TEST_CASE("once in memory: tabs that wait get the value of one run, and no disk ever has it") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        KeeperScene scene(seed);
        std::vector<KeeperScene::Member> members;
        std::vector<Keeper::CallPtr> calls;
        members.reserve(3);
        calls.reserve(6);
        for (int i = 0; i < 3; ++i) {
            members.push_back(scene.open({.locks_bar_cache = seed % 4 == 3}));
        }
        for (const auto& member : members) {
            // The run goes on until all have called.
            for (int i = 0; i < 2; ++i)
                calls.push_back(member.keeper->call({.memory = true}, 5'000));
        }
        scene.until([&] {
            return std::ranges::all_of(calls, [](const auto& call) { return call->ended; });
        });
        CHECK(scene.runs == 1);
        for (const auto& call : calls) CHECK(call->value == "SECRET1");
        CHECK_FALSE(scene.leaked);
    }
}

TEST_CASE("once in memory: a message of a later version counts if this one can read its format") {
    for (const bool readable : {false, true}) {
        CAPTURE(readable);
        KeeperScene scene(1);
        const auto first = scene.open();
        const auto run = first.keeper->call(young);
        scene.until([&] { return run->ended; });
        const auto* const message = readable ? "2.1;f;k" : "2;f;k";
        scene.origin.post_foreign(Names("test").once_channel(), message);
        scene.steps(100);
        const auto again = first.keeper->call(young);
        scene.until([&] { return again->ended; });
        CHECK(scene.runs == (readable ? 2 : 1));
    }
}

TEST_CASE("once in memory: a later caller gets a young value from any tab that has it") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        KeeperScene scene(seed, true);
        const auto first = scene.open();
        const auto second = scene.open({.locks_bar_cache = seed % 2 == 1});
        const auto run = first.keeper->call(young);
        scene.until([&] { return run->ended; });
        const auto taken = second.keeper->call(young);
        scene.until([&] { return taken->ended; });
        CHECK(taken->value == "SECRET1");
        scene.steps(200);  // the second tab takes the lock that shows what it has
        scene.origin.kill(*first.tab);
        const auto third = scene.open({.locks_bar_cache = seed % 2 == 1});
        const auto late = third.keeper->call(young);
        scene.until([&] { return late->ended; });
        CHECK(late->value == "SECRET1");
        scene.steps(200);
        scene.origin.kill(*second.tab);
        scene.origin.kill(*third.tab);
        const auto last = scene.open().keeper->call(young);
        scene.until([&] { return last->ended; });
        CHECK(last->value == "SECRET2");
        CHECK_FALSE(scene.leaked);
    }
}

TEST_CASE("once in memory: without a tab that has the value a caller runs at once") {
    KeeperScene scene(1, true);
    const auto first = scene.open();
    const auto run = first.keeper->call(young);
    scene.until([&] { return run->ended; });
    scene.origin.kill(*first.tab);
    const auto second = scene.open();
    const auto asked_ms = second.tab->clock().monotonic_ms();
    const auto late = second.keeper->call(young);
    scene.until([&] { return late->ended; });
    CHECK(late->ran);
    CHECK(second.tab->clock().monotonic_ms() - asked_ms < OnceValues::ask_within_ms);
}

TEST_CASE("once in memory: every call ends if tabs are killed, frozen or cached at any moment") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        KeeperScene scene(seed);
        std::vector<KeeperScene::Member> members;
        std::vector<std::pair<std::size_t, Keeper::CallPtr>> calls;
        members.reserve(3);
        for (int i = 0; i < 3; ++i) members.push_back(scene.open());
        for (int i = 0; i < 6; ++i) {
            const auto which = scene.random.below(3);
            calls.emplace_back(
                which, members[which].keeper->call(i % 2 ? young : OnceAge{.memory = true}));
            scene.steps(scene.random.below(60));
        }
        const auto victim = scene.random.below(3);
        auto& tab = *members[victim].tab;
        bool cached = true;
        switch (seed % 3) {
            case 0:
                scene.origin.kill(tab);
                break;
            case 1:
                scene.origin.freeze(tab);
                scene.steps(200);
                scene.origin.thaw(tab);
                break;
            default:
                cached = scene.origin.page_hide(tab);
                scene.steps(200);
                if (cached) scene.origin.page_show(tab);
                break;
        }
        scene.until([&] {
            return std::ranges::all_of(calls, [&](const auto& call) {
                return call.second->ended || (!tab.alive() && call.first == victim);
            });
        });
        CHECK_FALSE(scene.leaked);
    }
}

TEST_CASE("forget: no call that begins later gets an earlier value, whichever tab has it") {
    for (std::uint64_t seed = 0; seed < 2 * seeds; ++seed) {
        CAPTURE(seed);
        KeeperScene scene(seed, true);
        const bool memory = seed % 2 == 0;
        const OnceAge age{.ttl_ms = hour_ms, .memory = memory};
        std::vector<KeeperScene::Member> members;
        std::vector<Keeper::CallPtr> before;
        members.reserve(3);
        before.reserve(3);
        for (int i = 0; i < 3; ++i) {
            members.push_back(scene.open());
            before.push_back(members.back().keeper->call(age));
        }
        scene.steps(scene.random.below(400));
        const int runs = scene.runs;
        const auto forgetting = members[scene.random.below(3)].keeper->forget();
        scene.until([&] { return forgetting->ended; });
        REQUIRE_FALSE(forgetting->error);
        std::vector<Keeper::CallPtr> after;
        after.reserve(3);
        for (const auto& member : members) after.push_back(member.keeper->call(age));
        scene.until([&] {
            const auto ended = [](const auto& call) { return call->ended; };
            return std::ranges::all_of(before, ended) && std::ranges::all_of(after, ended);
        });
        for (const auto& call : before) {
            if (call->error) CHECK(*call->error == ErrorCode::aborted);
        }
        for (const auto& call : after) {
            CHECK_FALSE(call->error);
            CHECK(std::stoi(call->value.substr(6)) > runs);
        }
        if (memory) CHECK_FALSE(scene.leaked);
    }
}

TEST_CASE("forget: it ends a run in progress, and all its callers in all tabs get aborted") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        KeeperScene scene(seed, true);
        const OnceAge age{.memory = seed % 2 == 0};
        std::vector<Keeper::CallPtr> calls;
        calls.reserve(3);
        for (int i = 0; i < 3; ++i) calls.push_back(scene.open().keeper->call(age, -1));
        scene.until([&] { return scene.runs == 1; });
        scene.steps(600);  // the others wait for the run
        const auto forgetter = scene.open();
        const auto forgetting = forgetter.keeper->forget();
        scene.until([&] {
            return forgetting->ended &&
                   std::ranges::all_of(calls, [](const auto& call) { return call->ended; });
        });
        CHECK_FALSE(forgetting->error);
        CHECK(scene.runs == 1);
        for (const auto& call : calls) CHECK(call->error == ErrorCode::aborted);
    }
}

TEST_CASE("forget: a call that died with its tab does not explain a later loss of the lock") {
    KeeperScene scene(1, true);
    const auto forgetter = scene.open();
    forgetter.keeper->forget();
    const auto is_begun = [](const auto& row) { return row.first.ends_with("/forgotten"); };
    scene.until(
        [&] { return std::ranges::any_of(scene.origin.database().rows(Store::locks), is_begun); });
    scene.origin.kill(*forgetter.tab);
    const auto caller = scene.open();
    for (const bool later : {false, true}) {
        if (later) caller.tab->set_wall_clock(60'000);
        const int runs = scene.runs;
        const auto call = caller.keeper->call({}, -1);
        scene.until([&] { return scene.runs > runs; });
        LockJudge judge;
        int last_request = 0;
        auto& tab = scene.origin.open_tab();
        auto& stealer = tab.run<LockPage>(tab, judge, last_request);
        const auto stolen = stealer.hold({.steal = true}, "once/k");
        scene.until([&] { return call->ended; });
        CHECK(call->error == (later ? ErrorCode::lock_lost : ErrorCode::aborted));
        stolen->let_go.complete({});
        scene.origin.kill(tab);
    }
}

TEST_CASE("forget: tabs that forget a key at the same moment all succeed") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        KeeperScene scene(seed);
        std::vector<Keeper::CallPtr> all;
        all.reserve(3);
        for (int i = 0; i < 3; ++i) all.push_back(scene.open().keeper->forget());
        scene.until(
            [&] { return std::ranges::all_of(all, [](const auto& call) { return call->ended; }); });
        for (const auto& call : all) CHECK_FALSE(call->error);
    }
}

TEST_CASE("once: a call that loses its lock again and again reports that the lock was lost") {
    int lost = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        KeeperScene scene(seed);
        const auto caller = scene.open();
        LockJudge judge;
        int last_request = 0;
        auto& tab = scene.origin.open_tab();
        auto& thief = tab.run<LockPage>(tab, judge, last_request);
        const auto call = caller.keeper->call({});
        while (!call->ended && !call->ran) {
            const auto stolen = thief.hold({.steal = true}, "once/k");
            scene.until([&] { return stolen->granted || call->ended; });
            stolen->let_go.complete({});
            for (std::uint64_t step = 0; step < 12 + seed % 8; ++step) scene.origin.step();
        }
        scene.until([&] { return call->ended; });
        if (!call->error) continue;
        CHECK((call->error == ErrorCode::lock_lost || call->error == ErrorCode::fenced));
        if (!call->ran) ++lost;
    }
    CHECK(lost > 0);
}

}  // namespace tabacus::test
