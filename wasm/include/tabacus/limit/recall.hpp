// Recall: how a tab gets rights of a budget that other tabs hold. It asks the holders to put them
// back, and waits for them up to `wait_ms`. Holders that do not answer are silent from then on, and
// are not waited for again until they send a message.
//
//   state    meaning                                  what ends the state
//   idle     no call waits for the rights of          may_help(), with holders: asking
//            other tabs
//   asking   holders are asked, every quarter of      end(), when the call gets or is refused its
//            wait_ms                                  rights: idle
//                                                     may_help(), after wait_ms: returns false, and
//                                                     the holders are silent
#pragma once

#include <optional>
#include <set>
#include <string>

#include "tabacus/common/world.hpp"
#include "tabacus/limit/budget_owner.hpp"

namespace tabacus {

class Recall {
  public:
    /// The longest time that a call waits for other tabs to put rights back.
    static constexpr double wait_ms = 1000;

    /// `owner` and `key`, the key of the budget's row, must outlive this.
    Recall(const BudgetOwner& owner, const std::string& key) : owner_(owner), key_(key) {}

    /// Notes that `tab` is alive, because it has sent a message.
    void note_alive(const std::string& tab) { silent_.erase(tab); }
    /// Whether `tab` did not answer, and has sent nothing since.
    [[nodiscard]] bool is_silent(const std::string& tab) const { return silent_.contains(tab); }

    /// Returns whether ask() may get the rights that the first call lacks. `holders` are tabs that
    /// together hold at least as many; it is empty if there are no such tabs.
    bool may_help(const std::set<std::string>& holders);
    /// Asks the holders to put their rights back, and waits for a quarter of wait_ms or until one
    /// has done so. Removes the rows of dead holders first.
    Task<void> ask(std::set<std::string> holders);
    /// Makes ask() return, because a tab has changed how much is used.
    void changed() { wake_signal_.complete({}); }
    /// Notes that the first call has its rights, or is refused.
    void end() { short_since_ms_.reset(); }

  private:
    Task<void> sweep(std::set<std::string> dead);

    const BudgetOwner& owner_;
    const std::string& key_;
    std::optional<double> short_since_ms_;
    std::set<std::string> silent_;
    Completer<Unit> wake_signal_;
    Scope scope_;  // last, because its tasks use all of the above
};

}  // namespace tabacus
