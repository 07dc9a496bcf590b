// Sequence: numbers that are unique over all tabs and rise within each tab.
//
// It promises:
//  - UNIQUE: no number is given out twice, in any tab at any time. A transaction has recorded a
//    reservation on the disk before the first number of it is given out.
//  - INCREASING: within a tab, each number is larger than all numbers before it.
//  - GAPLESS, with that option: every number up to the newest one was given to some call of next()
//    or reserve(). The number need not have been used: a tab may die just after it was given a
//    number, and no other tab can know whether it was used. If the connection drops during a
//    commit, the tab cannot always find out the outcome; such a number is left out.
//
// A sequence that reserves blocks leaves out the numbers that a tab has not given out when it is
// closed or dies.
//
// If the database vanishes, the sequence begins anew above three numbers: the mark in localStorage,
// the largest number that this tab has seen, and the microseconds since 1970, which pass faster
// than tabs reserve numbers. A tab knows from the mark that the database vanished. Because a mark
// takes a while to reach other processes, a tab also knows it from the locks of live tabs that have
// used the sequence (LimitStore). After site data was cleared, a new tab may see neither: so every
// tab that notices the loss records it in the new database at once.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>

#include "tabacus/common/world.hpp"

namespace tabacus {

class LimitStore;

struct SequenceOptions {
    std::int64_t block = 1000;  // the number of numbers that are reserved at once, from 1
    bool gapless = false;       // reserves exactly what each call asks for, in its own transaction
};

/// The numbers from `first` to `last`, both included.
struct SequenceRange {
    std::int64_t first = 0;
    std::int64_t last = 0;
};

class Sequence {
  public:
    /// `world` and `store` must outlive this. `key` is the key of the sequence's row.
    Sequence(World& world, LimitStore& store, std::string key, SequenceOptions options)
        : world_(world), store_(store), key_(std::move(key)), options_(options) {}

    /// Returns the next number if the tab has reserved one and no earlier call waits. Otherwise
    /// returns 0; reserve(1) then returns it.
    std::int64_t next_now() {
        if (next_ > last_ || !waiters_.empty()) return 0;
        return next_++;
    }
    /// Returns `count` consecutive numbers, from 1 to value_max. Requires that `count` is from 1 to
    /// value_max. Fails with out_of_range if fewer numbers are left, with closed, and as
    /// Transaction::commit() does.
    Task<SequenceRange> reserve(std::int64_t count);
    /// Drops the reserved numbers, because the database that recorded them has vanished, and records
    /// in the new one which numbers are used.
    void drop();

  private:
    struct Waiter {
        std::int64_t count = 0;
        Completer<SequenceRange> done;
    };
    void add(Waiter waiter);
    Task<void> serve();
    void give();
    Task<SequenceRange> fetch(std::int64_t count);
    Task<SequenceRange> fetch_once(std::int64_t count);
    Task<std::int64_t> floor();

    World& world_;
    LimitStore& store_;
    std::string key_;
    SequenceOptions options_;
    std::int64_t next_ = 1;  // the next number of the reserved block
    std::int64_t last_ = 0;  // the last number of the reserved block
    int drops_ = 0;          // the calls of drop()
    std::int64_t seen_ = 0;  // the largest number that this tab knows to be reserved
    /// A commit with an unknown outcome.
    struct UnknownCommit {
        std::string grant;
        SequenceRange range;
    };
    std::optional<UnknownCommit> unknown_;
    std::list<Waiter> waiters_;
    bool serving_ = false;
    Scope scope_;  // last, because its tasks use all of the above
};

}  // namespace tabacus
