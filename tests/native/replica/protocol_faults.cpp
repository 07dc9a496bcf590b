// The replicated counter under faults that spare the store: stolen slots, frozen and cached pages,
// dropped connections, and operations that fail. No tab dies with increments that are not
// committed, so none may be missing at the end.
#include <catch2/catch_test_macros.hpp>

#include "protocol_scene.hpp"
#include "seeds.hpp"
#include "slot_stealer.hpp"
#include "time_last_chooser.hpp"

namespace tabacus::test {
namespace {

/// Delays the lock manager's answers to the tab `delayed` for as long as anything else can happen.
class DelayingChooser final : public lab::Chooser {
  public:
    explicit DelayingChooser(std::uint64_t seed) : chooser_(lab::SeededRandom(seed)) {}

    std::size_t choose(const std::vector<lab::Source>& choices) override {
        const auto deliverable = [this](const lab::Source& source) {
            return source.kind != lab::Source::Kind::grant || source.tab != delayed;
        };
        if (std::none_of(choices.begin(), choices.end(), deliverable))
            return chooser_.choose(choices);
        for (;;) {
            if (const auto index = chooser_.choose(choices); deliverable(choices[index]))
                return index;
        }
    }
    lab::TabId delayed = 0;

  private:
    lab::SeededChooser chooser_;
};

void check_exact(Scene& scene) {
    scene.origin.run();
    const auto sum = scene.judge.attempted();
    for (const auto& member : scene.members) {
        if (!member.tab->alive()) continue;
        CHECK(member.page->done);
        CHECK_FALSE(member.page->warned("degraded"));
        CHECK(member.page->errors == std::vector<ErrorCode>{});
        CHECK(scene.read(member) == sum.plus - sum.minus);
        CHECK(member.page->counter().value() == sum.plus - sum.minus);
    }
    CHECK(scene.read(scene.ready()) == sum.plus - sum.minus);
    CHECK(scene.judge.failures() == std::vector<std::string>{});
}

}  // namespace

TEST_CASE("replicated: a stolen slot fences its former owner, and no increment counts twice") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        Scene scene(seed, model_of(seed));
        for (int i = 0; i < 3; ++i) scene.count(scene.open(), {});
        auto& stealer_tab = scene.origin.open_tab();
        auto& stealer = stealer_tab.run<Stealer>(stealer_tab);
        for (int theft = 0; theft < 2; ++theft) {
            scene.steps(scene.random.below(150));
            auto& victim = *scene.members[scene.random.below(3)].tab;
            const bool unaware = scene.random.coin();
            if (unaware) scene.origin.freeze(victim);
            for (std::size_t slot = 0; slot < 3; ++slot) stealer.steal(slot_lock(slot));
            scene.steps(scene.random.below(40));
            scene.count(scene.open(), {.adds = 3});
            scene.steps(scene.random.below(200));
            if (unaware) scene.origin.thaw(victim);
        }
        check_exact(scene);
    }
}

TEST_CASE(
    "replicated: no read and no flush fails however often slots are stolen; one warning a minute") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        Scene scene(seed, model_of(seed), std::make_unique<TimeLastChooser>(seed));
        const auto victim = scene.ready();
        auto& stealer_tab = scene.origin.open_tab();
        auto& stealer = stealer_tab.run<Stealer>(stealer_tab);
        for (int theft = 0; theft < 10; ++theft) {
            victim.page->add(1);
            victim.page->flush();
            victim.page->read();
            for (int part = 0; part < 3; ++part) {
                scene.steps(scene.random.below(25));
                for (std::size_t slot = 0; slot < 4; ++slot) stealer.steal(slot_lock(slot));
            }
            scene.origin.run_until(
                [&] { return victim.page->flushing + victim.page->reading == 0; });
        }
        const auto warnings = std::ranges::count_if(
            victim.page->notices, [](const Notice& notice) { return notice.code == "slot-lost"; });
        CHECK(warnings <= 1);
        CHECK(victim.page->errors == std::vector<ErrorCode>{});
        CHECK(victim.page->read_errors == std::vector<ErrorCode>{});
        CHECK(scene.read(scene.ready()) == 10);
    }
}

TEST_CASE("replicated: a slot that is stolen at any step of an adoption for a read fails no read") {
    for (std::uint64_t step = 0; step < 40; ++step) {
        CAPTURE(step);
        Scene scene(step, model_of(step), std::make_unique<TimeLastChooser>(step));
        const auto victim = scene.ready(Platform{});
        scene.add_and_flush(victim);
        auto& stealer_tab = scene.origin.open_tab();
        auto& stealer = stealer_tab.run<Stealer>(stealer_tab);
        stealer.steal(slot_lock(0));
        scene.origin.run();
        // Another tab adopts slot 0, so that a read of the victim adopts the next one.
        scene.add_and_flush(scene.ready(Platform{.channels = false}));
        victim.page->read();
        scene.steps(step);
        stealer.steal(slot_lock(1));
        scene.origin.run_until([&] { return victim.page->reading == 0; });
        CHECK(victim.page->read_errors == std::vector<ErrorCode>{});
        CHECK(victim.page->last_read == 2);
    }
}

TEST_CASE("replicated: a tab unaware that its slot was stolen is fenced by its own commit") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        auto chooser = std::make_unique<DelayingChooser>(seed);
        auto& delayed = chooser->delayed;
        Scene scene(seed, model_of(seed), std::move(chooser));
        const auto victim = scene.ready();
        scene.add_and_flush(victim);
        delayed = victim.tab->id();
        auto& stealer_tab = scene.origin.open_tab();
        stealer_tab.run<Stealer>(stealer_tab).steal(slot_lock(0));
        scene.steps(10);
        const auto adopter = scene.ready();
        scene.add_and_flush(adopter);
        scene.add_and_flush(victim);
        delayed = 0;
        scene.origin.run();
        scene.add_and_flush(adopter);
        CHECK(scene.read(victim) == 4);
        CHECK(scene.read(scene.ready()) == 4);
    }
}

TEST_CASE("replicated: a page from the back/forward cache counts exactly when it is back") {
    int kept = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        Scene scene(seed, model_of(seed));
        for (int i = 0; i < 3; ++i) scene.count(scene.open(), {});
        scene.steps(100 + scene.random.below(150));
        const auto& member = scene.members[seed % 3];
        if (!scene.origin.page_hide(*member.tab)) continue;  // it held or requested a lock
        ++kept;
        scene.steps(scene.random.below(80));
        scene.count(scene.open(), {});
        scene.steps(scene.random.below(300));
        scene.origin.page_show(*member.tab);
        scene.origin.run();
        // Nothing proves the outcome of a commit that was cut off when the page was left, if its row
        // has a newer owner (UnknownCommit). Its flush fails then, and the sum is exact.
        std::erase(scene.members[seed % 3].page->errors, ErrorCode::unknown_commit);
        check_exact(scene);
    }
    CHECK(kept >= static_cast<int>(seeds) / 2);
}

TEST_CASE("replicated: a page with an idle counter is always fit for the back/forward cache") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        Scene scene(seed, model_of(seed));
        const auto page = scene.ready();
        scene.add_and_flush(page);
        scene.origin.run();
        REQUIRE(scene.origin.page_hide(*page.tab));
        const auto other = scene.ready();
        scene.add_and_flush(other, 10);
        CHECK(scene.row_count() == 1);  // `other` has adopted the slot of the page in the cache
        scene.origin.page_show(*page.tab);
        CHECK(scene.read(page) == 11);
    }
}

TEST_CASE("replicated: increments of a page's last turn are committed while the page is cached") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        Scene scene(seed);
        const auto page = scene.ready(Platform{});
        scene.add_and_flush(page);
        page.page->add(1);
        scene.steps(scene.random.below(8));  // a commit may be under way
        page.page->add(5);
        REQUIRE(scene.origin.page_hide(*page.tab));
        scene.origin.run();
        CHECK(scene.read(scene.ready()) == 7);
        // The page dies in the cache. The increments of its last commit still count once.
        scene.origin.kill(*page.tab);
        CHECK(scene.read(scene.ready()) == 7);
    }
}

namespace {

constexpr Platform barring{.locks_bar_cache = true};

/// Calls `play(scene, rested)` with a page whose counter is 1 and whose idle replica has released
/// its slot's lock.
template <typename Play>
void with_rested(Play play) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        Scene scene(seed, model_of(seed));
        const auto rested = scene.ready(barring);
        scene.add_and_flush(rested);
        scene.origin.run();
        REQUIRE_FALSE(scene.origin.locks().holds_any(rested.tab->id()));
        play(scene, rested);
    }
}

/// Does the same, and checks that every tab reads 6 at the end and that the rested page got no
/// error.
template <typename Play>
void check_rested(Play play) {
    with_rested([&](Scene& scene, const Scene::Member& rested) {
        play(scene, rested);
        scene.origin.run();
        CHECK(scene.read(rested) == 6);
        CHECK(scene.read(scene.ready()) == 6);
        CHECK(rested.page->errors == std::vector<ErrorCode>{});
        CHECK(rested.page->notices.empty());
    });
}

}  // namespace

TEST_CASE("replicated: a rested page that is left commits its last increments under its epoch") {
    check_rested([](Scene& scene, const Scene::Member& rested) {
        rested.page->add(5);
        REQUIRE(scene.origin.page_hide(*rested.tab));
        scene.origin.run();
        CHECK(scene.read(scene.ready()) == 6);
        scene.origin.page_show(*rested.tab);
    });
}

TEST_CASE("replicated: a rested page takes its slot's lock again, and keeps its epoch") {
    check_rested([](Scene& scene, const Scene::Member& rested) {
        const auto claims = scene.origin.database().rows(Store::claims);
        scene.add_and_flush(rested, 5);
        CHECK(scene.origin.locks().holds_any(rested.tab->id()));
        CHECK(scene.origin.database().rows(Store::claims) == claims);
    });
}

TEST_CASE(
    "replicated: a rested page learns that another tab adopted its slot, and takes another one") {
    check_rested([](Scene& scene, const Scene::Member& rested) {
        const auto adopter = scene.ready(Platform{});
        scene.add_and_flush(adopter, 5);
        REQUIRE(scene.row_count() == 1);
        scene.origin.run();
        CHECK(rested.page->counter().value() == 6);
        adopter.page->add(20);
        scene.add_and_flush(rested, 40);
        scene.flush(adopter);
        scene.origin.run();
        CHECK(scene.row_count() == 2);
        for (const auto& member : {rested, adopter}) {
            CHECK(member.page->counter().value() == 66);
            CHECK(scene.read(member) == 66);
        }
        scene.add_and_flush(adopter, -60);
    });
}

/// The page's former row cannot show whether its last commit happened, since the adopter writes it
/// too.
TEST_CASE("replicated: last increments of a page whose slot was adopted are an unknown commit") {
    with_rested([](Scene& scene, const Scene::Member& rested) {
        const auto adopter = scene.ready(Platform{.channels = false});
        scene.add_and_flush(adopter, 3);
        rested.page->add(2);
        REQUIRE(scene.origin.page_hide(*rested.tab));
        scene.origin.run();
        CHECK(scene.read(adopter) == 4);
        scene.origin.page_show(*rested.tab);
        scene.flush(rested);
        CHECK(rested.page->errors == std::vector{ErrorCode::unknown_commit});
        scene.origin.run();
        CHECK(scene.read(rested) == 4);
        CHECK(scene.read(scene.ready()) == 4);
    });
}

TEST_CASE("replicated: connections dropped at any moment leave no commit lost or doubled") {
    for (std::uint64_t seed = 0; seed < 2 * seeds; ++seed) {
        CAPTURE(seed);
        Scene scene(seed, model_of(seed));
        for (int i = 0; i < 3; ++i) scene.count(scene.open(), {.decrements = true});
        for (int drop = 0; drop < 3; ++drop) {
            scene.steps(scene.random.below(120));
            scene.origin.close_connection(*scene.members[scene.random.below(3)].tab);
        }
        scene.origin.run();
        // If a connection is dropped twice in a row, flush() may reject with a typed error. The
        // next flush() succeeds.
        for (const auto& member : scene.members) {
            for (const auto code : std::exchange(member.page->errors, {})) {
                CHECK((code == ErrorCode::store_failed || code == ErrorCode::unknown_commit));
            }
            scene.flush(member);
        }
        check_exact(scene);
    }
}

TEST_CASE("replicated: an unknown commit in a stolen slot never counts twice nor breaks a flush") {
    for (std::uint64_t seed = 0; seed < 2 * seeds; ++seed) {
        CAPTURE(seed);
        Scene scene(seed, model_of(seed));
        for (int i = 0; i < 2; ++i) scene.count(scene.open(), {});
        auto& stealer_tab = scene.origin.open_tab();
        auto& stealer = stealer_tab.run<Stealer>(stealer_tab);
        scene.steps(60 + scene.random.below(120));
        auto& victim = *scene.members[seed % 2].tab;
        scene.origin.close_connection(victim);
        scene.origin.freeze(victim);
        for (std::size_t slot = 0; slot < 2; ++slot) stealer.steal(slot_lock(slot));
        scene.steps(40);
        scene.count(scene.open(), {.adds = 3});
        scene.steps(scene.random.below(300));
        scene.origin.thaw(victim);
        scene.origin.run();
        const auto total = scene.read(scene.ready());
        CHECK(total >= scene.judge.acknowledged().plus);
        CHECK(total <= scene.judge.attempted().plus);
        CHECK(scene.judge.failures() == std::vector<std::string>{});
    }
}

TEST_CASE("replicated: a row never goes back when two commits wait for its base") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        Scene scene(seed, model_of(seed));
        const auto page = scene.ready(Platform{});
        // A commit of another counter has adopted the slot, so the next commit reads the row of "c"
        // alone.
        page.page->counter("other").increment(1);
        scene.origin.run();
        page.page->add(1);
        scene.steps(scene.random.below(6));
        scene.origin.hide(*page.tab);
        scene.steps(scene.random.below(3));
        page.page->add(2);
        scene.steps(scene.random.below(3));
        page.page->add(4);
        scene.origin.run();
        scene.flush(page);
        CHECK(scene.read(scene.ready()) == 7);
        CHECK(scene.read(page) == 7);
    }
}

TEST_CASE("replicated: a connection dropped during an adoption loses and doubles nothing") {
    for (std::uint64_t seed = 0; seed < 2 * seeds; ++seed) {
        CAPTURE(seed);
        Scene scene(seed, model_of(seed));
        scene.add_and_flush(scene.ready(), 5);
        const auto page = scene.ready();
        page.page->add(1);
        page.page->flush();
        scene.steps(scene.random.below(20));
        scene.origin.close_connection(*page.tab);
        page.page->add(2);
        page.page->read();
        scene.origin.run();
        CHECK(page.page->errors == std::vector<ErrorCode>{});
        scene.flush(page);
        CHECK(page.page->counter().value() == 8);
        CHECK(scene.read(page) == 8);
        CHECK(scene.read(scene.ready()) == 8);
        CHECK(scene.judge.failures() == std::vector<std::string>{});
    }
}

TEST_CASE(
    "replicated: an adoption of unknown outcome is never taken for another of the same slot") {
    for (std::uint64_t seed = 0; seed < 4 * seeds; ++seed) {
        CAPTURE(seed);
        Scene scene(seed, model_of(seed));
        const auto victim = scene.ready(Platform{});
        auto& stealer_tab = scene.origin.open_tab();
        auto& stealer = stealer_tab.run<Stealer>(stealer_tab);
        victim.page->add(1);
        victim.page->flush();
        scene.steps(scene.random.below(20));
        scene.origin.close_connection(*victim.tab);
        scene.origin.freeze(*victim.tab);
        stealer.steal(slot_lock(0));
        scene.steps(10);
        // Another tab adopts the same slot from the same former epoch, and its row has at least as
        // much.
        const auto adopter = scene.ready(Platform{});
        scene.add_and_flush(adopter, seed % 2 == 0 ? 1 : 3);
        scene.origin.thaw(*victim.tab);
        for (int i = 0; i < 4; ++i) {
            scene.steps(3);
            victim.page->read();
        }
        scene.origin.run();
        const auto acknowledged = scene.judge.acknowledged().plus;
        const auto total = scene.read(scene.ready());
        CHECK(total >= acknowledged);
        CHECK(total <= scene.judge.attempted().plus);
        CHECK(scene.read(victim) == total);
        CHECK(victim.page->counter().value() == total);
        CHECK(scene.judge.failures() == std::vector<std::string>{});
    }
}

TEST_CASE("replicated: hidden and frozen tabs delay increments, and lose none") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        Scene scene(seed, model_of(seed));
        for (int i = 0; i < 3; ++i) scene.count(scene.open(), {});
        scene.steps(scene.random.below(150));
        scene.origin.hide(*scene.members[0].tab);
        scene.origin.freeze(*scene.members[1].tab);
        scene.steps(scene.random.below(200));
        scene.origin.show(*scene.members[0].tab);
        scene.origin.thaw(*scene.members[1].tab);
        check_exact(scene);
    }
}

// As in SQLite's fault loop, the first, the second, … the n-th store operation fails, until fewer
// than n operations happen.
TEST_CASE("replicated: no single store operation that fails causes an error for the caller") {
    constexpr std::uint64_t operations_max = 200;
    std::uint64_t nth = 1;
    for (bool reached = true; reached; ++nth) {
        REQUIRE(nth < operations_max);
        CAPTURE(nth);
        Scene scene(nth);
        const auto first = scene.ready();
        const auto second = scene.ready();
        scene.add_and_flush(first);
        scene.origin.run();
        auto& database = scene.origin.database();
        const auto last = database.operations() + nth;
        database.fail_operation(nth, false);
        first.page->add(1);
        first.page->flush();
        scene.add_and_flush(second, 10);
        scene.origin.run();
        reached = database.operations() >= last;
        database.stop_failing_operations();
        CHECK(first.page->errors == std::vector<ErrorCode>{});
        CHECK(second.page->errors == std::vector<ErrorCode>{});
        CHECK(scene.read(first) == 12);
        CHECK(scene.read(scene.ready()) == 12);
    }
    CHECK(nth > 10);
}

TEST_CASE("replicated: flush() rejects while the store fails, and succeeds once it works again") {
    for (std::uint64_t nth = 1; nth <= 12; ++nth) {
        CAPTURE(nth);
        Scene scene(nth);
        const auto page = scene.ready();
        scene.origin.run();
        scene.origin.database().fail_operation(nth, true);
        for (int i = 0; i < 5 && page.page->errors.empty(); ++i) scene.add_and_flush(page);
        CHECK_FALSE(page.page->errors.empty());
        const auto counted = page.page->counter().value();
        CHECK(counted == scene.judge.attempted().plus);
        scene.origin.database().stop_failing_operations();
        scene.flush(page);
        CHECK(scene.read(scene.ready()) == counted);
        scene.origin.run();
    }
}

}  // namespace tabacus::test
