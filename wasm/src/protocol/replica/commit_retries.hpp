// CommitRetries: when a failed commit is tried again.
//
//   failures in a row       what follows
//   fewer than              another attempt at once, under a new epoch, if another adoption may
//   commit_attempts_max,    remove the cause
//   or fenced_attempts_max
//   more, or another cause  a pause, and an attempt after it; each pause is twice as long as the
//                           one before
//
// A commit that succeeds begins a new series: retries = {}.
#pragma once

#include <algorithm>

#include "tabacus/common/error.hpp"

namespace tabacus {

/// A commit is tried this many times in all before the flushes that wait for it fail. One adoption
/// removes each cause (a stolen slot, a dropped connection, a vanished database). If three follow
/// in a row, the platform itself is broken.
constexpr int commit_attempts_max = 4;

/// The number of attempts if slots are stolen. That is no fault of the platform: a script may steal
/// slots again and again, but hardly as fast as this tab adopts the next one.
constexpr int fenced_attempts_max = 32;

/// The first and the longest pause.
constexpr double retry_first_ms = 100;
constexpr double retry_last_ms = 30'000;

class CommitRetries {
  public:
    /// Returns true if another adoption may remove the cause of a failed commit. It cannot if the
    /// store is full.
    static bool mended_by_adoption(ErrorCode code) {
        return code == ErrorCode::fenced || code == ErrorCode::unknown_commit ||
               code == ErrorCode::store_failed;
    }
    /// Counts a failure whose cause an adoption may remove. Returns true if the next attempt
    /// follows at once.
    bool at_once(ErrorCode code) {
        return ++attempts_ <
               (code == ErrorCode::fenced ? fenced_attempts_max : commit_attempts_max);
    }
    /// The length of the pause before the next attempt.
    double next_pause_ms() {
        attempts_ = 0;
        const double pause_ms = pause_ms_;
        pause_ms_ = std::min(pause_ms * 2, retry_last_ms);
        return pause_ms;
    }

  private:
    int attempts_ = 0;
    double pause_ms_ = retry_first_ms;
};

}  // namespace tabacus
