// The flushes of a counter: which commits end them, and how they fail.
#include <catch2/catch_test_macros.hpp>

#include "protocol/replica/counter/counter_flushes.hpp"
#include "watched_wait.hpp"

namespace tabacus::test {
namespace {

void count(CounterFlushes& flushes, int increments) {
    for (; increments > 0; --increments) flushes.count_increment();
}

}  // namespace

TEST_CASE("flushes: a flush ends with the commit of the last increment before it") {
    CounterFlushes flushes;
    CHECK(flushes.all_committed());
    count(flushes, 2);
    CHECK_FALSE(flushes.all_committed());
    const WatchedWait early(flushes.wait());
    count(flushes, 1);
    const WatchedWait late(flushes.wait());
    CHECK(flushes.awaited());

    flushes.confirm(1);
    CHECK(early.pending());
    flushes.confirm(2);
    CHECK(early.completed());
    CHECK(late.pending());
    CHECK(flushes.awaited());
    CHECK_FALSE(flushes.all_committed());
    flushes.confirm(3);
    CHECK(late.completed());
    CHECK_FALSE(flushes.awaited());
    CHECK(flushes.all_committed());
}

TEST_CASE("flushes: a commit that is reported late takes nothing back") {
    CounterFlushes flushes;
    count(flushes, 3);
    flushes.confirm(3);
    flushes.confirm(1);
    CHECK(flushes.all_committed());
}

TEST_CASE("flushes: a failure ends all that wait, and none that follows") {
    CounterFlushes flushes;
    count(flushes, 1);
    const WatchedWait failed(flushes.wait());
    flushes.fail(Error(ErrorCode::quota_exceeded, "full"));
    CHECK(failed.failure() == ErrorCode::quota_exceeded);
    CHECK_FALSE(flushes.awaited());
    const WatchedWait next(flushes.wait());
    CHECK(next.pending());
    flushes.confirm(1);
    CHECK(next.completed());
}

TEST_CASE("flushes: an unknown outcome fails the flush that waits, or else the next one, once") {
    CounterFlushes flushes;
    count(flushes, 1);
    {
        const WatchedWait failed(flushes.wait());
        flushes.fail_unknown();
        CHECK(failed.failure() == ErrorCode::unknown_commit);
    }
    CHECK_FALSE(flushes.take_unknown());
    flushes.fail_unknown();
    CHECK(flushes.take_unknown());
    CHECK_FALSE(flushes.take_unknown());
}

}  // namespace tabacus::test
