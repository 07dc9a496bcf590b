// OwnRow: this tab's own row of one counter, as cumulative totals.
//
//   state     attempted                  committed             who may leave the state, and how
//   unbased   what this tab has added    nothing               a commit or an adoption that knows
//             and not committed                                what the stored row holds:
//                                                              set_base()
//   based     the base, and what this    what of that is       the end of the slot's epoch:
//             tab has added to it        known to be stored    end_epoch()
//
// The base is what the stored row held when the slot was adopted. A replica that shares its row
// with no other tab (there is no database) is based on nothing from the start, and stays so.
//
//   backed up   meaning                                      who may leave the state, and how
//   no          the backup does not have the row             back_up(), where there is room: yes
//   yes         the backup has the row, or has room for it   stored_base(), if the row of another
//                                                            epoch has no backup: no
#pragma once

#include "protocol/common/record.hpp"

namespace tabacus {

class OwnRow {
  public:
    explicit OwnRow(bool based) : based_(based) {}

    /// Adds `n`. Returns false, and changes nothing, if a total would exceed total_max.
    bool add(std::int64_t n) {
        auto& total = n < 0 ? attempted_.minus : attempted_.plus;
        const auto amount = n < 0 ? -n : n;
        if (amount > total_max - total) return false;
        total += amount;
        return true;
    }

    /// Continues the stored row, which holds `base`.
    void set_base(Totals base) {
        base_ = base;
        attempted_ = attempted_ + base;
        committed_ = base;
        based_ = true;
    }
    /// Notes that the store holds `totals` of this row.
    void confirm(Totals totals) { committed_ = larger(committed_, totals); }
    /// Removes increments that the store holds in another row.
    void remove(Totals increments) { attempted_ = attempted_ - increments; }
    /// Leaves what is committed in the stored row, which may have another owner from here on.
    void end_epoch() {
        attempted_ = attempted_ - committed_;
        committed_ = {};
        based_ = false;
    }

    void set_backed_up(bool backed_up) { backed_up_ = backed_up; }
    [[nodiscard]] bool backed_up() const { return backed_up_; }

    [[nodiscard]] Totals attempted() const { return attempted_; }
    [[nodiscard]] Totals committed() const { return committed_; }
    [[nodiscard]] Totals base() const { return base_; }
    [[nodiscard]] bool based() const { return based_; }
    /// What the store is not known to hold.
    [[nodiscard]] Totals pending() const { return attempted_ - committed_; }
    [[nodiscard]] bool dirty() const { return attempted_ != committed_; }
    /// What the row contributes to the counter's value.
    [[nodiscard]] std::int64_t value() const { return attempted_.plus - attempted_.minus; }

  private:
    Totals attempted_;
    Totals committed_;
    Totals base_;
    bool based_;
    bool backed_up_ = false;
};

}  // namespace tabacus
