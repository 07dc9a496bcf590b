// UsedRights: how many rights of a budget all tabs have taken, as far as one tab knows.
//
//   state      vanished()   meaning                              what ends the state
//   known      false        the count was read, written or       read() finds no row where there
//                           received                             was one: vanished
//   vanished   true         the row is lost: all rights may      read() finds a row: known
//                           have been spent, and count as used
//   dropped    true         the database that had the row is     written() after a read(): known
//                           lost: a row that is found may be
//                           that of a tab which does not know
//                           that there was one. All rights
//                           count as used
//
// The count itself may be old: another tab may have taken rights since.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace tabacus {

class UsedRights {
  public:
    explicit UsedRights(std::int64_t limit) : limit_(limit) {}

    [[nodiscard]] std::int64_t limit() const { return limit_; }
    void set_limit(std::int64_t limit) { limit_ = limit; }
    [[nodiscard]] bool vanished() const { return vanished_; }

    /// Returns how many rights are used according to what a transaction has read. The count as last
    /// known stays until update().
    /// @param stored    The count in the row, if it was read.
    /// @param vanished  Whether there was a row, and it is lost.
    std::int64_t read(std::optional<std::int64_t> stored, bool vanished) {
        read_ = true;
        vanished_ = dropped_ || (!stored && vanished);
        return vanished_ ? limit_ : stored.value_or(0);
    }
    /// Notes that the database is lost which had the row.
    void drop() {
        dropped_ = true;
        read_ = false;
    }
    /// Notes that a transaction has committed `count`, which follows from what read() returned.
    void written(std::int64_t count) {
        update(count);
        if (read_) dropped_ = false;  // otherwise it may have been committed to the lost database
    }
    /// Notes that `count` rights are used from here on, as far as this tab knows.
    void update(std::int64_t count) { count_ = count; }
    /// Returns how many rights are free, or held unspent by this tab.
    /// @param unspent  How many this tab holds.
    [[nodiscard]] std::int64_t available(std::int64_t unspent) const {
        return std::clamp<std::int64_t>(limit_ - count_ + unspent, 0, limit_);
    }

  private:
    std::int64_t limit_;
    std::int64_t count_ = 0;
    bool vanished_ = false;
    bool dropped_ = false;
    bool read_ = false;  // whether read() was called since drop()
};

}  // namespace tabacus
