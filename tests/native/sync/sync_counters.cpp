// Tests that all three exact counters pass, and then tests of one kind each.

#include <atomic>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>

#include "seeds.hpp"
#include "sync_support.hpp"
#include "tabacus/sync/atomic_counter.hpp"
#include "tabacus/sync/mutexed_counter.hpp"
#include "tabacus/sync/striped_counter.hpp"
#include "tabacus/sync/unsynchronised_counter.hpp"

using namespace tabacus::sync;
using tabacus::sync::test::on_threads;
using tabacus::test::repeated;

namespace {

Added add(AtomicCounter& counter, std::int64_t n, Limit limit = int64_limit) {
    return counter.add(n, limit);
}
Added add(UnsynchronisedCounter& counter, std::int64_t n, Limit limit = int64_limit) {
    return counter.add(n, limit);
}
Added add(MutexedCounter& counter, std::int64_t n, Limit limit = int64_limit) {
    return counter.add(n, this_thread(), limit);
}
Added add(StripedCounter& counter, std::int64_t n, Limit limit = int64_limit) {
    return counter.add(n, this_thread(), limit);
}

// On a busy machine two threads seldom run at the same moment, so that one round proves little.
constexpr int rounds = 10;

constexpr std::uint32_t threads = 4;
constexpr std::int64_t number_most = number_limit.most;

}  // namespace

TEMPLATE_TEST_CASE("the article's program is exact", "[sync]", AtomicCounter, MutexedCounter,
                   StripedCounter) {
    TestType counter;
    constexpr std::int64_t adds = 100'000;
    for (int round = 0; round < rounds; ++round) {
        on_threads(threads, [&](std::uint32_t) {
            for (std::int64_t i = 0; i < adds; ++i) add(counter, 1);
        });
        CHECK(counter.value() == threads * adds);
        on_threads(threads, [&](std::uint32_t) {
            for (std::int64_t i = 0; i < adds; ++i) add(counter, -1);
        });
        CHECK(counter.value() == 0);
    }
}

TEMPLATE_TEST_CASE("an add returns the value after it", "[sync]", AtomicCounter, MutexedCounter,
                   StripedCounter, UnsynchronisedCounter) {
    TestType counter;
    CHECK(add(counter, 5).value == 5);
    CHECK(add(counter, -7).value == -2);
    CHECK(counter.value() == -2);
}

TEMPLATE_TEST_CASE("an add beyond a limit is refused and changes nothing", "[sync]", AtomicCounter,
                   MutexedCounter, StripedCounter, UnsynchronisedCounter) {
    for (const Limit limit : {number_limit, int64_limit}) {
        for (const std::int64_t sign : {1, -1}) {
            TestType counter;
            REQUIRE(add(counter, sign * limit.most, limit).outcome == Outcome::added);
            if (limit.most == INT64_MAX && sign == -1) {
                REQUIRE(add(counter, -1, limit).value == INT64_MIN);
            }
            const std::int64_t end = counter.value();
            CHECK(add(counter, sign, limit).outcome == Outcome::out_of_range);
            CHECK(add(counter, sign * limit.most, limit).outcome == Outcome::out_of_range);
            CHECK(counter.value() == end);
            CHECK(add(counter, -sign, limit).outcome == Outcome::added);
            CHECK(counter.value() == end - sign);
        }
    }
}

TEMPLATE_TEST_CASE("a value that is beyond a limit can only be brought back within it", "[sync]",
                   AtomicCounter, MutexedCounter, StripedCounter, UnsynchronisedCounter) {
    TestType counter;
    add(counter, number_most + 10);
    CHECK(add(counter, -5, number_limit).outcome == Outcome::out_of_range);
    CHECK(add(counter, -10, number_limit).value == number_most);
}

// One thread moves an atomic counter from one end of its range to the other, and others add one. An
// add that relied on a value loaded before such a move would exceed the limit, and the test would
// see it.
TEST_CASE("no add of an atomic counter relies on a stale load", "[sync]") {
    AtomicCounter counter;
    std::atomic<bool> done{false};
    std::atomic<std::int64_t> strays{0};
    on_threads(threads, [&](std::uint32_t index) {
        while (index != 0 && !done.load()) {
            const Added up = counter.add(1, number_limit);
            if (!number_limit.allows(up.value)) strays.fetch_add(1);
            if (up.outcome == Outcome::added) counter.add(-1, number_limit);
        }
        if (index != 0) return;
        for (std::int64_t i = 0; i < 1'000'000; ++i) {
            const Added top = counter.add(number_most - counter.value(), number_limit);
            if (top.outcome == Outcome::added) counter.add(-number_most / 2, number_limit);
            if (!number_limit.allows(counter.value())) strays.fetch_add(1);
        }
        done = true;
    });
    CHECK(strays.load() == 0);
}

// Threads move the counter from one end of its range to the other while others add one. A refused
// add must not be in the total, and an accepted add must be.
TEMPLATE_TEST_CASE("refused adds leave no trace under contention", "[sync]", AtomicCounter,
                   MutexedCounter, StripedCounter) {
    TestType counter;
    // The sums are modulo 2^64: the sum of one thread may lie far outside the range of the total.
    std::atomic<std::uint64_t> accepted{0};
    std::atomic<std::int64_t> strays{0};
    on_threads(threads, [&](std::uint32_t index) {
        const std::int64_t large = index % 2 == 0 ? number_most : number_most / 2;
        std::uint64_t mine = 0;
        for (int i = 0; i < repeated(100'000); ++i) {
            for (const std::int64_t n : {large, std::int64_t{1}, -large, -large, -large, large}) {
                const Added added = add(counter, n, number_limit);
                if (added.outcome == Outcome::added) mine += static_cast<std::uint64_t>(n);
                if (!number_limit.allows(added.value)) strays.fetch_add(1);
            }
        }
        accepted.fetch_add(mine);
    });
    CHECK(counter.value() == static_cast<std::int64_t>(accepted.load()));
    CHECK(strays.load() == 0);
}

TEMPLATE_TEST_CASE("at its limit a counter accepts as many adds as fit, from all threads together",
                   "[sync]", AtomicCounter, MutexedCounter, StripedCounter) {
    for (const std::int64_t sign : {1, -1}) {
        TestType counter;
        constexpr std::int64_t headroom = 20'000;
        add(counter, sign * (number_most - headroom), number_limit);
        std::atomic<std::int64_t> accepted{0};
        on_threads(threads, [&](std::uint32_t) {
            for (std::int64_t i = 0; i < headroom; ++i) {
                if (add(counter, sign, number_limit).outcome == Outcome::added)
                    accepted.fetch_add(1);
            }
        });
        CHECK(accepted.load() == headroom);
        CHECK(counter.value() == sign * number_most);
    }
}

TEST_CASE("a striped counter is exact across closing and opening its cells", "[sync]") {
    StripedCounter counter;
    std::atomic<std::int64_t> accepted{0};
    on_threads(threads, [&](std::uint32_t index) {
        const std::int64_t large = std::int64_t{1} << (48 + index % 3);
        std::int64_t mine = 0;
        for (std::int64_t i = 0; i < 60'000; ++i) {
            for (const std::int64_t n : {std::int64_t{1}, large, std::int64_t{2}, -large}) {
                if (counter.bump(n, this_thread(), number_limit) == Outcome::added) mine += n;
            }
        }
        accepted.fetch_add(mine);
    });
    CHECK(counter.value() == accepted.load());
}

// One thread counts up in its cell. In between it adds and subtracts a large number, which moves
// the cells into the base. Apart from the large number the total only grows. A sum that misses a
// cell while it is moved, or counts it twice, makes a reader see the total fall.
TEST_CASE("a sum read while cells are closed misses nothing", "[sync]") {
    StripedCounter counter;
    constexpr std::int64_t large = std::int64_t{1} << 48;
    std::atomic<bool> done{false};
    std::atomic<int> steps_back{0};
    const auto read = [&] {
        for (std::int64_t latest = 0; !done.load();) {
            const std::int64_t small = counter.value() % large;
            if (small < latest) steps_back.fetch_add(1);
            latest = small;
        }
    };
    const auto move = [&] {
        for (int i = 0; i < repeated(500'000); ++i) {
            for (const std::int64_t n : {std::int64_t{1}, large, std::int64_t{1}, -large}) {
                counter.bump(n, this_thread(), number_limit);
            }
        }
        done = true;
    };
    on_threads(3, [&](std::uint32_t index) { index == 0 ? move() : read(); });
    CHECK(steps_back.load() == 0);
}

TEST_CASE("the unsynchronised counter loses updates and never invents any", "[sync]") {
    // Where the threads share a core, each may finish within one time slice and meet no other. So
    // they have more to do in each attempt, until time slices end in the middle of it.
    constexpr std::int64_t adds_first = 100'000;
    constexpr std::int64_t adds_max = adds_first << 10U;
    for (auto adds = adds_first; adds <= adds_max; adds += adds / 8) {
        UnsynchronisedCounter counter;
        on_threads(threads, [&](std::uint32_t) {
            for (std::int64_t i = 0; i < adds; ++i) add(counter, 1);
        });
        REQUIRE(counter.value() <= threads * adds);
        if (counter.value() < threads * adds) return;
    }
    FAIL("no update was lost");
}
