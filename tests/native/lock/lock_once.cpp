// Single flight: the first of many callers refreshes a token, and another does if its tab dies.
#include <catch2/catch_test_macros.hpp>

#include "lock_scene.hpp"
#include "protocol/lock/sweep/lock_sweeper.hpp"
#include "seeds.hpp"
#include "tabacus/lock/once.hpp"

namespace tabacus::test {
namespace {

/// An identity provider that rotates tokens: a refresh with any token but the newest revokes the
/// session.
struct Provider {
    int newest = 0;
    int refreshes = 0;
    bool revoked = false;
    int refresh(int token) {
        ++refreshes;
        if (token != newest) revoked = true;
        return ++newest;
    }
};

class Client {
  public:
    Client(LockPage& page, Provider& provider)
        : page_(page), provider_(provider), once_(page.world(), page.table()) {}

    /// Does what a request does whose token has expired: refreshes it, or takes the token that
    /// another tab has refreshed. Calls `done` with the token, or with nothing after an error.
    void expire(std::function<void(std::optional<int>)> done) {
        page_.scope().spawn(
            [](Client& self, std::function<void(std::optional<int>)> done) -> Task<void> {
                auto token = co_await attempt(self.refresh());
                if (!token) UNSCOPED_INFO(token.error().what());
                done(token ? std::optional(token.value()) : std::nullopt);
            }(*this, std::move(done)));
    }

  private:
    Task<int> refresh() {
        auto turn = co_await once_.enter("token", {}, {});
        if (turn.outcome) co_return std::stoi(turn.outcome->text);
        co_await page_.world().clock().sleep(1);
        const int token = provider_.refresh(provider_.newest);
        co_await page_.world().clock().sleep(1);
        co_await once_.settle("token", std::move(turn.held), {true, std::to_string(token)}, {});
        co_return token;
    }
    LockPage& page_;
    Provider& provider_;
    Once once_;
};

}  // namespace

TEST_CASE("once: one of many tabs that ask refreshes the token, and all get it") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        Provider provider;
        std::vector<std::unique_ptr<Client>> clients;
        clients.reserve(3);
        for (int i = 0; i < 3; ++i) {
            clients.push_back(std::make_unique<Client>(*scene.open().page, provider));
        }
        for (int expiry = 1; expiry <= 2; ++expiry) {
            // All clients have called before the first of them runs.
            const auto holder = scene.members[0].page->hold({}, "once/token");
            scene.until([&] { return holder->granted; });
            std::vector<std::optional<int>> tokens;
            for (const auto& client : clients) {
                for (int i = 0; i < 2; ++i) {
                    client->expire([&](std::optional<int> token) { tokens.push_back(token); });
                }
            }
            scene.steps(400);
            holder->let_go.complete({});
            scene.until([&] { return tokens.size() == 6; });
            CHECK(provider.refreshes == expiry);
            for (const auto& token : tokens) CHECK(token == expiry);
        }
        scene.origin.run();
        CHECK(scene.nothing_left());
    }
}

TEST_CASE("once: when the runner is killed another tab runs, and no caller waits for ever") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        Provider provider;
        std::vector<std::unique_ptr<Client>> clients;
        std::size_t ended = 0;
        for (int i = 0; i < 3; ++i) {
            const auto member = scene.open();
            clients.push_back(std::make_unique<Client>(*member.page, provider));
            clients.back()->expire([&, alive = i != 0](std::optional<int> token) {
                if (!alive) return;
                ++ended;
                CHECK(token.has_value());
            });
        }
        scene.steps(scene.random.below(200));
        scene.origin.kill(*scene.members[0].tab);
        scene.until([&] { return ended == 2; });
        CHECK(provider.refreshes <= 3);
        scene.origin.run();
        CHECK(scene.nothing_left());
    }
}

TEST_CASE("once: a caller from before a run's end takes its outcome, however late it enters") {
    LockScene scene(1);
    auto& first = *scene.open().page;
    auto& late = *scene.open().page;
    const auto called_ms = first.world().clock().now_ms();
    bool settled = false;
    run_in(
        first.scope(),
        [](LockPage& page) -> Task<void> {
            Once once(page.world(), page.table());
            auto turn = co_await once.enter("k", {}, {});
            co_await page.world().clock().sleep(5);
            co_await once.settle("k", std::move(turn.held), {false, "refused"}, {});
        }(first),
        [&] { settled = true; }, [](const Failure&) {});
    scene.until([&] { return settled; });
    std::vector<std::string> outcomes;
    const auto enter = [&](double called) {
        run_in(
            late.scope(),
            [](LockPage& page, double since, std::vector<std::string>& all) -> Task<void> {
                Once once(page.world(), page.table());
                const auto turn = co_await once.enter("k", {}, {.ttl_ms = 0, .called_ms = since});
                all.push_back(turn.outcome ? turn.outcome->text : "runs");
            }(late, called, outcomes),
            [] {}, [](const Failure&) {});
        scene.origin.run();
    };
    enter(called_ms);
    enter(late.world().clock().now_ms());
    CHECK(outcomes == std::vector<std::string>{"refused", "runs"});
}

TEST_CASE("once: a sweep removes old runs, but those that shall be kept for longer") {
    constexpr double hour_ms = LockSweeper::kept_ms;
    LockScene scene(1, StorageModel::mutexed, std::make_unique<TimeLastChooser>(1));
    const auto one = scene.open();
    Once once(one.page->world(), one.page->table());
    const auto run = [&](const std::string& key, double ttl_ms) {
        bool done = false;
        run_in(
            one.page->scope(),
            [](Once& flights, std::string name, double kept_ms) -> Task<void> {
                auto turn = co_await flights.enter(name, {}, {});
                co_await flights.settle(name, std::move(turn.held), {true, name},
                                        {.ttl_ms = kept_ms});
            }(once, key, ttl_ms),
            [&] { done = true; }, [](const Failure&) {});
        scene.until([&] { return done; });
    };
    const auto kept = [&](const std::string& key) {
        return scene.origin.database().rows(Store::data).contains("tabacus%2Fonce/" + key);
    };
    run("short", 0);
    run("long", 3 * hour_ms);
    run("used", 0);
    const auto user = one.page->hold({}, "once/used");
    scene.until([&] { return user->granted; });
    wait_ms(scene, *one.page, 1'000);  // no grace period goes on
    // Another tab has not looked for the time of the last sweep yet.
    const auto two = scene.open();
    two.tab->set_wall_clock(2 * hour_ms);
    const auto sweeper = two.page->hold({}, "m");
    scene.until([&] { return sweeper->granted && !kept("short"); });
    CHECK(kept("long"));
    CHECK(kept("used"));
    for (const auto& [key, value] : scene.origin.database().rows(Store::locks)) {
        CHECK_FALSE(key.starts_with("once%2Fshort"));
    }
}

}  // namespace tabacus::test
