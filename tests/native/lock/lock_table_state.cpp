// TableState: whether the locks of a tab may be granted.
#include "protocol/lock/table_state.hpp"

#include <catch2/catch_test_macros.hpp>

namespace tabacus::test {

TEST_CASE("lock table state: a page that is not shown yet is suspended until it resumes",
          "[locks]") {
    TableState state(true);
    REQUIRE(state.suspended());
    REQUIRE(state.stopped());
    REQUIRE(state.resume());
    REQUIRE_FALSE(state.stopped());
    REQUIRE_FALSE(state.resume());
}

TEST_CASE("lock table state: a suspended table without a database grants once both have ended",
          "[locks]") {
    TableState state(false);
    REQUIRE_FALSE(state.stopped());
    state.suspend();
    state.lose_store();
    state.settle_store();
    REQUIRE(state.stopped());
    state.lose_store();
    REQUIRE(state.resume());
    REQUIRE(state.stopped());
    REQUIRE_FALSE(state.suspended());
    state.settle_store();
    REQUIRE_FALSE(state.stopped());
}

TEST_CASE("lock table state: a closed table stays closed, and reports why it was closed first",
          "[locks]") {
    TableState state(false);
    REQUIRE(state.close());
    REQUIRE_FALSE(state.close());
    state.cut_off();
    REQUIRE(state.closed());
    REQUIRE(state.end_error().code() == ErrorCode::closed);
    state.settle_store();
    state.resume();
    REQUIRE(state.stopped());
}

TEST_CASE("lock table state: a table that is cut off reports that the page must be reloaded",
          "[locks]") {
    TableState state(false);
    state.lose_store();
    state.cut_off();
    REQUIRE(state.close());
    REQUIRE(state.end_error().code() == ErrorCode::unavailable);
}

}  // namespace tabacus::test
