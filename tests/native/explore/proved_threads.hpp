// Checks that no interleaving of a program of threads fails.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "lab/explore/search.hpp"

namespace tabacus::test {

/// Requires that every schedule within the bound is explored to its end, and that none fails.
inline void check_all_pass(const lab::Program& program, const lab::Bound& bound = {}) {
    lab::Search search(program, bound);
    search.explore(100'000'000);
    const std::string failure = search.failed_run() ? search.failed_run()->failure : "";
    INFO("schedules " << search.counts().schedules << ", steps " << search.counts().steps
                      << ", points " << search.points());
    CHECK(failure == "");
    CHECK(search.exhausted());
    CHECK(search.counts().cut == 0);
}

}  // namespace tabacus::test
