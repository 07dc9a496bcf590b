// ClaimSize: how many jobs a slot claims at once.
//
//   what the jobs of the last claim did    the next claim takes
//   quick: they ended within ahead_ms      as many as fit into ahead_ms at that pace, up to four
//                                          times as many, and up to ahead_max
//   slow: they did not                     one less than were begun, and one at least
//   interrupted: there may be others       twice as many as were begun, and no more than before
//   overtaken: a following job comes       as many as were begun
//   before the others
//
// The first claim takes one job. Jobs that are claimed ahead and not begun are given back, so that
// a claim that is too large holds up others for ahead_ms at most.
#pragma once

#include <cstddef>
#include <cstdint>

#include "claim.hpp"

namespace tabacus {

/// Jobs claimed ahead are begun within so long of their claim, or given back.
constexpr double ahead_ms = 10;

class ClaimSize {
  public:
    enum class Pace : std::uint8_t { quick, slow, interrupted, overtaken };

    /// Adapts to how a claim has run, of which so many jobs were begun, in so long.
    void adapt(Pace pace, std::size_t begun, double took_ms);
    /// Learns how many jobs a row has, and how large it is, from what was just claimed.
    void learn(const Claim& claim);
    /// Returns how many jobs to claim.
    [[nodiscard]] std::size_t jobs() const { return ahead_; }
    /// Returns how many rows to read for them.
    [[nodiscard]] std::size_t rows() const;

  private:
    std::size_t ahead_ = 1;
    std::size_t per_row_ = 1;    // when it last claimed
    std::size_t row_bytes_ = 1;  // about
};

}  // namespace tabacus
