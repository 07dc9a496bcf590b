// The own row of a counter, through the epochs of its slot.
#include <catch2/catch_test_macros.hpp>

#include "protocol/replica/counter/own_row.hpp"

namespace tabacus::test {

TEST_CASE("own row: increments and decrements go to totals of their own") {
    OwnRow row(false);
    CHECK_FALSE(row.dirty());
    CHECK(row.add(5));
    CHECK(row.add(-2));
    CHECK(row.attempted() == Totals{5, 2});
    CHECK(row.value() == 3);
    CHECK(row.pending() == Totals{5, 2});
    CHECK(row.dirty());
}

TEST_CASE("own row: an add that a total cannot hold changes nothing") {
    OwnRow row(false);
    row.set_base({total_max - 3, 0});
    CHECK_FALSE(row.add(4));
    CHECK(row.attempted() == Totals{total_max - 3, 0});
    CHECK(row.add(3));
    CHECK(row.attempted() == Totals{total_max, 0});
    CHECK(row.add(-1));
}

TEST_CASE("own row: a base is counted, and is nothing that must be committed") {
    OwnRow row(false);
    row.add(2);
    row.set_base({10, 1});
    CHECK(row.based());
    CHECK(row.base() == Totals{10, 1});
    CHECK(row.attempted() == Totals{12, 1});
    CHECK(row.committed() == Totals{10, 1});
    CHECK(row.pending() == Totals{2, 0});
}

TEST_CASE("own row: confirmations in any order leave the largest totals") {
    OwnRow row(true);
    row.add(9);
    row.confirm({6, 0});
    row.confirm({4, 0});
    CHECK(row.committed() == Totals{6, 0});
    CHECK(row.pending() == Totals{3, 0});
    row.confirm({9, 0});
    CHECK_FALSE(row.dirty());
}

TEST_CASE("own row: the end of an epoch keeps what is not committed, and nothing else") {
    OwnRow row(false);
    row.set_base({10, 0});
    row.add(7);
    row.confirm({15, 0});
    row.end_epoch();
    CHECK_FALSE(row.based());
    CHECK(row.committed() == Totals{});
    CHECK(row.attempted() == Totals{2, 0});
}

TEST_CASE("own row: increments that another row holds are not committed again") {
    OwnRow row(false);
    row.add(7);
    row.remove({5, 0});
    CHECK(row.attempted() == Totals{2, 0});
    CHECK(row.value() == 2);
}

}  // namespace tabacus::test
