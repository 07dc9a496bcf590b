// One behaviour suite for the three exact counters, then what each kind has of its own.

#include <atomic>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>

#include "sync_support.hpp"
#include "tabacus/sync/atomic_counter.hpp"
#include "tabacus/sync/mutexed_counter.hpp"
#include "tabacus/sync/striped_counter.hpp"
#include "tabacus/sync/unsynchronised_counter.hpp"

using namespace tabacus::sync;
using tabacus::sync::test::on_threads;

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

constexpr std::uint32_t threads = 4;
constexpr std::int64_t number_most = number_limit.most;

}  // namespace

TEMPLATE_TEST_CASE("the article's program is exact", "[sync]", AtomicCounter, MutexedCounter,
                   StripedCounter) {
    TestType counter;
    constexpr std::int64_t adds = 100'000;
    on_threads(threads, [&](std::uint32_t) {
        for (std::int64_t i = 0; i < adds; ++i) add(counter, 1);
    });
    CHECK(counter.value() == threads * adds);
    on_threads(threads, [&](std::uint32_t) {
        for (std::int64_t i = 0; i < adds; ++i) add(counter, -1);
    });
    CHECK(counter.value() == 0);
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

TEMPLATE_TEST_CASE("what a wider limit has put outside may come back", "[sync]", AtomicCounter,
                   MutexedCounter, StripedCounter, UnsynchronisedCounter) {
    TestType counter;
    add(counter, number_most + 10);
    CHECK(add(counter, -5, number_limit).outcome == Outcome::out_of_range);
    CHECK(add(counter, -10, number_limit).value == number_most);
}

// Threads throw the counter from end to end while others add one. Whatever was refused must not be
// in the total, and whatever was added must be.
TEMPLATE_TEST_CASE("refused adds leave no trace under contention", "[sync]", AtomicCounter,
                   MutexedCounter, StripedCounter) {
    TestType counter;
    std::atomic<std::int64_t> accepted{0};
    std::atomic<std::int64_t> strays{0};
    on_threads(threads, [&](std::uint32_t index) {
        const std::int64_t large = index % 2 == 0 ? number_most : number_most / 2;
        std::int64_t mine = 0;
        for (std::int64_t i = 0; i < 20'000; ++i) {
            for (const std::int64_t n : {large, std::int64_t{1}, -large, -large, -large, large}) {
                const Added added = add(counter, n, number_limit);
                if (added.outcome == Outcome::added) mine += n;
                if (!number_limit.allows(added.value)) strays.fetch_add(1);
            }
        }
        accepted.fetch_add(mine);
    });
    CHECK(counter.value() == accepted.load());
    CHECK(strays.load() == 0);
}

TEMPLATE_TEST_CASE("at its limit a counter takes what fits, from all threads together", "[sync]",
                   AtomicCounter, MutexedCounter, StripedCounter) {
    for (const std::int64_t sign : {1, -1}) {
        TestType counter;
        constexpr std::int64_t room = 20'000;
        add(counter, sign * (number_most - room), number_limit);
        std::atomic<std::int64_t> accepted{0};
        on_threads(threads, [&](std::uint32_t) {
            for (std::int64_t i = 0; i < room; ++i) {
                if (add(counter, sign, number_limit).outcome == Outcome::added)
                    accepted.fetch_add(1);
            }
        });
        CHECK(accepted.load() == room);
        CHECK(counter.value() == sign * number_most);
    }
}

TEST_CASE("a striped counter is exact across closing and opening its cells", "[sync]") {
    StripedCounter counter;
    std::atomic<std::int64_t> accepted{0};
    on_threads(threads, [&](std::uint32_t index) {
        const std::int64_t large = std::int64_t{1} << (48 + index % 3);
        std::int64_t mine = 0;
        for (std::int64_t i = 0; i < 20'000; ++i) {
            for (const std::int64_t n : {std::int64_t{1}, large, std::int64_t{2}, -large}) {
                if (counter.bump(n, this_thread(), number_limit) == Outcome::added) mine += n;
            }
        }
        accepted.fetch_add(mine);
    });
    CHECK(counter.value() == accepted.load());
}

// While one thread moves the total between cells and base, a reader must not see it missing or
// twice.
TEST_CASE("a sum read while cells are closed is a sum all the same", "[sync]") {
    StripedCounter counter;
    constexpr std::int64_t large = std::int64_t{1} << 50;
    constexpr std::int64_t small = std::int64_t{1} << 40;
    counter.bump(small, this_thread(), number_limit);
    std::atomic<bool> done{false};
    std::int64_t odd = 0;
    std::thread reader([&] {
        while (!done.load()) {
            const std::int64_t value = counter.value();
            if (value != small && value != small + large) ++odd;
        }
    });
    for (int i = 0; i < 100'000; ++i) {
        counter.bump(large, this_thread(), number_limit);
        counter.bump(-large, this_thread(), number_limit);
    }
    done = true;
    reader.join();
    CHECK(odd == 0);
}

TEST_CASE("the unsynchronised counter is seen to lose, and never invents", "[sync]") {
    constexpr std::int64_t adds = 100'000;
    constexpr int tries_max = 200;
    for (int attempt = 0; attempt < tries_max; ++attempt) {
        UnsynchronisedCounter counter;
        on_threads(threads, [&](std::uint32_t) {
            for (std::int64_t i = 0; i < adds; ++i) add(counter, 1);
        });
        REQUIRE(counter.value() <= threads * adds);
        if (counter.value() < threads * adds) return;
    }
    FAIL("not one update was lost in " << tries_max << " tries");
}
