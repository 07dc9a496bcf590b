// StoreWatch: notices that the database in which the catalogue counts is another one than before.
//
// A browser may throw a database away, and a user may; counters in the one that takes its place
// begin at zero. The default counter finds out by itself, and heals (replica_heal.cpp); the
// catalogue cannot heal, since nothing of it is mirrored, and must not be silent: an id in the
// database, remembered in localStorage and by every tab, says which database this is.
#pragma once

#include <string>

#include "names.hpp"
#include "tabacus/counter.hpp"

namespace tabacus {

class StoreWatch {
  public:
    /// All must outlive it.
    StoreWatch(World& world, const Names& names, const NoticeHandler& on_notice)
        : world_(world), names_(names), on_notice_(on_notice) {}

    /// Looks, and again whenever the connection was lost or the database made.
    void start();
    /// Looks again, where it was started: the page was away.
    void look_again();

  private:
    Task<void> look();
    Task<void> compare();

    World& world_;
    const Names& names_;
    const NoticeHandler& on_notice_;
    bool started_ = false;
    bool looking_ = false;
    bool stale_ = false;
    std::string known_;
    Subscription events_;
    Scope scope_;  // last: what runs in it uses all of the above
};

}  // namespace tabacus
