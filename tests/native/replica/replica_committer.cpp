// The committer: when a failed commit is tried again, and who learns that an outcome is known.
#include <catch2/catch_test_macros.hpp>

#include "protocol/replica/adoption.hpp"
#include "protocol/replica/commit_retries.hpp"
#include "protocol/replica/replica_committer.hpp"
#include "watched_wait.hpp"

namespace tabacus::test {

TEST_CASE("commit retries: three attempts follow the first one at once, and then a pause") {
    CommitRetries retries;
    for (int series = 0; series < 2; ++series) {
        CHECK(retries.at_once(ErrorCode::store_failed));
        CHECK(retries.at_once(ErrorCode::store_failed));
        CHECK(retries.at_once(ErrorCode::store_failed));
        CHECK_FALSE(retries.at_once(ErrorCode::store_failed));
        retries.next_pause_ms();
    }
}

TEST_CASE("commit retries: pauses double up to the longest one, and a success begins anew") {
    CommitRetries retries;
    for (const double pause_ms :
         {100.0, 200.0, 400.0, 800.0, 1600.0, 3200.0, 6400.0, 12800.0, 25600.0, 30000.0, 30000.0}) {
        CHECK(retries.next_pause_ms() == pause_ms);
    }
    retries = {};
    CHECK(retries.next_pause_ms() == 100);
}

TEST_CASE(
    "commit retries: an adoption mends a fence, a lost connection and a failing store alone") {
    CHECK(CommitRetries::mended_by_adoption(ErrorCode::fenced));
    CHECK(CommitRetries::mended_by_adoption(ErrorCode::unknown_commit));
    CHECK(CommitRetries::mended_by_adoption(ErrorCode::store_failed));
    CHECK_FALSE(CommitRetries::mended_by_adoption(ErrorCode::quota_exceeded));
    CHECK_FALSE(CommitRetries::mended_by_adoption(ErrorCode::unavailable));
    CHECK_FALSE(CommitRetries::mended_by_adoption(ErrorCode::closed));
}

TEST_CASE("committer: it is idle while neither its loop runs nor a commit is in flight") {
    ReplicaCommitter committer;
    CHECK(committer.idle());
    committer.start();
    CHECK_FALSE(committer.idle());
    committer.stop();
    committer.issue();
    committer.issue();
    committer.report();
    CHECK(committer.in_flight());
    CHECK_FALSE(committer.idle());
    committer.report();
    CHECK_FALSE(committer.in_flight());
    CHECK(committer.idle());
}

TEST_CASE("committer: a wait for an outcome ends with the next one, and not with a former one") {
    ReplicaCommitter committer;
    committer.release_outcome_waiters();
    const WatchedWait first(committer.next_outcome());
    const WatchedWait second(committer.next_outcome());
    CHECK(first.pending());
    committer.release_outcome_waiters();
    CHECK(first.completed());
    CHECK(second.completed());
    const WatchedWait third(committer.next_outcome());
    CHECK(third.pending());
}

TEST_CASE("committer: a retry ends the pause that there is, and no later one") {
    ReplicaCommitter committer;
    committer.retry_now();
    committer.begin_pause();
    const WatchedWait pause(committer.pause_end().async());
    CHECK(pause.pending());
    committer.retry_now();
    CHECK(pause.completed());
    committer.leave_pause();
    committer.begin_pause();
    const WatchedWait next(committer.pause_end().async());
    CHECK(next.pending());
}

TEST_CASE("committer: a commit that has happened confirms its rows, and is counted") {
    CounterSet counters;
    auto& one = counters.add("one", Durability::relaxed, true);
    auto& two = counters.add("two", Durability::relaxed, true);
    one.add(2);
    two.add(3);
    const WatchedWait flush(one.flushes.wait());
    ReplicaCommitter committer;
    const auto rows = counters.gather(Durability::relaxed);
    one.add(5);
    committer.committed(rows);
    CHECK(committer.commits() == 1);
    CHECK(flush.completed());
    CHECK(one.own_row.committed() == Totals{2, 0});
    CHECK(one.own_row.dirty());
    CHECK_FALSE(two.own_row.dirty());
}

TEST_CASE("adoption: coroutines that wait go on when it has ended, and may begin another") {
    Adoption adoption;
    CHECK_FALSE(adoption.running());
    adoption.begin();
    CHECK(adoption.running());
    const WatchedWait waiter(adoption.ended());
    CHECK(waiter.pending());
    adoption.end();
    CHECK_FALSE(adoption.running());
    CHECK(waiter.completed());
}

}  // namespace tabacus::test
