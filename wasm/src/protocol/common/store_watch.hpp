// StoreWatch: notices that the database of a namespace was replaced by a new one.
//
// A browser or a user may delete a database; the one that replaces it is empty. The default counter
// finds this out by itself and recovers its rows (generation.hpp). The rows of everything else
// cannot be recovered, so the application must learn of the loss. An id in the database identifies
// it. localStorage and every tab remember the id.
//
// It promises: each tab that uses the database when it vanishes gets one store_lost, even if the
// tab makes no call afterwards.
//
//   state       meaning                             what ends the state
//   idle        the last check has ended            check(): checking
//   checking    reads the id, after pauses again    success, or failure after the last pause: idle
//   stopped     the tab is closed                   -
#pragma once

#include <string>

#include "names.hpp"
#include "tabacus/common/counter.hpp"

namespace tabacus {

class StoreWatch {
  public:
    /// `world` must outlive it.
    StoreWatch(World& world, Names names, NoticeHandler on_notice)
        : world_(world), names_(std::move(names)), on_notice_(std::move(on_notice)) {}

    /// Begins to check which database this is: at once, after each event of the database, and when
    /// the page is shown or resumed. Does nothing if there is no IndexedDB, or in a later call.
    void start();
    /// Ends the checks, because the tab is closed.
    void stop();

  private:
    void check();
    Task<void> check_until_done();
    Task<void> compare();

    World& world_;
    Names names_;
    NoticeHandler on_notice_;
    bool started_ = false;
    bool stopped_ = false;
    bool checking_ = false;
    bool stale_ = false;
    std::string known_;
    Subscription events_;
    Subscription lifecycle_;
    Scope scope_;  // last, because its tasks use all of the above
};

}  // namespace tabacus
