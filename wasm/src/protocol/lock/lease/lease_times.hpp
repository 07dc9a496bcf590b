// How long a lease lasts without a renewal.
#pragma once

#include <cstdint>

namespace tabacus {

constexpr std::int64_t lease_visible_ms = 5'000;
/// How long the lease of a hidden tab lasts: one and a half minutes, because its timers may run
/// once a minute.
constexpr std::int64_t lease_hidden_ms = 90'000;

}  // namespace tabacus
