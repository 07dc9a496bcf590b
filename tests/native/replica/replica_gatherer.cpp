// The gatherer of what threads add: the range of the counter, the last commits of a page, and what is
// published.
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "protocol_scene.hpp"
#include "tabacus/replica/gatherer.hpp"

namespace tabacus::test::gatherers {
namespace {

/// The cells of a counter, which the test fills as threads would.
class TestCells final : public SharedCells {
  public:
    std::int64_t gather() override { return sum - taken; }
    void take(std::int64_t n) override { taken += n; }
    void publish(std::int64_t value) override { base = value - taken; }

    [[nodiscard]] std::int64_t value() const { return base + sum; }

    std::int64_t sum = 0;
    std::int64_t taken = 0;
    std::int64_t base = 0;
};

/// A tab whose threads count in the counter "c".
class ThreadsTab {
  public:
    explicit ThreadsTab(LabTab& world) : tab_(world, "test", [](const Notice&) {}) {
        scope_.spawn([](ThreadsTab& self) -> Task<void> {
            co_await self.tab_.open();
            self.counter = &self.tab_.replicated("c", Durability::relaxed);
            self.gatherer = std::make_unique<Gatherer>(*self.counter, self.cells);
        }(*this));
    }
    void flush() { watch(gatherer->flush()); }
    void close() { watch(tab_.close()); }

    TestCells cells;
    ReplicatedCounter* counter = nullptr;
    std::unique_ptr<Gatherer> gatherer;
    int ended = 0;
    std::optional<ErrorCode> failure;

  private:
    void watch(Task<void> task) {
        scope_.spawn([](ThreadsTab& self, Task<void> of) -> Task<void> {
            const auto outcome = co_await attempt(std::move(of));
            if (!outcome) self.failure = outcome.error().code();
            ++self.ended;
        }(*this, std::move(task)));
    }

    Tab tab_;
    Scope scope_;
};

struct GathererScene {
    GathererScene() { origin.run(); }
    /// Returns what a new tab reads.
    std::int64_t stored() {
        auto& tab = origin.open_tab();
        CounterJudge judge;
        auto& page = tab.run<Page>(tab, judge);
        page.open();
        origin.run();
        page.read();
        origin.run();
        return page.last_read.value_or(-1);
    }

    Origin origin{{1, StorageModel::cached}};
    LabTab& world = origin.open_tab();
    ThreadsTab& tab = world.run<ThreadsTab>(world);
};

}  // namespace

TEST_CASE("gatherer: a flush commits what threads had added, and publishes the same total") {
    GathererScene scene;
    scene.tab.cells.sum = 5;
    scene.tab.flush();
    CHECK(scene.tab.cells.taken == 5);
    CHECK(scene.tab.cells.value() == 5);
    scene.origin.run();
    CHECK(scene.tab.ended == 1);
    CHECK(!scene.tab.failure);
    CHECK(scene.stored() == 5);
    scene.tab.flush();
    scene.origin.run();
    CHECK(scene.stored() == 5);
}

TEST_CASE("gatherer: threads are shown what the page itself and other tabs add") {
    GathererScene scene;
    scene.tab.cells.sum = 2;
    scene.tab.counter->increment(10);
    scene.origin.run();
    CHECK(scene.tab.cells.value() == 12);
    auto& other = scene.origin.open_tab();
    CounterJudge judge;
    auto& page = other.run<Page>(other, judge);
    page.open();
    scene.origin.run();
    page.add(100);
    page.flush();
    scene.origin.run();
    CHECK(scene.tab.cells.value() == 112);
}

TEST_CASE("gatherer: an add that would leave the range stays in its cell until it fits") {
    GathererScene scene;
    scene.tab.counter->increment(value_max - 1);
    scene.origin.run();
    scene.tab.cells.sum = 3;
    CHECK_FALSE(scene.tab.gatherer->gather());
    scene.tab.flush();
    scene.origin.run();
    CHECK(scene.tab.failure == ErrorCode::out_of_range);
    CHECK(scene.tab.cells.taken == 0);
    scene.tab.cells.sum = -1;
    CHECK(scene.tab.gatherer->gather());
    CHECK(scene.tab.counter->value() == value_max - 2);
    CHECK(scene.tab.cells.value() == value_max - 2);
}

TEST_CASE("gatherer: a page that is left commits what its threads had added") {
    GathererScene scene;
    scene.tab.cells.sum = 1;
    scene.tab.flush();
    scene.origin.run();
    scene.tab.cells.sum = 4;
    SECTION("hidden") { scene.origin.hide(scene.world); }
    SECTION("in the back/forward cache") { scene.origin.page_hide(scene.world); }
    SECTION("closed") { scene.tab.close(); }
    scene.origin.run();
    CHECK(scene.stored() == 4);
}

TEST_CASE("gatherer: a flush after close() fails, and takes nothing from the cells") {
    GathererScene scene;
    scene.tab.close();
    scene.origin.run();
    scene.tab.cells.sum = 7;
    scene.tab.flush();
    scene.origin.run();
    CHECK(scene.tab.failure == ErrorCode::closed);
    CHECK(scene.tab.cells.taken == 0);
}

}  // namespace tabacus::test::gatherers
