// Many replicated counters in one tab: their bases are read together, and their rows in pages.
#include <catch2/catch_test_macros.hpp>

#include <array>
#include <string>

#include "protocol_scene.hpp"

namespace tabacus::test {
namespace {

/// After an adoption has committed some of them, more are left than are read one by one.
constexpr std::size_t many = 40;
using Sums = std::array<std::int64_t, many>;

/// A program that adds 1 to each counter, flushes all of them at once, and does so again.
class ManyCounters {
  public:
    ManyCounters(LabTab& tab, Sums& attempted, Sums& flushed)
        : tab_(tab, "test", [](const Notice&) {}),
          clock_(tab.clock()),
          attempted_(attempted),
          flushed_(flushed) {}

    void count() { scope_.spawn(live()); }
    void read() { scope_.spawn(read_all()); }
    std::int64_t value(std::size_t at) { return counter(at).value(); }

    int calls = 0;
    bool opened = false;
    Sums values{};

  private:
    ReplicatedCounter& counter(std::size_t at) {
        return tab_.replicated("c" + std::to_string(at), Durability::relaxed);
    }
    Task<void> live() {
        ++calls;
        co_await tab_.open();
        opened = true;
        for (int round = 0; round < 2; ++round) {
            for (std::size_t at = 0; at < many; ++at) {
                ++attempted_.at(at);
                (void)counter(at).increment(1);
                scope_.spawn(flush(at));
            }
            co_await clock_.sleep(3);
        }
        --calls;
    }
    Task<void> flush(std::size_t at) {
        ++calls;
        if (co_await attempt(counter(at).flush())) ++flushed_.at(at);
        --calls;
    }
    Task<void> read_all() {
        ++calls;
        if (!opened) co_await tab_.open();
        opened = true;
        for (std::size_t at = 0; at < many; ++at) scope_.spawn(read_one(at));
        --calls;
    }
    Task<void> read_one(std::size_t at) {
        ++calls;
        values.at(at) = co_await counter(at).read();
        --calls;
    }

    Tab tab_;
    Clock& clock_;
    Sums& attempted_;
    Sums& flushed_;
    Scope scope_;
};

/// A script that steals the lock of the first slot, and holds it.
class SlotStealer {
  public:
    explicit SlotStealer(LabTab& tab) { scope_.spawn(steal(tab)); }

  private:
    static Task<void> steal(LabTab& tab) {
        const auto held =
            co_await tab.locks().request({.name = "tabacus/test/slot/0", .steal = true});
        co_await tab.clock().sleep(2);
    }
    Scope scope_;
};

/// The tabs of one run, and what they have counted.
struct Run {
    explicit Run(std::uint64_t seed, Platform tabs_run_on = {})
        : scene(seed, model_of(seed)), platform(tabs_run_on) {}

    void open() {
        auto& tab = scene.origin.open_tab(platform);
        auto& page = tab.run<ManyCounters>(tab, attempted, flushed);
        tab.post([&page] { page.count(); });
        tabs.push_back(&tab);
    }
    /// Checks in a new tab that no flushed increment is lost, and that none counts twice.
    void check() {
        scene.origin.run();
        auto& tab = scene.origin.open_tab(platform);
        auto& page = tab.run<ManyCounters>(tab, attempted, flushed);
        tab.post([&page] { page.read(); });
        scene.origin.run();
        REQUIRE(page.calls == 0);
        for (std::size_t at = 0; at < many; ++at) {
            CAPTURE(at);
            CHECK(page.values.at(at) >= flushed.at(at));
            CHECK(page.values.at(at) <= attempted.at(at));
        }
    }

    Sums attempted{};
    Sums flushed{};
    Scene scene;
    Platform platform;
    std::vector<LabTab*> tabs;
};

constexpr std::uint64_t runs = 40;

/// Where a base must come from the database.
constexpr Platform without_backup{.storage = false};

}  // namespace

TEST_CASE("many counters: a tab receives all that another one changes in one turn") {
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
        CAPTURE(seed);
        Run run(seed);
        auto& tab = run.scene.origin.open_tab();
        auto& follower = tab.run<ManyCounters>(tab, run.attempted, run.flushed);
        tab.post([&follower] { follower.read(); });
        run.scene.origin.run();
        run.open();
        run.scene.origin.run();
        for (std::size_t at = 0; at < many; ++at) CHECK(follower.value(at) == 2);
    }
}

TEST_CASE("many counters: what is flushed stays, and counts once, if tabs are killed") {
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
        CAPTURE(seed);
        Run run(seed, without_backup);
        for (int i = 0; i < 3; ++i) run.open();
        run.scene.steps(run.scene.random.below(600));
        run.scene.origin.kill(*run.tabs.at(run.scene.random.below(2)));
        run.scene.steps(run.scene.random.below(100));
        run.open();
        run.check();
    }
}

TEST_CASE("many counters: the bases of a slot that another tab had meanwhile are read again") {
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
        CAPTURE(seed);
        Run run(seed, without_backup);
        run.open();
        run.scene.steps(run.scene.random.below(400));
        auto& victim = *run.tabs.front();
        run.scene.origin.freeze(victim);
        auto& stealer = run.scene.origin.open_tab();
        stealer.run<SlotStealer>(stealer);
        run.scene.origin.run();
        run.open();
        run.scene.origin.run();
        run.scene.origin.kill(*run.tabs.back());
        run.scene.origin.thaw(victim);
        run.check();
    }
}

TEST_CASE("many counters: a lost connection or database costs nothing that was flushed") {
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
        CAPTURE(seed);
        Run run(seed);
        for (int i = 0; i < 2; ++i) run.open();
        run.scene.steps(run.scene.random.below(500));
        if (seed % 2 == 0) {
            run.scene.origin.lose_database();
        } else {
            run.scene.origin.close_connection(*run.tabs.front());
        }
        run.scene.steps(run.scene.random.below(100));
        run.open();
        run.check();
    }
}

}  // namespace tabacus::test
