// StoreWatch: notices that the database of a namespace is another one than before.
//
// A browser may delete a database, and a user may; what is in the one that replaces it begins at
// nothing. The default counter finds out by itself, and recovers (generation.hpp); of
// everything else nothing can be brought back, and it must not be silent: an id in the database,
// remembered in localStorage and by every tab, tells which database this is.
//
// It promises, to every tab that uses the database when it vanishes, one store_lost, whether or not
// the tab asks for anything afterwards.
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

    /// Checks which database this is, now and whenever the connection was lost, the database made,
    /// or the page away. Does nothing where there is no database.
    void start();
    /// Ends the checks: the tab is closed.
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
    Scope scope_;  // last: what runs in it uses all of the above
};

}  // namespace tabacus
