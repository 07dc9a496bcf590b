// FirstTurns: the first turns that the workers of this tab take over slots that they were granted.
//
//   state   meaning                                    what ends the state
//   free    no worker takes its first turn             enter(): taken
//   taken   a worker takes its first turn, the others  leave(): free
//           wait
//
// They come one after another, because one speaks for all: if a turn finds nothing to claim, no
// other slot needs a turn before WorkSignal::count() rises, unless its row names jobs that the
// former holder has claimed. Such a row is one that the turn has found: whoever claims jobs later
// has found what came later, and that raises the count in this tab, too. Otherwise each slot that
// one tab releases would cost a transaction in every other tab.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "protocol/common/wait_list.hpp"
#include "tabacus/common/task.hpp"

namespace tabacus {

class FirstTurns {
  public:
    /// A turn has found nothing to claim. It began at that WorkSignal::count(), and the rows of
    /// these other slots name claimed jobs.
    void find_nothing(std::uint64_t count, std::vector<int> claimed) {
        vain_ = count;
        claimed_ = std::move(claimed);
    }
    /// Waits until no other worker takes its first turn.
    Task<void> enter() {
        while (taken_) co_await waiting_.wait();
        taken_ = true;
    }
    /// Whether a turn over the slot is in vain at that WorkSignal::count().
    [[nodiscard]] bool in_vain(int slot, std::uint64_t count) const {
        return vain_ == count &&
               std::find(claimed_.begin(), claimed_.end(), slot) == claimed_.end();
    }
    void leave() {
        taken_ = false;
        waiting_.release_all();
    }

  private:
    bool taken_ = false;
    std::uint64_t vain_ = 0;    // the count of the last turn that has found nothing; 0: none
    std::vector<int> claimed_;  // as that turn has found them
    WaitList waiting_;
};

}  // namespace tabacus
