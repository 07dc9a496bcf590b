// The row cache is a join-semilattice for each row, so that neither the order of announcements nor
// their repetition matters.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "lab/seeded_random.hpp"
#include "protocol/replica/counter/row_cache.hpp"

namespace tabacus::test {

TEST_CASE("row cache: any order and repetition of the same news gives the same sum") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        lab::SeededRandom random(seed);
        // One owner's announcements: totals that grow, over epochs that each begin with the totals
        // of the epoch before.
        std::vector<TotalsRecord> history;
        TotalsRecord record{1, {}};
        for (int i = 0; i < 8; ++i) {
            record.totals.plus += static_cast<std::int64_t>(random.below(5));
            record.totals.minus += static_cast<std::int64_t>(random.below(3));
            if (random.below(4) == 0) ++record.epoch;
            history.push_back(record);
        }
        RowCache rows;
        const auto sum = record.totals.plus - record.totals.minus;
        auto received = history;
        received.insert(received.end(), history.begin(), history.end());
        for (std::size_t i = received.size(); i > 1; --i)
            std::swap(received[i - 1], received[random.below(i)]);
        for (const auto& news : received) {
            if (random.coin()) rows.merge_announced("g/0", news);
            rows.merge_committed("g/0", news);
        }
        CHECK(rows.sum() == sum);
        CHECK(rows.committed_sum() == sum);
    }
}

TEST_CASE("row cache: a newer epoch replaces an older one, even with smaller totals") {
    RowCache rows;
    rows.merge_announced("g/0", {1, {100, 0}});
    CHECK(rows.sum() == 100);
    CHECK(rows.committed_sum() == 0);
    rows.merge_committed("g/0", {2, {7, 0}});
    CHECK(rows.sum() == 7);
    rows.merge_announced("g/0", {1, {200, 0}});
    CHECK(rows.sum() == 7);
}

TEST_CASE(
    "row cache: an announcement that the store does not confirm is forgotten after some checks") {
    RowCache rows;
    rows.merge_committed("g/0", {1, {3, 0}});
    rows.merge_announced("g/0", {1, {5, 0}});
    CHECK(rows.age_announcements(2));
    CHECK(rows.sum() == 5);
    CHECK_FALSE(rows.age_announcements(2));
    CHECK(rows.sum() == 3);
}

TEST_CASE("row cache: a cache full of false rows still takes announcements of known rows") {
    RowCache rows;
    rows.merge_committed("g/0", {1, {3, 0}});
    for (std::size_t i = 0; i < 2 * cached_rows_max; ++i) {
        rows.merge_announced("g/" + std::to_string(i + 1), {1, {1, 0}});
    }
    CHECK(rows.rows().size() == cached_rows_max);
    rows.merge_announced("g/0", {1, {5, 0}});
    CHECK(rows.sum() == 5 + static_cast<std::int64_t>(cached_rows_max) - 1);
}

TEST_CASE("row cache: a sum beyond the range of totals saturates and never wraps") {
    RowCache rows;
    rows.merge_announced("g/0", {1, {total_max, 0}});
    rows.merge_announced("g/1", {1, {total_max, 0}});
    rows.merge_announced("g/2", {1, {total_max, 0}});
    CHECK(rows.sum() == total_max);
}

}  // namespace tabacus::test
