// CounterReads: when the first read of a counter is due, and whether a read finds out the base of
// the own row.
#include <catch2/catch_test_macros.hpp>

#include "protocol/replica/counter/counter_reads.hpp"

namespace tabacus::test {

TEST_CASE(
    "counter reads: the first read is due when the counter is made, and when it is requested") {
    CounterReads reads;
    CHECK(reads.first_due());
    CHECK(reads.take_first());
    CHECK_FALSE(reads.first_due());
    CHECK_FALSE(reads.take_first());
    reads.request_first();
    CHECK(reads.take_first());
}

TEST_CASE("counter reads: a read knows the base of the epoch in which it ended, and of no other") {
    CounterReads reads;
    CHECK_FALSE(reads.know_base(7));
    reads.begin();
    CHECK(reads.reading());
    reads.end();
    CHECK_FALSE(reads.reading());
    CHECK_FALSE(reads.know_base(7));
    reads.complete(7);
    CHECK(reads.know_base(7));
    CHECK_FALSE(reads.know_base(8));
}

TEST_CASE("counter reads: once a row could not be read, no read knows a base") {
    CounterReads reads;
    reads.begin();
    reads.meet_unreadable(false);
    reads.complete(7);
    reads.end();
    CHECK_FALSE(reads.know_base(7));
    reads.begin();
    reads.complete(8);
    CHECK_FALSE(reads.know_base(8));
}

TEST_CASE("counter reads: a base that was known is known no longer once a row cannot be read") {
    CounterReads reads;
    reads.begin();
    reads.complete(7);
    CHECK(reads.know_base(7));
    reads.begin();
    reads.meet_unreadable(false);
    reads.complete(7);
    CHECK_FALSE(reads.know_base(7));
}

TEST_CASE("counter reads: a row of a newer version is remembered until the next read") {
    CounterReads reads;
    reads.begin();
    reads.meet_unreadable(true);
    reads.meet_unreadable(false);
    CHECK(reads.newer());
    reads.end();
    CHECK(reads.newer());
    reads.begin();
    CHECK_FALSE(reads.newer());
}

}  // namespace tabacus::test
