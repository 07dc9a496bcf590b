// Budget: a limit on what all tabs together may spend.
//
// It is a bounded counter with escrow (P. O'Neil, "The Escrow Transactional Method", ACM TODS
// 11(4), 1986; V. Balegas et al., "Extending Eventually Consistent Cloud Databases for Enforcing
// Numeric Invariants", SRDS 2015). A tab takes rights out of the budget in a transaction, and
// spends them without one.
//
// It promises:
//  - NEVER OVERSPENT: a right is taken out of the budget, on the disk, before it can be spent. It
//    is put back at most once: by the tab that holds it unspent, or by any tab after the holder has
//    recorded in its row that it gives the right up, and has forgotten it. No tab needs another one
//    in order to spend, and no tab takes the rights of a live tab. The promise therefore holds
//    whichever tab dies, freezes, resumes or is presumed dead.
//  - A right is refused only if it is spent, or held by a tab that does not answer.
//
// Only the rows on the disk show which rights a dead tab may have spent, so all rights that it held
// count as spent. To lose few of them, a tab holds no more rights than it needs:
//  - For the first `exact_takes` calls of a burst, it takes out exactly what is asked for.
//  - After them, it takes out more in advance, which is called the window: a quarter of what the
//    burst has spent, but at most a sixteenth of the budget and a quarter of what is free.
//  - It puts back what is left of the window when no call has come for `pause_ms`, when another tab
//    needs rights, and when the page is frozen, left or closed.
// If a tab dies within a burst, the rights of its window are lost. All other unspent rights return
// to the budget.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tabacus/common/world.hpp"

namespace tabacus {

class LimitStore;

/// What a budget needs from its tab.
struct BudgetOwner {
    World& world;
    LimitStore& store;
    const std::string& tab;  // the tab's identifier
    /// Acquires the tab's liveness lock if the platform has locks.
    Function<Task<void>()> hold_liveness;
    /// Returns the tabs that hold a liveness lock; nothing without Web Locks.
    Function<Task<std::optional<std::set<std::string>>>()> live_tabs;
    /// Sends other tabs what is used of the budget, or with `recall` asks them to put rights back.
    Function<void(bool recall, std::int64_t used)> broadcast;
};

class Budget {
  public:
    /// The number of calls of a burst before a tab takes rights out in advance.
    static constexpr int exact_takes = 16;
    /// The time without a call after which a burst has ended.
    static constexpr double pause_ms = 10;
    /// The longest time that a call waits for other tabs to put rights back.
    static constexpr double recall_ms = 1000;

    /// `key` is the key of the budget's row. `limit` is from 0 to value_max; all tabs must agree on
    /// it.
    Budget(BudgetOwner owner, std::string key, std::int64_t limit);

    void set_limit(std::int64_t limit) { limit_ = limit; }

    /// Spends `n` rights and returns true if the tab holds that many and no earlier call waits.
    /// Otherwise returns false and changes nothing; take() then asks for the rights.
    bool take_now(std::int64_t n) {
        if (n > left_ || !waiters_.empty()) return false;
        left_ -= n;
        spent_ += n;
        ++takes_;
        return true;
    }
    /// Spends `n` rights and returns true, or returns false if the budget has not that many. Waits
    /// up to recall_ms for other tabs to put rights back. Fails with closed, and as
    /// Transaction::commit() does. `n` is from 1 to value_max.
    Task<bool> take(std::int64_t n);
    /// Puts back `n` rights that were taken, by any tab. Fails with out_of_range if fewer rights
    /// are taken, with unknown_commit if it is unknown whether they were put back, with closed, and
    /// as Transaction::commit() does.
    Task<void> give(std::int64_t n);
    /// Returns the number of rights that are free or held unspent by this tab, as last known.
    [[nodiscard]] std::int64_t available() const;
    /// Reads from the store how much is used, and puts back what tabs have given up. Fails as
    /// take() does.
    Task<void> refresh();
    /// Puts back all rights that this tab holds unspent. Does not fail.
    Task<void> settle();

    // Events of the tab.

    /// Notes that `tab` is alive, because it has sent a message.
    void note_alive(const std::string& tab) { silent_.erase(tab); }
    /// Another tab asks for rights: puts back what this tab holds unspent.
    void recalled();
    /// Another tab has announced that `used` rights are used.
    void changed(std::int64_t used);
    /// The page is frozen or left: gives up what this tab holds, without waiting for a read.
    void suspend();
    /// The page is back.
    void resume();

  private:
    struct Waiter {
        std::int64_t n = 0;
        Completer<bool> done;
    };
    /// A commit with an unknown outcome. `before` and `after` are the serials of this tab's row
    /// before and after the commit; nothing if there is no row.
    struct UnknownCommit {
        std::optional<std::int64_t> before;
        std::optional<std::int64_t> after;
        std::int64_t if_done = 0;  // the rights that this tab gains if it was committed
        std::int64_t if_not = 0;   // the rights that this tab gains if it was not
    };
    struct Round {
        bool short_of = false;          // whether there were too few free rights
        std::set<std::string> holders;  // short_of: tabs that hold enough rights together
    };
    void start();
    Task<void> serve();
    void grant();
    void refuse();
    Task<void> take_out();
    Task<Round> take_out_once();
    Task<std::int64_t> read_used(Transaction& transaction);
    Task<Round> collect(Transaction& transaction, std::int64_t& used);
    Task<void> resolve_unknown(Transaction& transaction);
    Task<void> commit(Transaction& transaction, std::int64_t used, UnknownCommit unknown);
    [[nodiscard]] std::int64_t window() const;
    Task<void> recall(Round round);
    Task<void> sweep(std::set<std::string> dead);
    Task<void> put_back();
    Task<Unit> put_back_once();
    Task<void> close_window();
    void schedule_close();
    void hand_back();
    Task<void> give_up(std::int64_t amount);
    [[nodiscard]] std::string own_key() const;

    BudgetOwner owner_;
    std::string key_;
    std::int64_t limit_;
    std::int64_t left_ = 0;    // the rights that this tab may spend
    std::int64_t spent_ = 0;   // the rights spent in this burst
    std::int64_t takes_ = 0;   // the calls of this burst that got their rights
    std::int64_t serial_ = 0;  // of the last write of this tab's row
    std::int64_t used_ = 0;    // how much all tabs have taken, as last known
    std::optional<UnknownCommit> unknown_;
    std::optional<std::int64_t> row_;  // the serial of this tab's row, if there is one
    std::list<Waiter> waiters_;
    std::optional<double> short_since_ms_;
    std::set<std::string> silent_;  // holders that did not answer, and have sent nothing since
    bool serving_ = false;
    bool closing_ = false;
    bool wanted_back_ = false;
    bool given_up_ = false;  // whether this tab's row may record rights that were given up
    bool worst_ = false;     // whether the row vanished, so that the whole budget counts as used
    std::vector<Completer<Unit>> settlers_;
    Completer<Unit> wake_signal_;
    Scope scope_;  // last, because its tasks use all of the above
};

}  // namespace tabacus
