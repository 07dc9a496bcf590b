// FirstTurns: the first turns that the workers of this tab take over slots that they were granted.
//
//   state   meaning                                    what ends the state
//   free    no worker takes its first turn             enter(): taken
//   taken   a worker takes its first turn, the others  leave(): free
//           wait
//
// They come one after another, because one speaks for all: if a turn finds nothing to claim, no
// other slot that was granted before it began needs a turn, unless its row names jobs that the
// former holder has claimed. Otherwise each slot that one tab releases would cost a transaction in
// every other tab.
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
    /// Returns how many turns of any kind have begun.
    [[nodiscard]] std::uint64_t begun() const { return begun_; }
    /// Begins a turn. Returns its number.
    std::uint64_t begin() { return ++begun_; }
    /// Notes that the turn of this number has found nothing to claim, and that the rows of these
    /// other slots name claimed jobs.
    void find_nothing(std::uint64_t turn, std::vector<int> claimed) {
        vain_ = turn;
        claimed_ = std::move(claimed);
    }
    /// Waits until no other worker takes its first turn.
    Task<void> enter() {
        while (taken_) co_await waiting_.wait();
        taken_ = true;
    }
    /// Whether a turn over the slot is in vain if the slot was granted after `begun` turns.
    [[nodiscard]] bool in_vain(int slot, std::uint64_t begun) const {
        return vain_ > begun && std::find(claimed_.begin(), claimed_.end(), slot) == claimed_.end();
    }
    void leave() {
        taken_ = false;
        waiting_.release_all();
    }

  private:
    bool taken_ = false;
    std::uint64_t begun_ = 0;
    std::uint64_t vain_ = 0;    // the number of the last turn that has found nothing; 0: none
    std::vector<int> claimed_;  // as that turn has found them
    WaitList waiting_;
};

}  // namespace tabacus
