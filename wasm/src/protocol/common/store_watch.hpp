// StoreWatch: notices that the database of a namespace is another one than before.
//
// A browser may throw a database away, and a user may; what is in the one that takes its place
// begins at nothing. The default counter finds out by itself, and heals (replica_recover.cpp); of
// everything else nothing can be brought back, and it must not be silent: an id in the database,
// remembered in localStorage and by every tab, says which database this is.
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

    /// Looks, and again whenever the connection was lost, the database made, or the page away.
    /// Nothing where there is no database.
    void start();
    /// Looks no more: the tab is closed.
    void stop();

  private:
    void look_again();
    Task<void> look();
    Task<void> compare();

    World& world_;
    Names names_;
    NoticeHandler on_notice_;
    bool started_ = false;
    bool stopped_ = false;
    bool looking_ = false;
    bool stale_ = false;
    std::string known_;
    Subscription events_;
    Subscription lifecycle_;
    Scope scope_;  // last: what runs in it uses all of the above
};

}  // namespace tabacus
