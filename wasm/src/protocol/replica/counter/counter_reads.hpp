// CounterReads: the reads of one counter's rows from the store, and what they found.
//
//   first read   meaning                                   who may leave the state, and how
//   due          the next turn begins it                   take_first(): begun
//   begun        it was begun; it may have succeeded       request_first(): due, because the read
//                                                          failed, or because the tab follows the
//                                                          counter from now on and may have missed
//                                                          announcements
//
//   reading      meaning                                   who may leave the state, and how
//   no           the store's rows are ignored              begin(): yes
//   yes          a read merges the counter's rows          end(): no
//
//   newer        whether the last read met a row that only a newer version can read
//   unreadable   whether any read ever met a row that cannot be read
//
// A read that ends in an epoch of the slot knows what the own row is based on in that epoch, unless
// this read or any other one has met a row that cannot be read. A row that cannot be read must be
// set aside before it is overwritten, so that the commit reads it again.
#pragma once

#include <cstdint>
#include <utility>

namespace tabacus {

class CounterReads {
  public:
    [[nodiscard]] bool first_due() const { return first_due_; }
    bool take_first() { return std::exchange(first_due_, false); }
    void request_first() { first_due_ = true; }

    void begin() {
        reading_ = true;
        newer_ = false;
    }
    void end() { reading_ = false; }
    [[nodiscard]] bool reading() const { return reading_; }

    /// Notes that a read has met a row that cannot be read, or that only a newer version can.
    void meet_unreadable(bool newer) {
        unreadable_ = true;
        newer_ = newer_ || newer;
    }
    [[nodiscard]] bool newer() const { return newer_; }
    [[nodiscard]] bool any_unreadable() const { return unreadable_; }

    /// Notes that all rows were read in this epoch of the slot, which is 0 if no slot is adopted.
    void complete(std::int64_t epoch) { epoch_ = epoch; }
    /// Whether the row cache knows what the slot's row held when the epoch began.
    [[nodiscard]] bool know_base(std::int64_t epoch) const {
        return !unreadable_ && epoch_ == epoch;
    }

  private:
    std::int64_t epoch_ = 0;
    bool first_due_ = true;
    bool reading_ = false;
    bool newer_ = false;
    bool unreadable_ = false;
};

}  // namespace tabacus
