// CounterNews: what this tab still has to announce of one counter, and what it has received of it.
//
//   own row       meaning                                  who may leave the state, and how
//   announced     there is nothing to announce             announce(): due
//                                                          on_commit(): committed
//   due           its totals are to be announced           take_due(): announced
//   committed     the store has totals that were           repeat(): due
//                 announced before; a moment later they
//                 are announced once more
//   due, and      both                                     take_due(): committed
//   committed                                              repeat(): due
//
//   others' rows  meaning                                  who may leave the state, and how
//   ignored       nobody in this tab follows the counter   follow(): followed
//   followed      their announcements are received         expect_confirmation(): unconfirmed
//   unconfirmed   followed, and an announcement is to be   take_unconfirmed(): followed
//                 checked against the store
//
// A counter without IndexedDB is followed from the start, since messages are all that is known of
// other tabs at once.
#pragma once

#include <utility>

namespace tabacus {

class CounterNews {
  public:
    explicit CounterNews(bool followed) : followed_(followed) {}

    void announce() { due_ = true; }
    [[nodiscard]] bool due() const { return due_; }
    bool take_due() { return std::exchange(due_, false); }
    void on_commit() { committed_ = true; }
    void repeat() {
        if (std::exchange(committed_, false)) due_ = true;
    }
    /// Returns true while there is something to announce, now or a moment later.
    [[nodiscard]] bool pending() const { return due_ || committed_; }

    /// Returns true in the first call, unless the counter was followed from the start.
    bool follow() { return !std::exchange(followed_, true); }
    [[nodiscard]] bool followed() const { return followed_; }
    void expect_confirmation() { unconfirmed_ = true; }
    bool take_unconfirmed() { return std::exchange(unconfirmed_, false); }

  private:
    bool due_ = false;
    bool committed_ = false;
    bool followed_;
    bool unconfirmed_ = false;
};

}  // namespace tabacus
