// Holding: the rights of a budget that this tab may spend, and the row in which the tab records
// them.
//
// The row never records fewer rights than the tab may spend: the tab writes the row before it may
// spend more rights, and spends rights without a write. No other tab writes the row. Another tab
// may remove it if it presumes this tab dead, or if the row gives its rights up.
//
//   state      the row          left()      what ends the state
//   none       none             0           add() and committed(): open
//   open       open             0 or more   add() and committed(): open, with a new serial
//                                           remove() and committed(): none
//                                           surrender(): given up
//                                           failed() with unknown_commit: unknown
//   given up   open or given    0           given(): none; may_give() stays true until the tab
//                                           overwrites the row
//                                           restore(): open
//   unknown    that of before   any         resolve(): open if the row is open, none otherwise
//              or after the
//              last commit
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "tabacus/common/world.hpp"

namespace tabacus {

class Holding {
  public:
    /// What a commit changes. `before` and `after` are the serials of the row before and after the
    /// commit; nothing if there is no row.
    struct Change {
        std::optional<std::int64_t> before;
        std::optional<std::int64_t> after;
        std::int64_t if_done = 0;  // the rights that this tab gains if it is committed
        std::int64_t if_not = 0;   // the rights that this tab gains if it is not
    };

    /// `key` is the key of the tab's row.
    explicit Holding(std::string key) : key_(std::move(key)) {}

    [[nodiscard]] const std::string& key() const { return key_; }
    /// Returns the number of rights that this tab may spend.
    [[nodiscard]] std::int64_t left() const { return left_; }
    /// Whether there is nothing to put back: neither rights nor a row.
    [[nodiscard]] bool empty() const { return left_ == 0 && !row_; }
    /// Whether the row may give rights up.
    [[nodiscard]] bool may_give() const { return may_give_; }
    /// Whether the outcome of a commit is unknown.
    [[nodiscard]] bool uncertain() const { return unknown_.has_value(); }
    /// Returns the number of rights that the row gives up; `stored` is the row as read.
    [[nodiscard]] static std::int64_t given_by(const std::optional<Row>& stored);

    /// Spends `n` rights and returns true, or returns false if the tab holds fewer.
    bool spend(std::int64_t n) {
        if (n > left_) return false;
        left_ -= n;
        return true;
    }

    // Each change is written into a transaction. After the commit, exactly one of committed() and
    // failed() is called with it.

    /// Records `amount` more rights. They may be spent once the change is committed.
    Change add(Transaction& transaction, std::int64_t amount);
    /// Removes the row. From this call on, the tab cannot spend the rights.
    Change remove(Transaction& transaction);
    /// Leaves the row as it is. committed() need not be called.
    [[nodiscard]] Change keep() const { return {row_, row_, 0, 0}; }
    void committed(const Change& change);
    /// Notes that the commit failed with `code`. If its outcome is unknown, resolve() finds out
    /// later.
    void failed(const Change& change, ErrorCode code);

    /// Forgets the rights and the row, because the database has vanished. The changes that are
    /// under way count as not made.
    void drop() {
        left_ = 0;
        row_.reset();
        unknown_.reset();
        may_give_ = false;
        dropped_ = serial_;
    }

    /// Finds out whether the commit with the unknown outcome happened; `stored` is the row as read
    /// since. Rights belong to this tab only if its own row proves it.
    void resolve(const std::optional<Row>& stored);

    // The following are for a page that is frozen or left.

    /// Forgets all rights and returns their number, for give().
    std::int64_t surrender();
    /// Records that the row gives up `amount` rights, which any tab may then put back.
    void give(Transaction& transaction, std::int64_t amount);
    /// Notes that the transaction of give() is committed.
    void given() { row_.reset(); }
    /// Notes that the transaction of give() has written nothing: the rights still belong to this
    /// tab.
    void restore(std::int64_t amount) { left_ += amount; }

  private:
    /// Whether a change was begun before the last drop().
    [[nodiscard]] bool is_dropped(const Change& change) const {
        const auto latest = std::max(change.before.value_or(0), change.after.value_or(0));
        return latest > 0 && latest <= dropped_;
    }

    std::string key_;
    std::int64_t left_ = 0;
    std::int64_t serial_ = 0;          // of the last write of the row
    std::int64_t dropped_ = 0;         // the serial at the last drop()
    std::optional<std::int64_t> row_;  // the serial of the open row, if there is one
    std::optional<Change> unknown_;
    bool may_give_ = false;
};

}  // namespace tabacus
