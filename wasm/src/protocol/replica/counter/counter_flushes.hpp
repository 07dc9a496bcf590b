// CounterFlushes: the flushes of one counter that wait for a commit.
//
// Increments are numbered in the order in which they are counted. A commit covers all increments up
// to a number, and a flush waits until all are covered that were counted before it.
//
//   state of a flush   who may leave the state, and how
//   waiting            confirm(): a commit covers all increments before the flush; it resolves
//                      fail(), fail_unknown(): it fails
//
//   outcome_unknown    meaning
//   false              every increment is committed, pending, or was reported by a failed flush
//   true               it cannot be known whether some increments are stored, and no flush has
//                      reported that yet: the next one fails (take_unknown())
#pragma once

#include <cstdint>
#include <list>
#include <utility>

#include "tabacus/common/task.hpp"

namespace tabacus {

class CounterFlushes {
  public:
    void count_increment() { ++counted_; }
    /// The number of the last increment.
    [[nodiscard]] std::uint64_t counted() const { return counted_; }

    [[nodiscard]] bool all_committed() const { return committed_through_ >= counted_; }
    [[nodiscard]] bool awaited() const { return !waiters_.empty(); }

    /// Returns an operation that completes once all increments counted so far are committed.
    Async<Unit> wait();
    /// Notes that all increments up to the number `through` are committed.
    void confirm(std::uint64_t through);
    /// Fails every flush that waits.
    void fail(const Error& error);

    /// Notes that it cannot be known any more whether some increments are stored, and another
    /// commit of them could count them twice. Fails every flush that waits; if none waits, the next
    /// one is to fail.
    void fail_unknown();
    /// Returns true if the flush that begins has to fail with unknown_outcome(). Returns true only
    /// once.
    bool take_unknown() { return std::exchange(outcome_unknown_, false); }
    static Error unknown_outcome();

  private:
    struct Waiter {
        std::uint64_t target = 0;
        Completer<Unit> done;
    };
    std::uint64_t counted_ = 0;
    std::uint64_t committed_through_ = 0;
    std::list<Waiter> waiters_;
    bool outcome_unknown_ = false;
};

}  // namespace tabacus
