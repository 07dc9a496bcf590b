// The table of visited points, compared with one that keeps everything.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <map>

#include "lab/explore/visited_points.hpp"
#include "lab/seeded_random.hpp"

namespace tabacus::lab {
namespace {

constexpr std::size_t least_slots = std::size_t{1} << 17U;

/// Each point with the most preemptions that were left there, by turn.
class Remembered {
  public:
    void insert(std::uint64_t point, std::uint64_t turn, std::uint32_t left) {
        auto& known = points_[point].at(turn);
        known = std::max(known, left + 1);
    }
    [[nodiscard]] bool covers(std::uint64_t point, std::uint64_t turn, std::uint32_t left) const {
        const auto found = points_.find(point);
        if (found == points_.end()) return false;
        for (std::size_t other = 0; other < turns; ++other) {
            const bool own = other == turn && turn < turns_counted;
            if (found->second.at(other) > (own ? left : left + 1)) return true;
        }
        return false;
    }
    [[nodiscard]] std::size_t size() const { return points_.size(); }

    static constexpr std::size_t turns = 10;

  private:
    static constexpr std::size_t turns_counted = 5;
    std::map<std::uint64_t, std::array<std::uint32_t, turns>> points_;
};

struct Visit {
    std::uint64_t point;
    std::uint64_t turn;
    std::uint32_t left;
};

/// A random visit of one of `points` points; with few points, the visits repeat them.
Visit a_visit(SeededRandom& random, std::uint64_t points, std::uint32_t left_max) {
    return {random.below(points), random.below(Remembered::turns),
            static_cast<std::uint32_t>(random.below(left_max + 1))};
}

struct Held {
    std::size_t wrong = 0;      // claimed to be visited, and are not
    std::size_t forgotten = 0;  // the other way round
};

Held hold(const VisitedPoints& visited, const Remembered& remembered, std::uint64_t points,
          std::uint32_t left_max) {
    SeededRandom random(2);
    Held held;
    for (auto visits = 0; visits < 400'000; ++visits) {
        const auto [point, turn, left] = a_visit(random, points, left_max);
        const bool claimed = visited.covers(point, turn, left);
        const bool is = remembered.covers(point, turn, left);
        if (claimed && !is) ++held.wrong;
        if (is && !claimed) ++held.forgotten;
    }
    return held;
}

}  // namespace

TEST_CASE("visited points: every point differs from every other, however the table grows") {
    constexpr std::uint64_t points = 600'000;
    VisitedPoints visited;
    Remembered remembered;
    SeededRandom random(1);
    for (auto visits = 0; visits < 800'000; ++visits) {
        const auto [point, turn, left] = a_visit(random, points, 62);
        visited.insert(point, turn, left);
        remembered.insert(point, turn, left);
    }
    REQUIRE(remembered.size() > 2 * least_slots);
    const auto held = hold(visited, remembered, points + points / 4, 63);
    CHECK(held.wrong == 0);
    CHECK(held.forgotten == 0);
}

TEST_CASE("visited points: points that do not fit are forgotten, and no others") {
    constexpr std::uint64_t points = least_slots * 2;
    VisitedPoints visited(least_slots);
    Remembered remembered;
    for (std::uint64_t point = 0; point < points; ++point) {
        visited.insert(point, point % 3, 1);
        remembered.insert(point, point % 3, 1);
    }
    std::size_t kept = 0;
    for (std::uint64_t point = 0; point < points; ++point) {
        if (!visited.covers(point, point % 3, 1)) continue;
        ++kept;
        visited.insert(point, point % 3, 3);
        remembered.insert(point, point % 3, 3);
    }
    CHECK(kept == least_slots / 4 * 3);
    CHECK(hold(visited, remembered, 2 * points, 4).wrong == 0);
    std::size_t raised = 0;
    for (std::uint64_t point = 0; point < points; ++point) {
        if (visited.covers(point, point % 3, 3)) ++raised;
    }
    CHECK(raised == kept);
}

TEST_CASE("visited points: more preemptions than the table counts are stored as its maximum") {
    VisitedPoints visited;
    visited.insert(1, 0, 1'000);
    CHECK(visited.covers(1, 0, 62));
    CHECK(visited.covers(1, 1, 61));
    CHECK_FALSE(visited.covers(1, 0, 63));
}

}  // namespace tabacus::lab
