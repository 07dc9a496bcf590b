// LockStamps: the order of a tab's requests and grants, as numbers and as times.
#pragma once

#include <cstdint>

#include "tabacus/common/world.hpp"

namespace tabacus {

class LockStamps {
  public:
    /// Returns an id that is greater than all before it in this tab.
    std::uint64_t next_id() { return ++last_id_; }
    /// Reads the clock. Returns the time in ms since the Unix epoch.
    double read_ms(const Clock& clock);
    /// Returns the time that read_ms() returned last. It rises with every call, even within one
    /// step of a coarse clock. Requires that the clock was read in this turn: a grant uses the time
    /// at which it was found to be admissible, because a browser's clock is slow to read.
    double next_ms();

  private:
    std::uint64_t last_id_ = 0;
    double now_ms_ = 0;
    double last_ms_ = 0;
};

}  // namespace tabacus
