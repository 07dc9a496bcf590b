// A semaphore over tabs: it never has more holders than permits, serves every request, and leaves
// nothing behind.
#include <catch2/catch_test_macros.hpp>

#include "lock_scene.hpp"
#include "seeds.hpp"
#include "tabacus/lock/semaphore.hpp"

namespace tabacus::test {
namespace {

constexpr int permits = 2;

struct SemaphoreJudge {
    std::vector<const Held*> inside;
    int granted = 0;
    int refused = 0;
    int most = 0;
    std::vector<int> order;

    void enter(const Held& held, int number) {
        inside.push_back(&held);
        order.push_back(number);
        ++granted;
        int holding = 0;
        for (const auto* one : inside) holding += one->held() ? 1 : 0;
        most = std::max(most, holding);
    }
};

class PermitUser {
  public:
    PermitUser(LabTab& world, SemaphoreJudge& judge)
        : world_(world),
          judge_(judge),
          table_(world, "test", [](const Notice&) {}),
          semaphore_(world, table_) {}

    void use(int number, LockOptions options = {}) {
        scope_.spawn(use_once(number, std::move(options)));
    }

  private:
    struct Inside {
        Inside(SemaphoreJudge& of, const Held& which, int number) : judge(of), held(&which) {
            judge.enter(which, number);
        }
        Inside(const Inside&) = delete;
        Inside& operator=(const Inside&) = delete;
        Inside(Inside&&) = delete;
        Inside& operator=(Inside&&) = delete;
        ~Inside() { std::erase(judge.inside, held); }
        SemaphoreJudge& judge;
        const Held* held;
    };

    Task<void> use_once(int number, LockOptions options) {
        auto taken = co_await attempt(semaphore_.acquire("s", permits, std::move(options)));
        if (!taken || !taken.value()) {
            ++judge_.refused;
            co_return;
        }
        const auto held = std::move(taken.value());
        const Inside inside(judge_, held, number);
        co_await world_.clock().sleep(3);
    }

    LabTab& world_;
    SemaphoreJudge& judge_;
    LockTable table_;
    Semaphore semaphore_;
    Scope scope_;  // declared last: its coroutines use all members above
};

struct SemaphoreScene {
    explicit SemaphoreScene(std::uint64_t seed) : scene(seed, model_of_seed(seed)) {
        for (int i = 0; i < 3; ++i) {
            tabs.push_back(&scene.origin.open_tab({}));
            clients.push_back(&tabs.back()->run<PermitUser>(*tabs.back(), semaphores));
        }
    }
    SemaphoreJudge semaphores;  // outlives the tabs
    LockScene scene;
    std::vector<LabTab*> tabs;
    std::vector<PermitUser*> clients;
};

}  // namespace

TEST_CASE("lock semaphore: as many requests as there are permits hold one, and never more") {
    int most = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        SemaphoreScene all(seed);
        auto& [judge, scene, tabs, clients] = all;
        for (int i = 0; i < 9; ++i) {
            clients[static_cast<std::size_t>(i % 3)]->use(i);
            scene.steps(scene.random.below(20));
        }
        scene.until([&] { return judge.granted == 9; });
        CHECK(judge.most <= permits);
        most = std::max(most, judge.most);
        scene.origin.run();
        CHECK(judge.inside.empty());
        CHECK(scene.nothing_left());
    }
    CHECK(most == permits);
}

TEST_CASE("lock semaphore: requests of one tab are served in their order") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        SemaphoreScene all(seed);
        auto& [judge, scene, tabs, clients] = all;
        for (int i = 0; i < 6; ++i) clients[0]->use(i);
        scene.origin.run();
        CHECK(judge.order == std::vector{0, 1, 2, 3, 4, 5});
    }
}

TEST_CASE(
    "lock semaphore: a killed tab, a timeout and an abort give up their position and permit") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        SemaphoreScene all(seed);
        auto& [judge, scene, tabs, clients] = all;
        const AbortSignal signal;
        for (int i = 0; i < 9; ++i) {
            LockOptions options;
            if (i == 4) options.timeout_ms = static_cast<double>(scene.random.below(10));
            if (i == 5) options.signal = signal;
            if (i == 7) options.if_available = true;
            clients[static_cast<std::size_t>(i % 3)]->use(i, options);
        }
        scene.steps(scene.random.below(300));
        signal.abort();
        scene.origin.kill(*tabs[0]);
        scene.origin.run();
        CHECK(judge.most <= permits);
        CHECK(judge.inside.empty());
        // Every request of the living tabs has ended.
        CHECK(judge.granted + judge.refused >= 6);
        CHECK(scene.nothing_left());
    }
}

TEST_CASE("lock semaphore: a wall clock that is set forward ends no timeout") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        SemaphoreScene all(seed);
        auto& [judge, scene, tabs, clients] = all;
        for (int i = 0; i < 6; ++i) {
            clients[static_cast<std::size_t>(i % 3)]->use(i, {.timeout_ms = 600'000});
        }
        scene.until([&] { return judge.granted == 1; });
        scene.origin.jump_wall_clock(3'600'000);
        scene.origin.run();
        CHECK(judge.granted == 6);
        CHECK(judge.refused == 0);
    }
}

TEST_CASE("lock semaphore: ifAvailable requests made at once get all free permits") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        SemaphoreScene all(seed);
        auto& [judge, scene, tabs, clients] = all;
        for (int i = 0; i < permits; ++i) clients[0]->use(i, {.if_available = true});
        scene.origin.run();
        CHECK(judge.granted == permits);
        CHECK(judge.refused == 0);
    }
}

}  // namespace tabacus::test
