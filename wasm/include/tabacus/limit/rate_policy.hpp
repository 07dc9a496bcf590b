// RatePolicy: how many calls a rate limit lets through in which time.
#pragma once

#include <cstdint>

namespace tabacus {

struct RatePolicy {
    std::int64_t limit = 1;        // the most calls in any interval, from 1
    std::int64_t interval_ms = 1;  // from 1
};

}  // namespace tabacus
