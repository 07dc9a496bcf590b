// The ledger is a join-semilattice per row: order and repetition of what is heard do no harm.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "lab/seeded_random.hpp"
#include "protocol/replica/row_cache.hpp"

namespace tabacus::test {

TEST_CASE("ledger: any order and repetition of the same news gives the same sum") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        lab::SeededRandom random(seed);
        // What one owner may say: totals that grow, over epochs each of which begins with the last.
        std::vector<TotalsRecord> history;
        TotalsRecord record{1, {}};
        for (int i = 0; i < 8; ++i) {
            record.totals.plus += static_cast<std::int64_t>(random.below(5));
            record.totals.minus += static_cast<std::int64_t>(random.below(3));
            if (random.below(4) == 0) ++record.epoch;
            history.push_back(record);
        }
        Ledger ledger;
        const auto sum = record.totals.plus - record.totals.minus;
        auto heard = history;
        heard.insert(heard.end(), history.begin(), history.end());
        for (std::size_t i = heard.size(); i > 1; --i)
            std::swap(heard[i - 1], heard[random.below(i)]);
        for (const auto& news : heard) {
            if (random.coin()) ledger.merge_announced("g/0", news);
            ledger.merge_committed("g/0", news);
        }
        CHECK(ledger.sum() == sum);
        CHECK(ledger.committed_sum() == sum);
    }
}

TEST_CASE("ledger: a newer epoch replaces an older one, even by less") {
    Ledger ledger;
    ledger.merge_announced("g/0", {1, {100, 0}});
    CHECK(ledger.sum() == 100);
    CHECK(ledger.committed_sum() == 0);
    ledger.merge_committed("g/0", {2, {7, 0}});
    CHECK(ledger.sum() == 7);
    ledger.merge_announced("g/0", {1, {200, 0}});
    CHECK(ledger.sum() == 7);
}

TEST_CASE("ledger: what the store does not confirm is forgotten after so many looks") {
    Ledger ledger;
    ledger.merge_committed("g/0", {1, {3, 0}});
    ledger.merge_announced("g/0", {1, {5, 0}});
    CHECK(ledger.age_announcements(2));
    CHECK(ledger.sum() == 5);
    CHECK_FALSE(ledger.age_announcements(2));
    CHECK(ledger.sum() == 3);
}

TEST_CASE("ledger: strangers can fill it, and silence nobody who is known") {
    Ledger ledger;
    ledger.merge_committed("g/0", {1, {3, 0}});
    for (std::size_t i = 0; i < 2 * ledger_rows_max; ++i) {
        ledger.merge_announced("g/" + std::to_string(i + 1), {1, {1, 0}});
    }
    CHECK(ledger.entries().size() == ledger_rows_max);
    ledger.merge_announced("g/0", {1, {5, 0}});
    CHECK(ledger.sum() == 5 + static_cast<std::int64_t>(ledger_rows_max) - 1);
}

TEST_CASE("ledger: totals beyond all range saturate, and never wrap") {
    Ledger ledger;
    ledger.merge_announced("g/0", {1, {total_max, 0}});
    ledger.merge_announced("g/1", {1, {total_max, 0}});
    ledger.merge_announced("g/2", {1, {total_max, 0}});
    CHECK(ledger.sum() == total_max);
}

}  // namespace tabacus::test
