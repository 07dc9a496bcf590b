// FirstTurns: the first turns that the workers of this tab take over slots that they were granted.
//
//   state   meaning                                    what ends the state
//   free    no worker takes its first turn             enter(): taken
//   taken   a worker takes its first turn, the others  leave(): free
//           wait
//
// First turns are taken one after another, because one may make the others needless: each slot that
// one tab releases would otherwise cost a transaction in every other tab. If a turn finds nothing
// to claim, no other slot needs a turn until WorkSignal::count() rises. The exception are slots
// whose rows name jobs that a former holder has claimed. The turn itself has read these rows. A
// slot that claims jobs after the turn claims jobs that came after it, and those raise the count in
// this tab.
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
