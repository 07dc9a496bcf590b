// FirstTurns: lets the workers of this tab take their first turns one after another. The first turn
// of a worker is the first transaction over a slot that it was granted.
//
//   state   meaning                                    what ends the state
//   free    no worker takes its first turn             enter(): taken
//   taken   a worker takes its first turn, the others  leave(): free
//           wait
//
// One turn searches on behalf of all slots: if it finds no job to claim, another slot needs a turn
// only once WorkSignal::count() has risen, or if its row names jobs that its former holder has
// claimed. The turn that finds nothing reads which rows name such jobs. A tab that claims jobs
// after that turn claims jobs that came after it, and their events raise the count in this tab.
// Without this rule, each slot that one tab releases would cost a transaction in every other tab.
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
    /// Notes that a turn has found nothing to claim. `count` is WorkSignal::count() when the turn
    /// began. `claimed` are the other slots whose rows name claimed jobs.
    void find_nothing(std::uint64_t count, std::vector<int> claimed) {
        vain_ = count;
        claimed_ = std::move(claimed);
    }
    /// Waits until no other worker takes its first turn.
    Task<void> enter() {
        while (taken_) co_await waiting_.wait();
        taken_ = true;
    }
    /// Whether a turn over the slot would find nothing to do. `count` is WorkSignal::count().
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
    std::uint64_t vain_ = 0;    // `count` of the last turn that found nothing; 0 if there is none
    std::vector<int> claimed_;  // `claimed` of that turn
    WaitList waiting_;
};

}  // namespace tabacus
