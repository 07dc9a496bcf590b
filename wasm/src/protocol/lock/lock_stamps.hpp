// LockStamps: the order of a tab's requests and grants, as numbers and as times.
#pragma once

#include <cstdint>

#include "tabacus/common/world.hpp"

namespace tabacus {

class LockStamps {
  public:
    /// Returns an id that is greater than all before it in this tab.
    std::uint64_t next_id() { return ++last_id_; }
    /// Returns the time in ms since the Unix epoch. It rises with every call, even within one step
    /// of a coarse clock.
    double next_ms(const Clock& clock);

  private:
    std::uint64_t last_id_ = 0;
    double last_ms_ = 0;
};

}  // namespace tabacus
