// Burst: the calls of one tab to a budget that follow each other without a pause. The longer a
// burst is, the more rights the tab takes out of the budget in advance.
//
//   state   calls()                window()                    what ends the state
//   ended   0                      0                           add(): exact
//   exact   less than exact_takes  0                           add(), exact_takes times: ahead
//                                                              end(): ended
//   ahead   exact_takes or more    a quarter of what the       end(): ended
//                                  burst has spent, at most
//                                  a sixteenth of the budget
#pragma once

#include <algorithm>
#include <cstdint>

namespace tabacus {

class Burst {
  public:
    /// The number of calls of a burst before a tab takes rights out in advance.
    static constexpr int exact_takes = 16;

    /// Adds a call that has spent `n` rights.
    void add(std::int64_t n) {
        spent_ += n;
        ++calls_;
    }
    void end() { *this = {}; }

    /// Returns the number of calls that got their rights.
    [[nodiscard]] std::int64_t calls() const { return calls_; }
    /// Returns how many rights the tab takes out in advance of a budget of `limit`.
    [[nodiscard]] std::int64_t window(std::int64_t limit) const {
        return calls_ < exact_takes ? 0 : std::min(spent_ / 4, limit / 16);
    }

  private:
    std::int64_t spent_ = 0;
    std::int64_t calls_ = 0;
};

}  // namespace tabacus
