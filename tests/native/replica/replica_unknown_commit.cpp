// What a stored row proves of a commit whose outcome was never reported.
#include <catch2/catch_test_macros.hpp>

#include "protocol/replica/counter/unknown_commit.hpp"

namespace tabacus::test {

TEST_CASE("unknown commit: a row refutes the commit if it holds less, or is of an older epoch") {
    const UnknownCommit commit{"g/0", {5, {10, 2}}, 1, {}};
    CHECK_FALSE(commit.compatible_with(std::nullopt));
    CHECK_FALSE(commit.compatible_with(TotalsRecord{5, {9, 2}}));
    CHECK_FALSE(commit.compatible_with(TotalsRecord{5, {10, 1}}));
    CHECK_FALSE(commit.compatible_with(TotalsRecord{4, {10, 2}}));
    CHECK_FALSE(commit.compatible_with(TotalsRecord{6, {9, 99}}));
}

TEST_CASE(
    "unknown commit: a row that holds as much, in its epoch or a later one, leaves it possible") {
    const UnknownCommit commit{"g/0", {5, {10, 2}}, 1, {}};
    CHECK(commit.compatible_with(TotalsRecord{5, {10, 2}}));
    CHECK(commit.compatible_with(TotalsRecord{5, {11, 3}}));
    CHECK(commit.compatible_with(TotalsRecord{6, {10, 2}}));
}

TEST_CASE("unknown commit: only a commit that names its increments adopts its slot") {
    CHECK(UnknownCommit{"g/0", {5, {10, 2}}, 1, {3, 0}}.adopts());
    CHECK(UnknownCommit{"g/0", {5, {10, 2}}, 1, {0, 3}}.adopts());
    CHECK_FALSE(UnknownCommit{"g/0", {5, {10, 2}}, 1, {}}.adopts());
}

}  // namespace tabacus::test
