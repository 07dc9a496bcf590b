// CoordinationCore: the cores of everything but replicated counters, that is, of strategies, locks,
// limits and queues. The first use of a core makes it. All cores share the World of the tab, one
// lock table and one StoreLossDetector. When the database has vanished, it makes the cores lose all
// holds, terms and reservations.
#pragma once

#include <optional>
#include <string>

#include "browser/core/catalogue_core.hpp"
#include "browser/core/limits_core.hpp"
#include "browser/core/locks_core.hpp"
#include "browser/core/queues_core.hpp"
#include "browser/core/tab_core.hpp"
#include "protocol/common/older_tabs.hpp"
#include "protocol/common/store_loss_detector.hpp"

namespace tabacus::browser {

class CoordinationCore final : private StoreUser {
  public:
    explicit CoordinationCore(TabCore& tab) : name_space_(tab.name_space()), world_(tab.world()) {
        scope_.spawn(report_older_tabs(world_, names_, notify));
    }

    CatalogueCore& catalogue() {
        if (!catalogue_) catalogue_.emplace(world_, name_space_, loss_detector_);
        return *catalogue_;
    }
    LocksCore& locks() {
        if (!locks_) locks_.emplace(world_, watched_table());
        return *locks_;
    }
    TransactionsCore& transactions() { return locks().transactions(); }
    LeaderCore& leader() { return locks().leader(); }
    LimitsCore& limits() {
        if (!limits_) {
            loss_detector_.start();
            limits_.emplace(world_, name_space_);
            lose_limits_ = [](Limits& limits) { limits.store_vanished(); };
            if (cut_off_) limits_->limits().cut_off();
        }
        return *limits_;
    }
    QueuesCore& queues() {
        if (!queues_) queues_.emplace(world_, name_space_, watched_table());
        return *queues_;
    }

    /// Loses every lock. Requests that wait for a lock fail with closed.
    void close() {
        loss_detector_.stop();
        if (table_) table_->close();
    }

  private:
    LockTable& watched_table() {
        loss_detector_.start();
        if (!table_) {
            table_.emplace(world_, name_space_, notify);
            if (cut_off_) {
                table_->store_settled(false);
            } else if (unsettled_) {
                table_->store_vanished();
            }
        }
        return *table_;
    }

    void store_vanished() override {
        unsettled_ = true;
        if (table_) table_->store_vanished();
        if (limits_) lose_limits_(limits_->limits());
    }
    void store_settled(bool shared) override {
        unsettled_ = false;
        cut_off_ |= !shared;
        if (table_) table_->store_settled(!cut_off_);
        if (limits_ && cut_off_) {
            lose_limits_(limits_->limits());  // for what was given before this tab noticed the loss
            limits_->limits().cut_off();
        }
    }

    std::string name_space_;
    Names names_{name_space_};
    BrowserWorld& world_;
    bool cut_off_ = false;
    bool unsettled_ = false;  // the database has vanished, and the lock manager is probed
    StoreLossDetector loss_detector_{world_, names_, notify, this};
    std::optional<LockTable> table_;
    std::optional<CatalogueCore> catalogue_;
    std::optional<LocksCore> locks_;
    std::optional<LimitsCore> limits_;
    /// What a loss does to the limits. It is called by pointer, so that the pieces of other cores need
    /// none of the limits' code.
    void (*lose_limits_)(Limits&) = nullptr;
    std::optional<QueuesCore> queues_;
    Scope scope_;  // last, because its task uses some of the above
};

}  // namespace tabacus::browser
