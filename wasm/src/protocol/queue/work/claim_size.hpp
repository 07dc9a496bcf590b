// ClaimSize: how many jobs a slot claims at once.
//
//   the jobs of the last claim             how many jobs the next claim takes
//   quick: all ended within ahead_ms       as many as fit into ahead_ms at that pace, but at most
//                                          four times as many as before, and at most ahead_max
//   slow: they took longer                 one less than were begun, but at least one
//   interrupted: other jobs may have come  twice as many as were begun, but not more than before
//   overtaken: a follower of one of them   as many as were begun
//   comes before the others
//
// The first claim takes one job. The jobs of a claim behind the first one are *claimed ahead*. If
// they are not begun within ahead_ms, they are given back, so that a claim that is too large delays
// jobs by at most that time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "claim.hpp"

namespace tabacus {

/// Jobs that are claimed ahead are begun within this time after their claim, or given back.
constexpr double ahead_ms = 10;

class ClaimSize {
  public:
    enum class Pace : std::uint8_t { quick, slow, interrupted, overtaken };

    /// Adapts to the pace of a claim, of which `begun` jobs were begun in `took_ms`.
    void adapt(Pace pace, std::size_t begun, double took_ms);
    /// Learns from a new claim how many jobs a row has, and how large it is.
    void learn(const Claim& claim);
    /// Returns how many jobs to claim.
    [[nodiscard]] std::size_t jobs() const { return ahead_; }
    /// Returns how many rows to read for them.
    [[nodiscard]] std::size_t rows() const;

  private:
    std::size_t ahead_ = 1;
    std::size_t per_row_ = 1;    // the jobs in a row of the last claim
    std::size_t row_bytes_ = 1;  // about the bytes of such a row
};

}  // namespace tabacus
