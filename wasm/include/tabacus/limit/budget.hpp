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
//    recorded in its row that it gives the right up, and has forgotten it. No tab needs another tab
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
// to the budget. The row of a tab that dies, or that gives its rights up and does not come back, is
// removed in the transaction of the first use by another tab.
//
// A budget has four parts in each tab: UsedRights, what all tabs have taken; Holding, the rights
// that the tab may spend and its row; Burst, which decides how many rights the tab takes out in
// advance; and Recall, which asks other tabs to put rights back. serve() does one thing at a time:
//
//   condition                                    what serve() does
//   the first call's rights are held             grant(): the call gets them
//   rights are wanted back, and some are held    put_back(): removes this tab's row
//   a call waits                                 take_out(): takes rights out, recalls those of
//                                                other tabs, or refuses the call
//   none of these                                ends; the burst ends after pause_ms
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tabacus/common/world.hpp"
#include "tabacus/limit/budget_owner.hpp"
#include "tabacus/limit/burst.hpp"
#include "tabacus/limit/holding.hpp"
#include "tabacus/limit/recall.hpp"
#include "tabacus/limit/used_rights.hpp"

namespace tabacus {

class Budget {
  public:
    /// The number of calls of a burst before a tab takes rights out in advance.
    static constexpr int exact_takes = Burst::exact_takes;
    /// The time without a call after which a burst has ended.
    static constexpr double pause_ms = 10;
    /// The longest time that a call waits for other tabs to put rights back.
    static constexpr double recall_ms = Recall::wait_ms;

    /// `key` is the key of the budget's row. `limit` is from 0 to value_max; all tabs must agree on
    /// it.
    Budget(BudgetOwner owner, std::string key, std::int64_t limit);

    /// `limit` is from 0 to value_max. If it falls, rights that were taken out stay taken out.
    void set_limit(std::int64_t limit) { used_.set_limit(limit); }

    /// Spends `n` rights and returns true if the tab holds that many and no earlier call waits.
    /// Otherwise returns false and changes nothing; take() then asks for the rights.
    bool take_now(std::int64_t n) {
        if (!waiters_.empty() || !holding_.spend(n)) return false;
        burst_.add(n);
        return true;
    }
    /// Spends `n` rights and returns true, or returns false if fewer than `n` are left. Waits up to
    /// recall_ms for other tabs to put rights back. Fails with closed, and as Transaction::commit()
    /// does. `n` is from 1 to value_max.
    Task<bool> take(std::int64_t n);
    /// Puts back `n` rights, whichever tab took them. Fails with out_of_range if fewer than `n`
    /// rights are taken, with unknown_commit if it is unknown whether they were put back, with
    /// closed, and as Transaction::commit() does.
    Task<void> give(std::int64_t n);
    /// Returns the number of rights that are free or held unspent by this tab, as last known.
    [[nodiscard]] std::int64_t available() const { return used_.available(holding_.left()); }
    /// Reads from the store how much is used, and puts back what tabs have given up. Fails as
    /// take() does.
    Task<void> refresh();
    /// Puts back all rights that this tab holds unspent. Does not fail.
    Task<void> settle();

    // Events of the tab.

    /// Notes that `tab` is alive, because it has sent a message.
    void note_alive(const std::string& tab) { recall_.note_alive(tab); }
    /// Puts back what this tab holds unspent, because another tab asks for rights.
    void recalled();
    /// Notes that another tab has announced that `used` rights are used.
    void changed(std::int64_t used);
    /// Gives up what this tab holds, without waiting for a read, because the page is frozen or
    /// left.
    void suspend();
    /// Forgets the rights that this tab holds, because the database has vanished, and records in
    /// the new one that all are used.
    void drop();
    /// Puts back what this tab holds unspent, because the page is back.
    void resume();

  private:
    struct Waiter {
        std::int64_t n = 0;
        Completer<bool> done;
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
    Task<void> commit(Transaction& transaction, std::int64_t used, Holding::Change change);
    Task<void> put_back();
    Task<Unit> put_back_once();
    Task<Unit> refresh_once();
    Task<void> restore();
    Task<void> close_window();
    void hand_back();
    Task<void> give_up();

    BudgetOwner owner_;
    std::string key_;
    UsedRights used_;
    /// Whether this tab has not used the budget yet. Its first use removes the rows that tabs have
    /// left behind.
    bool fresh_ = true;
    std::optional<std::set<std::string>> live_tabs_;  // at the first use, if they are known
    Holding holding_;
    Burst burst_;
    Recall recall_;
    std::list<Waiter> waiters_;
    bool serving_ = false;      // whether serve() runs
    bool closing_ = false;      // whether close_window() runs
    bool wanted_back_ = false;  // whether serve() is to put back all unspent rights
    std::vector<Completer<Unit>> settlers_;
    Scope scope_;  // last, because its tasks use all of the above
};

}  // namespace tabacus
