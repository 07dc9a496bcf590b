// Sequence: numbers that no two tabs get, and that rise in each.
//
// It promises:
//  - UNIQUE: a number is given out once, in any tab, for ever: what a transaction has reserved is
//    on the disk before the first of it is given out.
//  - INCREASING: within a tab every number is larger than those before it.
//  - GAPLESS, where asked for: every number up to the newest was given to some next() or reserve().
//    This does not mean that the number was used: a tab may die with a number that it was just
//    given, and no other tab can know whether it used it. Nor can a tab always find out the outcome
//    of a commit whose connection dropped: such a number is left out.
//
// In blocks the numbers that a tab has not given out when it closes or dies are left out.
//
// Should the database vanish, the row is begun anew above the mark in localStorage, above what this
// tab has seen and above the microseconds since 1970, which nobody reserves as fast as they pass.
// That it vanished is known from the mark, or from locks of those that live and have used it
// (LimitStore): a mark takes a while to reach other processes.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>

#include "tabacus/common/world.hpp"

namespace tabacus {

class LimitStore;

struct SequenceOptions {
    std::int64_t block = 1000;  // how many numbers are reserved at once, from 1
    bool gapless = false;       // a transaction for each
};

struct SequenceRange {
    std::int64_t first = 0;
    std::int64_t last = 0;
};

class Sequence {
  public:
    /// All must outlive it. `key`: of its row.
    Sequence(World& world, LimitStore& store, std::string key, SequenceOptions options)
        : world_(world), store_(store), key_(std::move(key)), options_(options) {}

    /// The next number, if the tab has one reserved; else 0, and reserve() gives it.
    std::int64_t next_now() {
        if (next_ > last_ || !waiters_.empty()) return 0;
        return next_++;
    }
    /// `count` numbers, one after another, from 1 to value_max. out_of_range: the sequence has come
    /// to its end; closed; as Transaction::commit().
    Task<SequenceRange> reserve(std::int64_t count);

  private:
    struct Waiter {
        std::int64_t count = 0;
        Completer<SequenceRange> done;
    };
    Task<void> serve();
    void give();
    Task<SequenceRange> fetch(std::int64_t count);
    Task<SequenceRange> fetch_once(std::int64_t count);
    Task<std::int64_t> floor();

    World& world_;
    LimitStore& store_;
    std::string key_;
    SequenceOptions options_;
    std::int64_t next_ = 1;  // of the block
    std::int64_t last_ = 0;
    std::int64_t seen_ = 0;  // the largest that this tab knows to be given out
    /// A commit of unknown outcome.
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
