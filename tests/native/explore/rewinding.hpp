// Rewinding: a search that restores an earlier point of a run reports the same as one that repeats
// the run.
#pragma once

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "lab/explore/run_arena.hpp"
#include "lab/explore/search.hpp"

namespace tabacus::lab::test {

/// All that a search reports.
struct Searched {
    bool exhausted = false;
    Schedule failing_schedule;
    std::string failure;
    std::vector<std::uint64_t> counted;
    friend bool operator==(const Searched&, const Searched&) = default;
};

/// Searches in at most 40 slices of work, so that some searches do not reach their end.
inline Searched searched(const Program& program, Bound bound, bool rewinding) {
    bound.rewinding = rewinding;
    Search search(program, bound);
    for (int slice = 0; slice < 40 && search.explore(50); ++slice) {
    }
    CHECK(search.rewinding() == rewinding);
    const auto& [schedules, asleep, cut, steps] = search.counts();
    Searched all{search.exhausted(), {}, {}, {schedules, asleep, cut, steps}};
    if (const auto& failed = search.failed_run()) {
        all.failing_schedule = failed->schedule;
        all.failure = failed->failure;
    }
    return all;
}

inline void check_rewinding(const Program& program, const Bound& bound) {
    if (!RunArena::available()) SKIP("nothing goes back: malloc is not replaced in this program");
    CHECK(searched(program, bound, true) == searched(program, bound, false));
}

}  // namespace tabacus::lab::test
