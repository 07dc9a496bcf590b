// Locks without faults: exclusion, tokens, order, one outcome for each request, nothing left
// behind.
#include <catch2/catch_test_macros.hpp>

#include "lock_scene.hpp"
#include "seeds.hpp"

namespace tabacus::test {
namespace {

using Failures = std::vector<std::string>;

}  // namespace

TEST_CASE("lock: tabs that increment a row under the lock lose nothing, and their tokens rise") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        std::vector<LockPage::RequestPtr> requests;
        for (int i = 0; i < 4; ++i) scene.open();
        for (int round = 0; round < 3; ++round) {
            for (const auto& member : scene.members) {
                requests.push_back(member.page->count({}, 1, scene.random.coin() ? 1 : 0));
                scene.steps(scene.random.below(30));
            }
        }
        scene.origin.run();
        for (const auto& request : requests) {
            CHECK(request->granted);
            CHECK(request->commit_errors.empty());
        }
        CHECK(scene.stored() == 12);
        CHECK(scene.judge.failures == Failures{});
        CHECK(scene.nothing_left());
    }
}

TEST_CASE("lock: with mixed modes a writer is alone, and a stream of readers starves no writer") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        for (int i = 0; i < 3; ++i) scene.open();
        auto& readers = *scene.members[0].page;
        auto& more_readers = *scene.members[1].page;
        auto& writer = *scene.members[2].page;
        const auto first = readers.hold({.mode = LockMode::shared});
        scene.until([&] { return first->granted; });
        const auto written = writer.count({});
        scene.steps(60);
        std::vector<LockPage::RequestPtr> later;
        for (int i = 0; i < 4; ++i) {
            later.push_back(more_readers.hold({.mode = LockMode::shared}));
            later.push_back(readers.hold({.mode = LockMode::shared}));
            scene.steps(20);
        }
        first->let_go.complete({});
        // If the later readers are granted the lock before the writer, they hold it for ever.
        scene.until([&] { return written->ended; });
        CHECK(written->granted);
        for (const auto& reader : later) reader->let_go.complete({});
        scene.origin.run();
        for (const auto& reader : later) CHECK(reader->ended);
        CHECK(scene.judge.failures == Failures{});
        CHECK(scene.nothing_left());
    }
}

TEST_CASE("lock: requests of different tabs are granted in the order in which they came") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        for (int i = 0; i < 4; ++i) scene.open();
        const auto first = scene.members[0].page->hold();
        scene.until([&] { return first->granted; });
        std::vector<int> expected = scene.judge.order;
        for (int i = 1; i < 4; ++i) {
            const auto waiting = scene.origin.locks().snapshot().pending.size();
            scene.members[static_cast<std::size_t>(i)].page->count({});
            expected.push_back(scene.last_request);
            // The request waits in the browser's queue before the next tab asks.
            scene.until([&] {
                const auto snapshot = scene.origin.locks().snapshot();
                return snapshot.pending.size() > waiting;
            });
        }
        first->let_go.complete({});
        scene.origin.run();
        CHECK(scene.judge.order == expected);
    }
}

TEST_CASE(
    "lock: tabs are served in the order of asking, even a tab that holds it or waits already") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed), std::make_unique<TimeLastChooser>(seed));
        for (int i = 0; i < 4; ++i) scene.open();
        const auto first = scene.members[0].page->hold();
        scene.until([&] { return first->granted; });
        auto expected = scene.judge.order;
        std::string tabs = "A";
        for (int asked = 0; asked < 8; ++asked) {
            const auto tab = scene.random.below(4);
            tabs += "ABCD"[tab];
            scene.members[tab].page->count({}, 1, 1);
            wait_ms(scene, *scene.members[0].page, 30);
            expected.push_back(scene.last_request);
        }
        CAPTURE(tabs);
        first->let_go.complete({});
        scene.origin.run();
        CHECK(scene.judge.order == expected);
        CHECK(scene.stored() == 8);
        CHECK(scene.judge.failures == Failures{});
        CHECK(scene.nothing_left());
    }
}

TEST_CASE("lock: a request that gives up loses its position, and strands no other request") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed), std::make_unique<TimeLastChooser>(seed));
        for (int i = 0; i < 3; ++i) scene.open();
        const auto first = scene.members[0].page->hold({.mode = LockMode::shared});
        scene.until([&] { return first->granted; });
        std::vector<int> expected = scene.judge.order;
        for (int asked = 0; asked < 9; ++asked) {
            const bool gives_up = asked % 3 != 0;
            LockOptions options;
            if (gives_up) options.timeout_ms = 400;
            scene.members[static_cast<std::size_t>(asked + 1) % 3].page->count(options, 1, 1);
            wait_ms(scene, *scene.members[0].page, 30);
            if (!gives_up) expected.push_back(scene.last_request);
        }
        wait_ms(scene, *scene.members[0].page, 500);
        first->let_go.complete({});
        scene.origin.run();
        CHECK(scene.judge.order == expected);
        CHECK(scene.stored() == 3);
        CHECK(scene.nothing_left());
    }
}

TEST_CASE("lock: every request ends once, by grant, timeout or abort, and nothing is left") {
    int granted = 0;
    int aborted = 0;
    int timed_out = 0;
    for (std::uint64_t seed = 0; seed < 2 * seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        for (int i = 0; i < 3; ++i) scene.open();
        std::vector<LockPage::RequestPtr> requests;
        for (int i = 0; i < 9; ++i) {
            const auto& member = scene.members[scene.random.below(3)];
            LockOptions options{.mode =
                                    scene.random.coin() ? LockMode::exclusive : LockMode::shared};
            const AbortSignal signal;
            if (scene.random.coin()) options.signal = signal;
            if (scene.random.coin()) options.timeout_ms = scene.random.below(8);
            const bool exclusive = options.mode == LockMode::exclusive;
            requests.push_back(member.page->count(std::move(options), exclusive ? 1 : 0,
                                                  static_cast<double>(scene.random.below(4))));
            requests.back()->abort = signal;
            scene.steps(scene.random.below(25));
            requests[scene.random.below(requests.size())]->abort.abort();
        }
        scene.origin.run();
        int commits = 0;
        for (const auto& request : requests) {
            REQUIRE(request->ended);
            CHECK(request->granted != request->error.has_value());
            CHECK(request->commit_errors.empty());
            if (request->granted) ++granted;
            if (request->error == ErrorCode::aborted) ++aborted;
            if (request->error == ErrorCode::timed_out) ++timed_out;
        }
        commits = scene.judge.committed;
        CHECK(scene.stored() == commits);
        CHECK(scene.judge.failures == Failures{});
        CHECK(scene.nothing_left());
    }
    CHECK(granted > static_cast<int>(seeds) * 5);
    CHECK(aborted > 50);
    CHECK(timed_out > 50);
}

// Chromium does so (docs/decisions/0008): when a waiter is aborted, it does not examine the waiters
// behind it until a holder releases. The entry lock makes this harmless; see web_lock.hpp.
TEST_CASE("lock: a writer that gives up strands no reader, although the browser wakes nobody") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        scene.origin.locks().wake_after_abort(false);
        for (int i = 0; i < 3; ++i) scene.open();
        const auto reader = scene.members[0].page->hold({.mode = LockMode::shared});
        scene.until([&] { return reader->granted; });
        const AbortSignal signal;
        const auto writer = scene.members[1].page->hold({.signal = signal});
        scene.steps(scene.random.below(60));
        const auto late = scene.members[2].page->hold({.mode = LockMode::shared});
        scene.steps(scene.random.below(60));
        if (seed % 2 == 0) {
            signal.abort();
        } else {
            scene.origin.kill(*scene.members[1].tab);
        }
        scene.until([&] { return late->granted; });  // the first reader still holds
        CHECK_FALSE(reader->ended);
    }
}

TEST_CASE(
    "lock: ifAvailable takes a lock that another tab keeps idle, and no lock that is in use") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        // If timers were faster than messages, the keeper would answer too late.
        LockScene scene(seed, model_of_seed(seed), std::make_unique<TimeLastChooser>(seed));
        for (int i = 0; i < 2; ++i) scene.open();
        const auto keeper = scene.members[0].page->count({});
        scene.until([&] { return keeper->ended; });
        const auto taken = scene.members[1].page->hold({.if_available = true});
        scene.until([&] { return taken->granted || taken->ended; });
        REQUIRE(taken->granted);
        const auto in_vain = scene.members[0].page->hold({.if_available = true});
        scene.until([&] { return in_vain->granted || in_vain->ended; });
        CHECK(in_vain->unavailable);
        taken->let_go.complete({});
        scene.origin.run();
        CHECK(scene.judge.failures == Failures{});
        CHECK(scene.nothing_left());
    }
}

TEST_CASE("lock: with a timeout of zero a free lock is granted, and a held one is not") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        for (int i = 0; i < 2; ++i) scene.open();
        const auto taken = scene.members[0].page->hold({.timeout_ms = 0});
        scene.until([&] { return taken->granted || taken->ended; });
        REQUIRE(taken->granted);
        const auto in_vain = scene.members[1].page->hold({.timeout_ms = 0});
        scene.until([&] { return in_vain->granted || in_vain->ended; });
        CHECK(in_vain->error == ErrorCode::timed_out);
        taken->let_go.complete({});
        scene.origin.run();
        CHECK(scene.judge.failures == Failures{});
        CHECK(scene.nothing_left());
    }
}

TEST_CASE(
    "lock: a timeout that ends before the first answer acts as zero: a free lock is granted") {
    int unanswered = 0;
    for (std::uint64_t seed = 0; seed < 2 * seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        const Platform platform{.locks = seed % 4 != 3};
        for (int i = 0; i < 3; ++i) scene.open(platform);
        const auto mode = seed % 2 == 0 ? LockMode::shared : LockMode::exclusive;
        const LockOptions hurried{.mode = mode, .timeout_ms = 1 + static_cast<double>(seed % 3)};
        std::vector<LockPage::RequestPtr> taken;
        for (int i = 0; i < (mode == LockMode::shared ? 2 : 1); ++i) {
            const auto began_ms = scene.origin.clock().now_ms();
            taken.push_back(scene.members[static_cast<std::size_t>(i)].page->hold(hurried));
            scene.until([&] { return taken.back()->granted || taken.back()->ended; });
            // In the laboratory an answer may take longer than the request waits for it.
            const auto took_ms = scene.origin.clock().now_ms() - began_ms;
            CHECK((taken.back()->granted || took_ms > 1'000));
            if (!taken.back()->granted) ++unanswered;
        }
        if (!taken[0]->granted) continue;
        for (const std::size_t tab : {0U, 2U}) {
            const auto in_vain = scene.members[tab].page->hold({.timeout_ms = 1});
            scene.until([&] { return in_vain->granted || in_vain->ended; });
            CHECK(in_vain->error == ErrorCode::timed_out);
        }
        for (const auto& one : taken) one->let_go.complete({});
        scene.origin.run();
        CHECK(scene.judge.failures == Failures{});
        CHECK(scene.nothing_left());
    }
    CHECK(unanswered < 5);
}

TEST_CASE(
    "lock: a request with a short timeout ends soon, takes an idle lock and overtakes no other") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed), std::make_unique<TimeLastChooser>(seed));
        const Platform platform{.locks = seed % 4 != 3};
        for (int i = 0; i < 3; ++i) scene.open(platform);
        const auto keeper = scene.members[0].page->count({});
        scene.until([&] { return keeper->ended; });
        const auto taken = scene.members[1].page->hold({.timeout_ms = 1});
        scene.until([&] { return taken->granted || taken->ended; });
        REQUIRE(taken->granted);
        std::vector<int> expected = scene.judge.order;
        const auto began_ms = scene.origin.clock().now_ms();
        const auto in_vain = scene.members[0].page->hold({.timeout_ms = 1});
        const auto behind = scene.members[0].page->count({}, 0);
        expected.push_back(scene.last_request);
        scene.steps(20);
        scene.members[2].page->count({}, 0);
        expected.push_back(scene.last_request);
        scene.until([&] { return in_vain->granted || in_vain->ended; });
        CHECK(in_vain->error == ErrorCode::timed_out);
        CHECK(scene.origin.clock().now_ms() - began_ms < 50);
        taken->let_go.complete({});
        scene.origin.run();
        CHECK(behind->granted);
        CHECK(scene.judge.order == expected);
        CHECK(scene.judge.failures == Failures{});
        CHECK(scene.nothing_left());
    }
}

TEST_CASE("lock: ifAvailable does not wait for a holder or a request of its own tab") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed), std::make_unique<TimeLastChooser>(seed));
        for (int i = 0; i < 2; ++i) scene.open();
        auto& page = *scene.members[0].page;
        const auto holder = page.hold({.mode = LockMode::shared});
        scene.until([&] { return holder->granted; });
        const auto beside = page.hold({.mode = LockMode::shared, .if_available = true});
        scene.until([&] { return beside->granted || beside->ended; });
        CHECK(beside->granted);
        const auto in_vain = page.hold({.if_available = true});
        scene.until([&] { return in_vain->granted || in_vain->ended; });
        CHECK(in_vain->unavailable);
        const auto writer = page.hold({});
        const auto behind = page.hold({.mode = LockMode::shared, .if_available = true});
        scene.until([&] { return behind->granted || behind->ended; });
        CHECK(behind->unavailable);
        for (const auto& request : {holder, beside, writer}) request->let_go.complete({});
        scene.origin.run();
        CHECK(writer->granted);
        CHECK(scene.judge.failures == Failures{});
        CHECK(scene.nothing_left());
    }
}

TEST_CASE("lock: ifAvailable ends soon and leaves nothing behind, however late the answers are") {
    int granted = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        for (int i = 0; i < 3; ++i) scene.open();
        std::vector<LockPage::RequestPtr> requests;
        for (int i = 0; i < 6; ++i) {
            const auto& member = scene.members[scene.random.below(3)];
            requests.push_back(member.page->count({.if_available = scene.random.coin()}));
            scene.steps(scene.random.below(40));
        }
        scene.origin.run();
        for (const auto& request : requests) {
            REQUIRE(request->ended);
            CHECK(request->granted != request->unavailable);
            granted += request->granted ? 1 : 0;
        }
        CHECK(scene.stored() == scene.judge.committed);
        CHECK(scene.judge.failures == Failures{});
        CHECK(scene.nothing_left());
    }
    CHECK(granted > 3 * static_cast<int>(seeds));
}

TEST_CASE("lock: an idle lock is taken again without the browser, and released by a hidden page") {
    LockScene scene(1);
    const auto one = scene.open();
    for (int i = 0; i < 100; ++i) {
        const auto request = one.page->count({}, 0);
        scene.until([&] { return request->ended; });
    }
    CHECK(scene.origin.locks().requests() < 40);
    CHECK_FALSE(scene.nothing_left());
    scene.origin.hide(*one.tab);
    scene.steps(20);
    CHECK(scene.nothing_left());
}

TEST_CASE("lock: a hidden tab, too, takes the lock again only within its turn while others wait") {
    LockScene scene(1, StorageModel::cached, std::make_unique<TimeLastChooser>(1));
    const auto one = scene.open();
    const auto other = scene.open();
    scene.origin.hide(*one.tab);
    const Completer<Unit> go_on;
    bool held_once = false;
    bool paused = false;
    one.page->scope().spawn(
        [](LockTable& table, Completer<Unit> resumed, bool& begun, bool& ended) -> Task<void> {
            auto held = co_await table.acquire("l", {});
            begun = true;
            co_await resumed.async();
            for (int i = 0; i < 20; ++i) {
                held.release();
                held = co_await table.acquire("l", {});
            }
            ended = true;
        }(one.page->table(), go_on, held_once, paused));
    scene.until([&] { return held_once; });
    const auto asked_ms = other.tab->clock().now_ms();
    const auto waiter = other.page->hold();
    scene.until([&] { return !scene.origin.locks().snapshot().pending.empty(); });
    scene.steps(6);  // the message arrives
    REQUIRE(other.tab->clock().now_ms() == asked_ms);
    const auto before = scene.origin.locks().requests();
    go_on.complete({});
    scene.until([&] { return paused && waiter->granted; });
    CHECK(scene.origin.locks().requests() - before < 20);
}

TEST_CASE("lock: a lock is entered again only through its grant, with the same token") {
    LockScene scene(1);
    const auto one = scene.open();
    bool done = false;
    run_in(
        one.page->scope(),
        [](LockTable& table) -> Task<void> {
            auto outer = co_await table.acquire("l", {.label = "outer"});
            auto inner = co_await table.acquire("l", {.within = outer.grant()});
            CHECK(inner.token() == outer.token());
            inner.release();
            CHECK(outer.held());
            auto reader = co_await table.acquire("r", {.mode = LockMode::shared});
            // An upgrade to exclusive would wait for the request's own reader.
            auto upgraded = co_await attempt(table.acquire("r", {.within = reader.grant()}));
            REQUIRE(!upgraded);
            CHECK(upgraded.error().code() == ErrorCode::invalid_argument);
        }(one.page->table()),
        [&] { done = true; }, [](const Failure&) {});
    scene.origin.run();
    CHECK(done);
    CHECK(scene.nothing_left());
}

TEST_CASE("lock: a request that ended leaves no timer of its time limits") {
    constexpr double limit_ms = 60'000;
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed), std::make_unique<TimeLastChooser>(seed));
        for (int i = 0; i < 2; ++i) scene.open();
        const auto began_ms = scene.origin.clock().now_ms();
        for (int i = 0; i < 10; ++i) {
            scene.members[scene.random.below(2)].page->count(
                {.timeout_ms = limit_ms, .max_hold_ms = limit_ms}, 1, 1);
        }
        scene.origin.run();
        CHECK(scene.judge.order.size() == 10);
        CHECK(scene.origin.clock().now_ms() - began_ms < limit_ms / 10);
    }
}

}  // namespace tabacus::test
