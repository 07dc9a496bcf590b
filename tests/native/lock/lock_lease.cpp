// Locks without Web Locks, on the lease: shared locks, hidden pages, requests that do not wait,
// pages that come back, and a lost row of waiters.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>

#include "lock_scene.hpp"
#include "seeds.hpp"

namespace tabacus::test {
namespace {

constexpr Platform on_lease{.locks = false};
constexpr std::uint64_t lease_seeds = seeds / 4;

/// Three pages that lock by the lease.
struct LeaseScene : LockScene {
    explicit LeaseScene(std::uint64_t seed)
        : LockScene(seed, model_of_seed(seed), std::make_unique<TimeLastChooser>(seed)) {
        for (int i = 0; i < 3; ++i) open(on_lease);
    }
    LockPage::RequestPtr hold(std::size_t page, LockOptions options = {}) {
        return members[page].page->hold(std::move(options));
    }
    LockPage::RequestPtr granted(std::size_t page, LockOptions options = {}) {
        auto request = hold(page, std::move(options));
        until([&] { return request->granted; });
        return request;
    }
    LockPage::RequestPtr reader(std::size_t page) {
        return granted(page, {.mode = LockMode::shared});
    }
    void pass(double delay_ms) {
        const auto end_ms = origin.clock().now_ms() + delay_ms;
        until([&] { return origin.clock().now_ms() >= end_ms; });
    }
    /// Lets that much time pass and no more, even where nothing else happens: a timer ends it.
    void pass_by_timer(double delay_ms) {
        members[2].page->scope().spawn([](LabTab& tab, double nap_ms) -> Task<void> {
            co_await tab.clock().sleep(nap_ms);
        }(*members[2].tab, delay_ms));
        pass(delay_ms);
    }
    [[nodiscard]] bool held() const { return !judge.inside.empty(); }
    /// Steps until the request is granted. Returns how long that took.
    double wait_for(const LockPage::RequestPtr& request) {
        const auto began_ms = origin.clock().now_ms();
        until([&] { return request->granted; });
        return origin.clock().now_ms() - began_ms;
    }
    ~LeaseScene() { CHECK(judge.failures == std::vector<std::string>{}); }
    LeaseScene(const LeaseScene&) = delete;
    LeaseScene& operator=(const LeaseScene&) = delete;
    LeaseScene(LeaseScene&&) = delete;
    LeaseScene& operator=(LeaseScene&&) = delete;
};

}  // namespace

TEST_CASE("lease: a tab's requests are granted before those that another tab made later") {
    for (std::uint64_t seed = 0; seed < lease_seeds; ++seed) {
        CAPTURE(seed);
        LeaseScene scene(seed);
        std::vector<LockPage::RequestPtr> requests{scene.granted(0)};
        for (int i = 0; i < 3; ++i) requests.push_back(scene.hold(0));
        scene.pass(50);
        requests.push_back(scene.hold(1));
        scene.pass(50);
        for (const auto& request : requests) {
            scene.wait_for(request);
            request->let_go.complete({});
        }
        scene.origin.run();
        CHECK(std::is_sorted(scene.judge.order.begin(), scene.judge.order.end()));
    }
}

TEST_CASE(
    "lease: an ifAvailable request is refused for a dead tab until its lease ends, and no longer") {
    for (std::uint64_t seed = 0; seed < lease_seeds; ++seed) {
        CAPTURE(seed);
        LeaseScene scene(seed);
        const auto holder = scene.granted(0);
        if (seed % 2 == 0) {
            scene.hold(1);
            scene.pass(50);
            scene.origin.kill(*scene.members[1].tab);
            holder->let_go.complete({});
            scene.pass(200);
        } else {
            scene.origin.kill(*scene.members[0].tab);
        }
        const auto early = scene.hold(2, {.if_available = true});
        scene.until([&] { return early->ended; });
        CHECK(early->unavailable);
        scene.origin.run();
        const auto late = scene.hold(2, {.if_available = true});
        scene.until([&] { return late->ended || late->granted; });
        CHECK(late->granted);
        late->let_go.complete({});
        scene.origin.run();
    }
}

TEST_CASE("lease: a dead holder delays a waiter no longer where other requests come and go") {
    for (std::uint64_t seed = 0; seed < lease_seeds; ++seed) {
        CAPTURE(seed);
        LeaseScene scene(seed);
        scene.granted(0);
        const auto waiter = scene.hold(2);
        scene.pass(50);
        scene.origin.kill(*scene.members[0].tab);
        const auto began_ms = scene.origin.clock().now_ms();
        while (!waiter->granted && scene.origin.clock().now_ms() < began_ms + 30'000) {
            const auto retry = scene.hold(1, {.timeout_ms = 300});
            retry->let_go.complete({});
            scene.until([&] { return retry->ended || waiter->granted; });
        }
        CHECK(waiter->granted);
        CHECK(scene.origin.clock().now_ms() - began_ms < 7'000);
        waiter->let_go.complete({});
        scene.origin.run();
    }
}

TEST_CASE("lease: tabs that wait three seconds at a time get the lock of a dead holder") {
    for (std::uint64_t seed = 0; seed < lease_seeds; ++seed) {
        CAPTURE(seed);
        LeaseScene scene(seed);
        scene.granted(0);
        scene.pass(50);
        scene.origin.kill(*scene.members[0].tab);
        const auto began_ms = scene.origin.clock().now_ms();
        LockPage::RequestPtr first;
        while (!first && scene.origin.clock().now_ms() < began_ms + 30'000) {
            const std::array both{scene.hold(1, {.timeout_ms = 3'000}),
                                  scene.hold(2, {.timeout_ms = 3'000})};
            scene.until([&] { return both[0]->ended || both[1]->ended || scene.held(); });
            for (const auto& one : both) {
                if (one->granted) first = one;
                one->let_go.complete({});
            }
            if (!first) scene.until([&] { return both[0]->ended && both[1]->ended; });
        }
        REQUIRE(first);
        CHECK(scene.origin.clock().now_ms() - began_ms < 10'000);
        scene.origin.run();
    }
}

TEST_CASE(
    "lease: a waiter that was overtaken asleep joins the line again, and is not presumed dead") {
    for (std::uint64_t seed = 0; seed < lease_seeds; ++seed) {
        CAPTURE(seed);
        LeaseScene scene(seed);
        const auto holder = scene.granted(0);
        const auto sleeper = scene.hold(1);
        scene.pass(100);
        scene.origin.suspend(*scene.members[1].tab);
        const auto behind = scene.hold(2, {.timeout_ms = 12'000});
        scene.pass_by_timer(8'000);  // it presumes the sleeper dead and removes it from the line
        scene.origin.wake(*scene.members[1].tab);
        scene.until([&] { return behind->ended; });
        scene.pass_by_timer(1'000);
        const auto again = scene.hold(2);
        scene.pass_by_timer(15'000);
        holder->let_go.complete({});
        scene.wait_for(sleeper);
        CHECK(!again->granted);
        sleeper->let_go.complete({});
        scene.wait_for(again);
        again->let_go.complete({});
        scene.origin.run();
    }
}

TEST_CASE("lease: an ifAvailable request takes nothing from a holder that lives") {
    LeaseScene scene(1);
    const auto holder = scene.granted(0);
    for (int i = 0; i < 20; ++i) {
        const auto tried = scene.hold(2, {.if_available = true});
        scene.pass(1'000);
        CHECK(tried->unavailable);
    }
    holder->let_go.complete({});
    scene.origin.run();
}

TEST_CASE("lease: a tab shares again beside another's readers, and waits behind a living writer") {
    for (std::uint64_t seed = 0; seed < lease_seeds; ++seed) {
        CAPTURE(seed);
        LeaseScene scene(seed);
        const auto first = scene.reader(0);
        const auto other = scene.reader(1);
        const auto second = scene.hold(0, {.mode = LockMode::shared});
        scene.pass(500);
        REQUIRE(second->granted);
        scene.hold(2);
        scene.pass(100);
        const auto third = scene.hold(0, {.mode = LockMode::shared});
        scene.pass(8'000);
        REQUIRE(!third->granted);
        scene.origin.kill(*scene.members[2].tab);
        CHECK(scene.wait_for(third) < 7'000);
        for (const auto& one : {first, second, third, other}) one->let_go.complete({});
        scene.origin.run();
    }
}

TEST_CASE("lease: a hidden reader keeps its long lease beside other readers") {
    for (std::uint64_t seed = 0; seed < lease_seeds; ++seed) {
        CAPTURE(seed);
        LeaseScene scene(seed);
        std::vector<LockPage::RequestPtr> readers;
        scene.origin.hide(*scene.members[0].tab);
        const std::size_t first = seed % 2;
        for (const auto page : {first, 1 - first}) readers.push_back(scene.reader(page));
        scene.pass(10'000);  // the visible page renews its lease
        readers[1 - first]->let_go.complete({});
        const auto writer = scene.hold(2);
        scene.pass(150'000);
        REQUIRE(!writer->granted);
        readers[first]->let_go.complete({});
        CHECK(scene.wait_for(writer) < 1'000);
        writer->let_go.complete({});
        scene.origin.run();
    }
}

TEST_CASE("lease: a hidden waiter is not overtaken") {
    for (std::uint64_t seed = 0; seed < lease_seeds; ++seed) {
        CAPTURE(seed);
        LeaseScene scene(seed);
        const auto holder = scene.granted(0);
        scene.origin.hide(*scene.members[1].tab);
        const auto hidden = scene.hold(1);
        scene.pass(50);
        const auto behind = scene.hold(2);
        scene.pass(100'000);
        CHECK(!behind->granted);
        holder->let_go.complete({});
        CHECK(scene.wait_for(hidden) < 61'000);
        CHECK(!behind->granted);
        hidden->let_go.complete({});
        scene.wait_for(behind);
        behind->let_go.complete({});
        scene.origin.run();
    }
}

TEST_CASE("lease: a hidden holder that lives keeps the lock, however slow its timers are") {
    for (std::uint64_t seed = 0; seed < lease_seeds; ++seed) {
        CAPTURE(seed);
        LeaseScene scene(seed);
        const auto holder = scene.granted(0);
        scene.origin.hide(*scene.members[0].tab);  // its timers run once a minute from now on
        const auto waiter = scene.hold(1);
        scene.pass_by_timer(300'000);
        CHECK(holder->loss.empty());
        CHECK(!waiter->granted);
        holder->let_go.complete({});
        scene.wait_for(waiter);
        waiter->let_go.complete({});
        scene.origin.run();
    }
}

TEST_CASE("lease: a holder that dies in a hidden tab is succeeded within 20 s") {
    for (std::uint64_t seed = 0; seed < lease_seeds; ++seed) {
        CAPTURE(seed);
        LeaseScene scene(seed);
        scene.granted(0);
        scene.origin.hide(*scene.members[0].tab);
        const auto waiter = scene.hold(1);
        scene.pass_by_timer(200'000 + static_cast<double>(scene.random.below(60'000)));
        scene.origin.kill(*scene.members[0].tab);
        CHECK(scene.wait_for(waiter) < 20'000);
        waiter->let_go.complete({});
        scene.origin.run();
    }
}

TEST_CASE("lease: a waiter that receives no messages relies on the lease of a hidden holder") {
    LeaseScene scene(1);
    const auto holder = scene.granted(0);
    scene.origin.hide(*scene.members[0].tab);
    scene.pass_by_timer(70'000);  // the holder has renewed its lease as that of a hidden tab
    scene.origin.drop_messages(*scene.members[1].tab);
    const auto waiter = scene.hold(1);
    scene.pass_by_timer(300'000);
    CHECK(holder->loss.empty());
    CHECK(!waiter->granted);
}

TEST_CASE("lease: a page that is back does not wait for its own former lease") {
    for (std::uint64_t seed = 0; seed < lease_seeds; ++seed) {
        CAPTURE(seed);
        LeaseScene scene(seed);
        auto& tab = *scene.members[0].tab;
        const bool frozen = seed % 2 == 0;
        scene.granted(0, {.mode = seed % 4 < 2 ? LockMode::exclusive : LockMode::shared});
        scene.steps(seed % 40);
        if (frozen) {
            scene.origin.freeze(tab);
        } else if (!scene.origin.page_hide(tab)) {
            continue;
        }
        scene.steps(seed % 30);
        if (frozen) {
            scene.origin.thaw(tab);
        } else {
            scene.origin.page_show(tab);
        }
        const auto again = scene.hold(0);
        CHECK(scene.wait_for(again) < 1'000);
        again->let_go.complete({});
        scene.origin.run();
    }
}

TEST_CASE("lease: a lost row of waiters lets no writer in beside readers") {
    for (std::uint64_t seed = 0; seed < lease_seeds; ++seed) {
        CAPTURE(seed);
        LeaseScene scene(seed);
        const auto ending = scene.reader(0);
        scene.pass_by_timer(static_cast<double>(scene.random.below(1'500)));
        const auto staying = scene.reader(1);
        scene.pass_by_timer(static_cast<double>(scene.random.below(3'000)));
        scene.origin.database().overwrite(Store::locks, "l/line",
                                          lab::StoredValue{"1;nonsense", false});
        // The reader ends before any reader has renewed its lease, or after one or both have.
        scene.pass_by_timer(static_cast<double>(scene.random.below(2'500)));
        ending->let_go.complete({});
        const auto writer = scene.hold(2);
        scene.pass(12'000);
        REQUIRE(!writer->granted);
        staying->let_go.complete({});
        CHECK(scene.wait_for(writer) < 7'000);
        writer->let_go.complete({});
        scene.origin.run();
    }
}

namespace {

using Failures = std::vector<std::string>;

constexpr Platform leased{.locks = false};

/// Steps until `delay_ms` have passed by the origin's clock.
void settle(LockScene& scene, double delay_ms) {
    const auto end_ms = scene.origin.clock().now_ms() + delay_ms;
    scene.until([&] { return scene.origin.clock().now_ms() >= end_ms; });
}

}  // namespace

TEST_CASE(
    "lease: readers of several tabs share; a writer waits for the last, and later readers for it") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed), std::make_unique<TimeLastChooser>(seed));
        const bool deadly = seed % 2 == 0;
        for (int i = 0; i < 4; ++i) scene.open(leased);
        std::vector<LockPage::RequestPtr> readers;
        for (std::size_t i = 0; i < 2; ++i) {
            readers.push_back(scene.members[i].page->hold({.mode = LockMode::shared}));
            scene.until([&] { return readers.back()->granted; });
        }
        const auto writer = scene.members[2].page->hold();
        settle(scene, 100);
        const auto late = scene.members[3].page->hold({.mode = LockMode::shared});
        readers[0]->let_go.complete({});
        settle(scene, 20'000);  // the other reader goes on renewing its lease
        REQUIRE(!writer->granted);
        REQUIRE(!late->granted);
        if (deadly) {
            scene.origin.kill(*scene.members[1].tab);
        } else {
            readers[1]->let_go.complete({});
        }
        const auto began_ms = scene.origin.clock().now_ms();
        scene.until([&] { return writer->granted; });
        CHECK(scene.origin.clock().now_ms() - began_ms < (deadly ? 6'000 : 600));
        settle(scene, 1'000);
        REQUIRE(!late->granted);
        writer->let_go.complete({});
        scene.until([&] { return late->granted; });
        late->let_go.complete({});
        scene.origin.run();
        CHECK(scene.judge.failures == Failures{});
    }
}

TEST_CASE(
    "lease: tabs are served in the order of asking; a waiter that dies delays them by a lease") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed), std::make_unique<TimeLastChooser>(seed));
        const bool deadly = seed % 2 == 0;
        for (int i = 0; i < 5; ++i) scene.open(leased);
        const auto began_ms = scene.origin.clock().now_ms();
        std::vector<LockPage::RequestPtr> requests;
        for (const auto& member : scene.members) {
            requests.push_back(member.page->hold());
            settle(scene, 50);
        }
        if (deadly) scene.origin.kill(*scene.members[2].tab);
        std::vector<int> order;
        for (std::size_t i = 0; i < requests.size(); ++i) {
            if (deadly && i == 2) continue;
            scene.until([&] { return requests[i]->granted; });
            order.push_back(static_cast<int>(i) + 1);
            requests[i]->let_go.complete({});
        }
        CHECK(scene.origin.clock().now_ms() - began_ms < 8'000);
        scene.origin.run();
        CHECK(scene.judge.order == order);
        CHECK(scene.judge.failures == Failures{});
    }
}

TEST_CASE("lease: a page that is hidden releases the lock and leaves the line at once") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed), std::make_unique<TimeLastChooser>(seed));
        const auto mode = seed % 2 == 0 ? LockMode::exclusive : LockMode::shared;
        for (int i = 0; i < 3; ++i) scene.open(leased);
        const auto holder = scene.members[0].page->hold({.mode = mode});
        scene.until([&] { return holder->granted; });
        scene.members[1].page->hold();
        settle(scene, 50);
        const auto last = scene.members[2].page->hold();
        settle(scene, 50);
        const auto began_ms = scene.origin.clock().now_ms();
        for (std::size_t i = 2; i-- > 0;) scene.origin.page_hide(*scene.members[i].tab);
        for (std::size_t i = 2; i-- > 0;) scene.origin.kill(*scene.members[i].tab);
        scene.until([&] { return last->granted; });
        CHECK(scene.origin.clock().now_ms() - began_ms < 1'000);
        last->let_go.complete({});
        scene.origin.run();
        CHECK(scene.judge.failures == Failures{});
    }
}

}  // namespace tabacus::test
