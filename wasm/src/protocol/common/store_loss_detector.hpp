// StoreLossDetector: notices that the database of a namespace was replaced by a new one.
//
// A browser or a user may delete a database; the one that replaces it is empty. The default counter
// finds this out by itself and recovers its rows (generation.hpp). The rows of everything else
// cannot be recovered, so the application must learn of the loss. An id in the database identifies
// it. localStorage and every tab remember the id.
//
// It promises: each tab that uses the database when it vanishes gets one store_lost, even if the
// tab makes no call afterwards.
//
// When the database vanishes, everything that depends on it is lost: locks, terms of leaders,
// claims on jobs, and reserved numbers and rights. In addition, after site data was cleared,
// Chromium gives new documents another lock manager than old ones, so that an old and a new
// document can both hold the same lock. A tab that notices the loss therefore gives up its locks
// and claims at once, and notifies the other tabs. It grants no lock until it has found out whether
// new documents share its lock manager.
//
//   state       meaning                             what ends the state
//   idle        the last check has ended            check(): checking
//   checking    reads the id, after pauses again    success, or failure after the last pause: idle;
//                                                   another id than this tab read before: lost
//   lost        probes the lock manager             the answer: idle
//   stopped     the tab is closed                   -
#pragma once

#include <memory>
#include <string>

#include "names.hpp"
#include "tabacus/common/counter.hpp"

namespace tabacus {

/// A part of the program whose locks or claims are lost with the database.
class StoreUser {
  public:
    StoreUser() = default;
    StoreUser(const StoreUser&) = delete;
    StoreUser& operator=(const StoreUser&) = delete;
    StoreUser(StoreUser&&) = delete;
    StoreUser& operator=(StoreUser&&) = delete;
    /// Notes that the database has vanished while this tab used it. Nothing may be granted until
    /// store_settled() is called.
    virtual void store_vanished() = 0;
    /// Ends store_vanished(). `shared`: whether new documents share the lock manager of this one.
    /// If they do not, this document may never grant a lock again.
    virtual void store_settled(bool shared) = 0;

  protected:
    ~StoreUser() = default;
};

/// The failure of every call that needs a lock, after store_settled(false).
inline Error cut_off_error() {
    return {ErrorCode::unavailable,
            "site data was cleared, and new tabs have another lock manager: reload the page"};
}

class StoreLossDetector {
  public:
    /// `world` and `user` must outlive it.
    StoreLossDetector(World& world, Names names, NoticeHandler on_notice, StoreUser* user = nullptr)
        : world_(world), names_(std::move(names)), on_notice_(std::move(on_notice)), user_(user) {}

    /// Begins to check which database this is: at once, after each event of the database, when
    /// another tab has noticed a loss, and when the page becomes visible or is resumed. Does
    /// nothing if there is no IndexedDB, or in a later call.
    void start();
    /// Ends the checks, because the tab is closed.
    void stop();
    /// Whether new documents have another lock manager than this one, as far as is known.
    [[nodiscard]] bool cut_off() const { return cut_off_; }

  private:
    void check();
    void listen();
    void on_lifecycle(LifecycleEvent event);
    Task<void> check_until_done();
    Task<void> compare();
    Task<void> settle(bool vanished);
    void notify(const std::string& found, const std::string& previous) const;

    World& world_;
    Names names_;
    NoticeHandler on_notice_;
    StoreUser* user_;
    bool started_ = false;
    bool stopped_ = false;
    bool checking_ = false;
    bool stale_ = false;
    bool cut_off_ = false;
    bool compared_ = false;  // known_ was read in the database by this tab
    std::string known_;
    std::unique_ptr<Channel> channel_;  // none while the page is in the back/forward cache
    Subscription events_;
    Subscription lifecycle_;
    Scope scope_;  // last, because its tasks use all of the above
};

}  // namespace tabacus
