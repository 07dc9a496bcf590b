// Tabs that watch or query a lock: a watcher delays no other tab, and learns of changes that
// happened while it was stopped. A query reports all holders and waiters.
#include <catch2/catch_test_macros.hpp>

#include "lock_scene.hpp"
#include "protocol/common/names.hpp"
#include "seeds.hpp"
#include "tabacus/lock/once.hpp"

namespace tabacus::test {
namespace {

/// A time within which a watcher has learnt of a crashed holder, also if it has to poll
/// (lock_observer.cpp).
constexpr double crash_noticed_ms = 3'000;

/// How a tab's questions about a lock ended.
struct WaitEnds {
    int ended = 0;
    std::set<ErrorCode> errors;
};

template <typename Result>
void ask(const LockScene::Member& member, WaitEnds& asked, Task<Result> question) {
    member.page->scope().spawn([](WaitEnds& of, Task<Result> task) -> Task<void> {
        const auto outcome = co_await attempt(Task<Result>(std::move(task)));
        ++of.ended;
        if (!outcome) of.errors.insert(outcome.error().code());
    }(asked, std::move(question)));
}

/// The result of query() in a tab, and how long it took.
struct QueryResult {
    std::vector<LockRequestInfo> infos;
    double took_ms = 0;
};

QueryResult query(LockScene& scene, const LockScene::Member& member) {
    QueryResult answer;
    bool over = false;
    const auto began_ms = scene.origin.clock().now_ms();
    run_in(
        member.page->scope(), member.page->table().query("l"),
        [&](std::vector<LockRequestInfo> infos) {
            answer.infos = std::move(infos);
            over = true;
        },
        [](const Failure&) { FAIL(); });
    scene.until([&] { return over; });
    answer.took_ms = scene.origin.clock().now_ms() - began_ms;
    return answer;
}

/// Returns the error that wait_for_unlock() failed with, or nothing if the lock was free.
std::optional<ErrorCode> waited(LockScene& scene, const LockScene::Member& member,
                                double timeout_ms, bool aborted = false) {
    const AbortSignal signal;
    WaitEnds asked;
    ask(member, asked, member.page->table().wait_for_unlock("l", signal, timeout_ms));
    if (aborted) signal.abort();
    scene.until([&] { return asked.ended == 1; });
    return asked.errors.empty() ? std::nullopt : std::optional(*asked.errors.begin());
}

/// Opens tabs that all have used the lock and released it.
void open_used(LockScene& scene, int count) {
    for (int i = 0; i < count; ++i) {
        const auto used = scene.open().page->count({}, 0);
        scene.until([&] { return used->ended; });
    }
    wait_ms(scene, *scene.members[0].page, 100);
}

/// Freezes the page, or puts it into the back/forward cache. Returns false if the cache did not
/// keep it.
bool stop(LockScene& scene, const LockScene::Member& member, bool cached) {
    if (cached) return scene.origin.page_hide(*member.tab);
    scene.origin.freeze(*member.tab);
    return true;
}

void resume(LockScene& scene, const LockScene::Member& member, bool cached) {
    if (cached) {
        scene.origin.page_show(*member.tab);
    } else {
        scene.origin.thaw(*member.tab);
    }
}

}  // namespace

TEST_CASE("lock: a watcher that hangs keeps no tab from the lock") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed), std::make_unique<TimeLastChooser>(seed));
        for (int i = 0; i < 3; ++i) scene.open();
        const auto holder = scene.members[0].page->hold();
        scene.until([&] { return holder->granted; });
        const auto& watcher = scene.members[1];
        const auto watching = watcher.page->table().on_change("l", [] {});
        wait_ms(scene, *scene.members[0].page, seed % 2 == 0 ? crash_noticed_ms : 1);
        for (const auto& request : scene.origin.locks().snapshot().pending) {
            CHECK(request.name.starts_with(Names("test").liveness("")));
        }
        scene.origin.suspend(*watcher.tab);
        holder->let_go.complete({});
        const auto tried = scene.members[2].page->hold({.if_available = true});
        scene.until([&] { return tried->ended || tried->granted; });
        CHECK(tried->granted);
        tried->let_go.complete({});
        const auto next = scene.members[2].page->count({.timeout_ms = 100});
        scene.until([&] { return next->ended; });
        CHECK(next->granted);
    }
}

TEST_CASE("lock: a watcher learns soon of a holder's death, and of changes while it was stopped") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed), std::make_unique<TimeLastChooser>(seed));
        for (int i = 0; i < 3; ++i) scene.open();
        const bool cached = seed % 2 == 0;
        const auto& watcher = scene.members[1];
        int changes = 0;
        const auto watching = watcher.page->table().on_change("l", [&] { ++changes; });
        wait_ms(scene, *scene.members[0].page, 1);
        REQUIRE(stop(scene, watcher, cached));
        const auto holder = scene.members[2].page->hold();
        scene.until([&] { return holder->granted; });
        wait_ms(scene, *scene.members[0].page, crash_noticed_ms);
        changes = 0;
        resume(scene, watcher, cached);
        wait_ms(scene, *scene.members[0].page, crash_noticed_ms);
        CHECK(changes > 0);
        changes = 0;
        scene.origin.kill(*scene.members[2].tab);
        wait_ms(scene, *scene.members[0].page, crash_noticed_ms);
        CHECK(changes > 0);
    }
}

TEST_CASE("lock: a watcher is notified of a new waiter, in another tab and in its own") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed), std::make_unique<TimeLastChooser>(seed));
        for (int i = 0; i < 3; ++i) scene.open();
        int changes = 0;
        const auto watching = scene.members[1].page->table().on_change("l", [&] { ++changes; });
        const auto holder = scene.members[seed % 4 / 2].page->hold();
        scene.until([&] { return holder->granted; });
        wait_ms(scene, *scene.members[0].page, crash_noticed_ms);
        changes = 0;
        const auto waiter = scene.members[seed % 2 == 0 ? 1 : 2].page->hold();
        wait_ms(scene, *scene.members[0].page, 100);
        CHECK(changes == 1);
        holder->let_go.complete({});
        scene.until([&] { return waiter->granted; });
        waiter->let_go.complete({});
    }
}

TEST_CASE("lock: a watcher is notified of a new waiter after a hand-over") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed), std::make_unique<TimeLastChooser>(seed));
        for (int i = 0; i < 4; ++i) scene.open();
        int changes = 0;
        const auto watching = scene.members[3].page->table().on_change("l", [&] { ++changes; });
        const auto holder = scene.members[0].page->hold();
        scene.until([&] { return holder->granted; });
        const auto next = scene.members[1].page->hold();
        wait_ms(scene, *scene.members[3].page, 100);
        holder->let_go.complete({});
        scene.until([&] { return next->granted; });
        // By then all messages are received, and the next poll for a crashed holder is still to
        // come.
        wait_ms(scene, *scene.members[3].page, 30);
        changes = 0;
        const auto waiter = scene.members[2].page->hold();
        wait_ms(scene, *scene.members[3].page, 100);
        CHECK(changes > 0);
        next->let_go.complete({});
        scene.until([&] { return waiter->granted; });
        waiter->let_go.complete({});
    }
}

TEST_CASE("lock: tabs that used the lock before and answer first hide no holder and no waiter") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed), std::make_unique<TimeLastChooser>(seed));
        open_used(scene, 5);
        const bool shares = seed % 2 == 0;
        const auto holder =
            scene.members[0].page->hold({.mode = shares ? LockMode::shared : LockMode::exclusive});
        scene.until([&] { return holder->granted; });
        wait_ms(scene, *scene.members[0].page, 30);
        const auto& asking = scene.members[4];
        CHECK(query(scene, asking).infos.size() == 1);
        CHECK(waited(scene, asking, 200) == ErrorCode::timed_out);
        const auto waiter = scene.members[1].page->hold();
        wait_ms(scene, *scene.members[0].page, 30);
        const auto [infos, took_ms] = query(scene, asking);
        REQUIRE(infos.size() == 2);
        CHECK(infos[0].held);
        CHECK_FALSE(infos[1].held);
        CHECK(took_ms < 1);
        holder->let_go.complete({});
        waiter->let_go.complete({});
        scene.origin.run();
    }
}

TEST_CASE("lock: a query of a lock that is free or kept idle is answered at once") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed), std::make_unique<TimeLastChooser>(seed));
        open_used(scene, 4);
        const auto free = query(scene, scene.members[3]);
        CHECK(free.infos.empty());
        CHECK(free.took_ms < 1);
        const auto mode = seed % 2 == 0 ? LockMode::shared : LockMode::exclusive;
        const auto used = scene.members[0].page->count({.mode = mode}, 0);
        scene.until([&] { return used->ended; });
        REQUIRE_FALSE(scene.origin.locks().snapshot().held.empty());
        const auto kept = query(scene, scene.members[3]);
        CHECK(kept.infos.empty());
        CHECK(kept.took_ms < 1);
        scene.origin.run();
    }
}

TEST_CASE(
    "lock: waitForUnlock() of a free lock succeeds within any timeout, and an abort comes first") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        const Platform platform{.locks = seed % 4 != 3};
        for (int i = 0; i < 2; ++i) scene.open(platform);
        const auto timeout_ms = static_cast<double>(seed % 3);
        const auto& watcher = scene.members[1];
        CHECK(waited(scene, watcher, timeout_ms) == std::nullopt);
        CHECK(waited(scene, watcher, timeout_ms, true) == ErrorCode::aborted);
        const auto holder = scene.members[0].page->hold();
        scene.until([&] { return holder->granted; });
        CHECK(waited(scene, scene.members[0], timeout_ms) == ErrorCode::timed_out);
        holder->let_go.complete({});
        scene.origin.run();
    }
}

TEST_CASE("lock: a query is answered even if its page stops meanwhile") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        const auto& watcher = scene.open();
        scene.open();
        auto& table = watcher.page->table();
        Once once(*watcher.tab, table);
        WaitEnds asked;
        ask(watcher, asked, table.query("l"));
        ask(watcher, asked, table.is_locked("l"));
        ask(watcher, asked, table.wait_for_unlock("l", std::nullopt, std::nullopt));
        WaitEnds entered;
        ask(watcher, entered, once.enter("k", {}, {}));
        scene.steps(scene.random.below(40));
        const bool cached = seed % 2 == 0;
        if (!stop(scene, watcher, cached)) continue;
        scene.steps(scene.random.below(40));
        resume(scene, watcher, cached);
        scene.until([&] { return asked.ended == 3 && entered.ended == 1; });
        CHECK(asked.errors.empty());
        // Between its grant and its run it may lose the lock, as any holder may.
        entered.errors.erase(ErrorCode::lock_lost);
        CHECK(entered.errors.empty());
    }
}

TEST_CASE("lock: query() reports the same holders and waiters in every tab") {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        for (int i = 0; i < 4; ++i) scene.open();
        const auto holder = scene.members[0].page->hold({.label = "holder; of 100%"});
        scene.until([&] { return holder->granted; });
        scene.origin.clock().jump(5);
        const auto waiter =
            scene.members[1].page->hold({.mode = LockMode::shared, .label = "waiter"});
        scene.steps(200);
        for (const std::size_t tab : {0U, 1U, 2U}) {
            std::optional<std::vector<LockRequestInfo>> seen;
            // In the laboratory an answer may take longer than query() waits for it.
            for (int attempt = 0; attempt < 50 && (!seen || seen->size() < 2); ++attempt) {
                seen.reset();
                run_in(
                    scene.members[tab].page->scope(), scene.members[tab].page->table().query("l"),
                    [&](std::vector<LockRequestInfo> infos) { seen = std::move(infos); },
                    [](const Failure&) {});
                scene.until([&] { return seen.has_value(); });
                REQUIRE(!seen->empty());
                CHECK((*seen)[0].label == "holder; of 100%");
            }
            REQUIRE(seen->size() == 2);
            CHECK((*seen)[0].held);
            CHECK((*seen)[0].label == "holder; of 100%");
            CHECK((*seen)[0].tab == scene.members[0].page->table().tab());
            CHECK_FALSE((*seen)[1].held);
            CHECK((*seen)[1].mode == LockMode::shared);
            CHECK((*seen)[1].label == "waiter");
        }
        waiter->abort.abort();
    }
}

TEST_CASE("lock: waitForUnlock and watchers notice a release and a holder's death") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        for (int i = 0; i < 2; ++i) scene.open();
        const auto holder = scene.members[0].page->hold();
        scene.until([&] { return holder->granted; });
        bool unlocked = false;
        int changes = 0;
        auto& table = scene.members[1].page->table();
        const auto watching = table.on_change("l", [&] { ++changes; });
        run_in(
            scene.members[1].page->scope(), table.wait_for_unlock("l", std::nullopt, std::nullopt),
            [&] { unlocked = true; }, [](const Failure&) {});
        scene.steps(300);
        CHECK_FALSE(unlocked);
        if (seed % 2 == 0) {
            holder->let_go.complete({});
        } else {
            scene.origin.kill(*scene.members[0].tab);
        }
        scene.until([&] { return unlocked; });
        CHECK(changes > 0);
    }
}

TEST_CASE("lock: where the browser refuses queries, holders are found and releases are noticed") {
    const Platform refused{.lock_queries = false};
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        const auto holder = scene.open(refused);
        const auto other = scene.open(refused);
        CHECK(query(scene, other).infos.empty());
        CHECK_FALSE(waited(scene, other, 1'000));
        for (const auto mode : {LockMode::exclusive, LockMode::shared}) {
            const auto held = holder.page->hold({.mode = mode, .label = "h"});
            scene.until([&] { return held->granted; });
            const auto answer = query(scene, other);
            REQUIRE(answer.infos.size() == 1);
            CHECK(answer.infos.front().held);
            CHECK(answer.infos.front().mode == mode);
            CHECK(answer.infos.front().label == "h");
            CHECK(waited(scene, other, 20) == ErrorCode::timed_out);
            WaitEnds asked;
            ask(other, asked, other.page->table().wait_for_unlock("l", {}, {}));
            ask(other, asked, other.page->table().names());
            scene.until([&] { return asked.ended == 1; });
            CHECK(asked.errors == std::set{ErrorCode::unavailable});
            const auto late = other.page->count({.timeout_ms = 20});
            scene.until([&] { return late->ended; });
            CHECK(late->error == ErrorCode::timed_out);
            held->let_go.complete({});
            scene.until([&] { return asked.ended == 2; });
        }
        // A tab that shares the lock does not take itself for the only one.
        std::vector<LockPage::RequestPtr> shared;
        for (const auto& member : {holder, other}) {
            shared.push_back(member.page->hold({.mode = LockMode::shared}));
            scene.until([&] { return shared.back()->granted; });
        }
        CHECK(query(scene, other).infos.size() == 2);
        for (const auto& request : shared) request->let_go.complete({});
        scene.until([&] { return shared[0]->ended && shared[1]->ended; });
        const auto crashed = holder.page->hold();
        scene.until([&] { return crashed->granted; });
        WaitEnds asked;
        ask(other, asked, other.page->table().wait_for_unlock("l", {}, {}));
        scene.steps(scene.random.below(60));
        scene.origin.kill(*holder.tab);
        scene.until([&] { return asked.ended == 1; });
        CHECK(scene.judge.failures.empty());
    }
}

TEST_CASE("lock: a prerendered page is granted nothing, and its requests end in time") {
    for (const bool locks : {true, false}) {
        for (std::uint64_t seed = 0; seed < seeds / 4; ++seed) {
            CAPTURE(locks, seed);
            LockScene scene(seed, model_of_seed(seed));
            const auto hidden = scene.open({.locks = locks, .prerendered = true});
            const auto began_ms = scene.origin.clock().now_ms();
            const auto late = hidden.page->count({.timeout_ms = 1'000});
            const auto tried = hidden.page->count({.if_available = true});
            const auto granted = hidden.page->count({});
            CHECK(waited(scene, hidden, 1'000) == ErrorCode::timed_out);
            scene.until([&] { return late->ended && tried->ended; });
            CHECK(scene.origin.clock().now_ms() < began_ms + 1'100);
            CHECK(late->error == ErrorCode::timed_out);
            CHECK(tried->unavailable);
            CHECK(scene.origin.locks().snapshot().held.empty());
            // Another tab takes the lock meanwhile, without a wait for the page.
            const auto shown = scene.open({.locks = locks});
            const auto other = shown.page->count({});
            scene.until([&] { return other->ended; });
            CHECK_FALSE(granted->ended);
            scene.origin.activate(*hidden.tab);
            scene.until([&] { return granted->ended; });
            CHECK(granted->granted);
            CHECK_FALSE(waited(scene, hidden, 1'000));
            CHECK(scene.judge.failures.empty());
        }
    }
}

}  // namespace tabacus::test
