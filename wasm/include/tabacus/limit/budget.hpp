// Budget: so much, over all tabs, and never more.
//
// A bounded counter with escrow (P. O'Neil, "The Escrow Transactional Method", ACM TODS 11(4),
// 1986; V. Balegas et al., "Extending Eventually Consistent Cloud Databases for Enforcing Numeric
// Invariants", SRDS 2015): a tab takes rights out of the budget in a transaction, and spends them
// without one.
//
// It promises:
//  - NEVER OVERSPENT: a right is taken out of the budget, on the disk, before it can be spent, and
//    is put back once and only by the tab that holds it unspent, or by anybody after that tab has
//    given it up in writing and forgotten it. So it does not matter which tab dies, freezes, thaws
//    or is taken for dead: no tab needs another one to spend, and none takes a live tab's rights.
//  - A right is refused only if it is spent, or held by a tab that does not answer.
//
// Which rights a dead tab had spent nobody can know but from what is on the disk. So a tab holds no
// more than it needs:
//  - the first `exact_takes` of a burst are taken out one by one, exactly as asked;
//  - then it takes out more beforehand, a quarter of what the burst has spent, and at most a
//    sixteenth of the budget and a quarter of what is free (the window);
//  - what is left of the window goes back when the burst has paused for `pause_ms`, when another
//    tab is short, and when the page is frozen, hidden or closed.
// A tab that dies within a burst takes its window with it; everything else comes back.
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

/// What a budget needs of the tab that it is in.
struct BudgetOwner {
    World& world;
    LimitStore& store;
    const std::string& tab;  // an identifier
    /// Resolves when the tab's liveness lock is held, where there are locks.
    Function<Task<void>()> hold_liveness;
    /// The tabs whose liveness locks are held; nothing where that cannot be known.
    Function<Task<std::optional<std::set<std::string>>>()> live_tabs;
    /// Notifies the other tabs.
    Function<void(bool recall, std::int64_t used)> broadcast;
};

class Budget {
  public:
    static constexpr int exact_takes = 16;
    static constexpr double pause_ms = 10;
    /// How long a tab that is short waits for those that hold rights, in all.
    static constexpr double recall_ms = 1000;

    /// `key`: of its row. `limit`: from 0 to value_max; an agreement of all who use the budget.
    Budget(BudgetOwner owner, std::string key, std::int64_t limit);

    void set_limit(std::int64_t limit) { limit_ = limit; }

    /// Spends them and returns true if the tab holds as many rights. Else take() asks for them.
    bool take_now(std::int64_t n) {
        if (n > left_ || !waiters_.empty()) return false;
        left_ -= n;
        spent_ += n;
        ++takes_;
        return true;
    }
    /// True: n rights are spent. False: there are not as many. closed; as Transaction::commit().
    Task<bool> take(std::int64_t n);
    /// Puts n rights back that were taken. out_of_range: there are not as many taken.
    /// unknown_commit: they may or may not have been put back.
    Task<void> give(std::int64_t n);
    /// What is free, as far as is known without waiting.
    [[nodiscard]] std::int64_t available() const;
    /// Reads from the store what is used, and puts back what tabs have given up.
    Task<void> refresh();
    /// Puts everything back that is held unspent.
    Task<void> settle();

    // Events of the tab.
    /// `tab` is alive: it has sent a message.
    void note_alive(const std::string& tab) { silent_.erase(tab); }
    void recalled();
    void changed(std::int64_t used);
    /// The page goes: gives up what is held, without waiting for anything.
    void suspend();
    void resume();

  private:
    struct Waiter {
        std::int64_t n = 0;
        Completer<bool> done;
    };
    /// A commit of unknown outcome: `before` and `after` are the serials of the own row, nothing
    /// for a row that is removed.
    struct UnknownCommit {
        std::optional<std::int64_t> before;
        std::optional<std::int64_t> after;
        std::int64_t if_done = 0;  // rights that this tab has besides, in either case
        std::int64_t if_not = 0;
    };
    struct Round {
        bool short_of = false;
        std::set<std::string> holders;  // short: whose rights would do
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
    std::int64_t left_ = 0;   // rights that this tab may spend
    std::int64_t spent_ = 0;  // in this burst
    std::int64_t takes_ = 0;  // in this burst
    std::int64_t serial_ = 0;
    std::int64_t used_ = 0;  // as last known
    std::optional<UnknownCommit> unknown_;
    std::optional<std::int64_t> row_;  // the serial of the own row, if there is one
    std::list<Waiter> waiters_;
    std::optional<double> short_since_ms_;
    std::set<std::string> silent_;  // holders that did not answer, and have sent nothing since
    bool serving_ = false;
    bool closing_ = false;
    bool wanted_back_ = false;
    bool given_up_ = false;  // the own row may record it
    bool worst_ = false;     // the row vanished, and the worst is to be written
    std::vector<Completer<Unit>> settlers_;
    Completer<Unit> wake_signal_;
    Scope scope_;  // last, because its tasks use all of the above
};

}  // namespace tabacus
