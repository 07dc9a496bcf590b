// Counters at their edges: full stores, missing stores, the ends of the range, and closing.
#include <catch2/catch_test_macros.hpp>

#include "replica/protocol_scene.hpp"

namespace tabacus::test {
namespace {

using Codes = std::vector<ErrorCode>;

}  // namespace

TEST_CASE(
    "quota: with a full database flush() rejects, add() works, and a later flush() succeeds") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        Scene scene(seed);
        const auto page = scene.ready();
        scene.add_and_flush(page, 9);
        scene.origin.database().set_quota(0);
        scene.add_and_flush(page, 91);
        CHECK(page.page->errors == Codes{ErrorCode::quota_exceeded});
        CHECK(page.page->warned("quota-exceeded"));
        CHECK(page.page->add(1) == 101);
        CHECK(page.page->counter().value() == 101);
        scene.origin.database().set_quota(std::nullopt);
        scene.flush(page);
        CHECK(page.page->errors.size() == 1);
        CHECK(scene.read(scene.ready()) == 101);
    }
}

TEST_CASE("quota: a full localStorage prevents the backup, and does no harm to the counter") {
    Scene scene(1);
    scene.origin.storage().set_quota(10);
    const auto page = scene.ready();
    scene.add_and_flush(page, 9);
    CHECK(page.page->errors.empty());
    CHECK(scene.read(scene.ready()) == 9);
}

TEST_CASE("without IndexedDB each tab has a row in localStorage, and all rows are counted") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        Scene scene(seed, model_of(seed));
        const Platform platform{.database = false, .locks = seed % 2 == 0};
        for (int i = 0; i < 3; ++i) {
            scene.count(scene.open(platform), {.decrements = true, .read_between = false});
        }
        scene.origin.run();
        const auto sum = scene.judge.attempted();
        for (const auto& member : scene.members) {
            CHECK(member.page->tab().capabilities().store == "localstorage");
            CHECK(member.page->counter().value() == sum.plus - sum.minus);
            CHECK(scene.read(member) == sum.plus - sum.minus);
        }
        CHECK(scene.read(scene.ready(platform)) == sum.plus - sum.minus);
    }
}

TEST_CASE("a database that refuses to open is replaced by localStorage, with a warning") {
    Scene scene(1);
    scene.origin.database().refuse(true);
    const auto page = scene.ready();
    CHECK(page.page->tab().capabilities().store == "localstorage");
    CHECK(page.page->warned("degraded"));
    scene.add_and_flush(page, 2);
    CHECK(scene.read(page) == 2);
}

TEST_CASE("without any store living tabs agree in memory") {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        Scene scene(seed);
        const Platform platform{.storage = false, .database = false};
        for (int i = 0; i < 3; ++i) scene.count(scene.open(platform), {.read_between = false});
        scene.origin.run();
        for (const auto& member : scene.members) {
            CHECK(member.page->tab().capabilities().store == "memory");
            CHECK(member.page->counter().value() == scene.judge.attempted().plus);
        }
        const auto late = scene.ready(platform);
        scene.origin.run();
        CHECK(late.page->counter().value() == scene.judge.attempted().plus);
    }
}

TEST_CASE("without Web Locks every tab makes a slot of its own, and counts exactly") {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        Scene scene(seed, model_of(seed));
        const Platform platform{.locks = false};
        for (int i = 0; i < 3; ++i) scene.count(scene.open(platform), {});
        scene.origin.run();
        CHECK(scene.read(scene.ready(platform)) == scene.judge.attempted().plus);
        CHECK(scene.judge.failures().empty());
    }
}

TEST_CASE("without BroadcastChannel a tab learns of other tabs when it reads") {
    Scene scene(1);
    const Platform platform{.channels = false};
    const auto first = scene.ready(platform);
    const auto second = scene.ready(platform);
    CHECK_FALSE(first.page->tab().capabilities().channel);
    scene.add_and_flush(first, 5);
    CHECK(scene.read(second) == 5);
}

TEST_CASE("out of range: an add beyond either end is refused and changes nothing") {
    Scene scene(1);
    const auto page = scene.ready();
    auto& counter = page.page->counter();
    CHECK(page.page->add(value_max) == value_max);
    CHECK(page.page->add(1) == std::nullopt);
    CHECK(counter.value() == value_max);
    scene.flush(page);
    CHECK(page.page->add(-value_max) == 0);
    CHECK(page.page->add(-value_max) == -value_max);
    CHECK(page.page->add(-1) == std::nullopt);
    CHECK(counter.value() == -value_max);
    scene.flush(page);
    CHECK(scene.read(scene.ready()) == -value_max);
    CHECK(page.page->errors.empty());
}

TEST_CASE(
    "out of range: all tabs see a sum of several tabs beyond the range, and can count it back") {
    Scene scene(1);
    const auto first = scene.ready();
    const auto second = scene.ready();
    CHECK(first.page->add(value_max));
    CHECK(second.page->add(value_max));
    scene.flush(first);
    scene.flush(second);
    scene.origin.run();
    CHECK(scene.read(first) == 2 * value_max);
    CHECK(scene.read(second) == 2 * value_max);
    CHECK(first.page->add(1) == std::nullopt);
    CHECK(first.page->add(-value_max) == value_max);
    scene.flush(first);
    CHECK(scene.read(second) == value_max);
}

TEST_CASE("close() of a busy counter commits, releases the slot, and then refuses further calls") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        Scene scene(seed, model_of(seed));
        const auto page = scene.ready();
        scene.steps(scene.random.below(30));
        page.page->add(3);
        scene.steps(scene.random.below(10));
        page.page->add(4);
        page.page->close();
        scene.origin.run_until([&] { return page.page->closed; });
        scene.origin.run();
        CHECK(page.page->errors.empty());
        CHECK(page.page->tab().idle());
        CHECK_FALSE(scene.origin.locks().holds_any(page.tab->id()));
        scene.flush(page);
        CHECK(page.page->errors == Codes{ErrorCode::closed});
        const auto next = scene.ready();
        CHECK(scene.read(next) == 7);
        scene.add_and_flush(next);
        CHECK(scene.row_count() == 1);
    }
}

TEST_CASE("close() with a full store rejects, and neither it nor a pending flush() hangs") {
    Scene scene(1);
    const auto page = scene.ready();
    scene.add_and_flush(page, 9);
    scene.origin.database().set_quota(0);
    page.page->add(991);
    page.page->flush();
    page.page->close();
    scene.origin.run_until([&] { return page.page->closed && page.page->flushing == 0; });
    CHECK(page.page->errors.size() == 2);
}

TEST_CASE("rows never outnumber the most tabs open at once") {
    Scene scene(1);
    for (int round = 0; round < 20; ++round) {
        const auto first = scene.ready();
        const auto second = scene.ready();
        scene.add_and_flush(first);
        scene.add_and_flush(second);
        scene.origin.kill(*first.tab);
        second.page->close();
        scene.origin.run();
        scene.origin.kill(*second.tab);
        scene.origin.run();
    }
    CHECK(scene.row_count() == 2);
    CHECK(scene.read(scene.ready()) == 40);
}

TEST_CASE("several counters in one tab are committed together and kept apart") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        Scene scene(seed);
        const auto page = scene.ready();
        page.page->counter("a/b").increment(1);
        page.page->counter("a").increment(10);
        page.page->counter("a%2Fb").increment(100);
        page.page->counter("").increment(1000);
        scene.origin.run();
        const auto other = scene.ready();
        CHECK(other.page->counter("a/b").value() == 0);
        for (const auto* name : {"a/b", "a", "a%2Fb", ""}) other.page->counter(name);
        scene.origin.run();
        CHECK(other.page->counter("a/b").value() == 1);
        CHECK(other.page->counter("a").value() == 10);
        CHECK(other.page->counter("a%2Fb").value() == 100);
        CHECK(other.page->counter("").value() == 1000);
    }
}

TEST_CASE("subscribers are called at most once a turn, also for increments of other tabs") {
    Scene scene(1);
    const auto first = scene.ready();
    const auto second = scene.ready();
    scene.origin.run();
    int own = 0;
    int others = 0;
    const auto subscription = first.page->counter().on_change([&] { ++own; });
    const auto elsewhere = second.page->counter().on_change([&] { ++others; });
    for (int i = 0; i < 10; ++i) first.page->add(1);
    CHECK(own == 0);
    scene.origin.run();
    CHECK(own == 1);
    CHECK(others >= 1);
    CHECK(second.page->counter().value() == 10);
}

}  // namespace tabacus::test
