// How long a lease lasts without a renewal.
#pragma once

#include <cstdint>

namespace tabacus {

constexpr std::int64_t lease_visible_ms = 5'000;
/// A hidden tab's timers may run once a minute: a renewal a minute, and half as much again.
constexpr std::int64_t lease_hidden_ms = 90'000;

}  // namespace tabacus
