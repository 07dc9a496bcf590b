// The mutex of tabacus/sync/mutex.hpp with one fault in it, over modelled atomics.
#pragma once

#include "lab/threads/model.hpp"
#include "tabacus/sync/mutex.hpp"

namespace tabacus::test {

enum class MutexFault : std::uint8_t {
    none,
    takes_in_two_steps,  // checks that the word is free, then stores it
    unlock_never_wakes,
    unlock_in_two_steps,          // loads the word, then stores 0: a mark made between is lost
    wakes_before_release,         // the woken thread finds it held and sleeps for ever
    sleeps_unmarked,              // sleeps without marking the word
    sleeps_on_whatever_is_there,  // sleeps on the word's present value, not the one that it marked
    slept_takes_unmarked,         // a thread that has slept forgets that others may still sleep
    timeout_swallows_wake,  // gives up right after sleeping, and loses a wake-up that others need
    marks_free_word,        // marks a word that has become free, so that it seems held
    anybody_unlocks,
    marks_by_store,  // marks with a store, which overwrites an owner that came meanwhile
};

template <MutexFault fault>
class PlantedMutex {
  public:
    using Parker = lab::ModelParker;
    using Owner = sync::Owner;
    static constexpr std::uint32_t contended = 1;

    void lock(Owner self) {
        if (!take(self << 1)) lock_slow(self, sync::forever_ns);
    }
    /// Returns false if it timed out, which may happen at any moment.
    bool lock_timed(Owner self) { return take(self << 1) || lock_slow(self, 1); }

    void unlock(Owner self) {
        if (fault != MutexFault::anybody_unlocks && word_.load() >> 1 != self) return;
        if constexpr (fault == MutexFault::wakes_before_release) {
            if ((word_.load() & contended) != 0) Parker::unpark_one(word_);
            word_.store(0);
        } else if constexpr (fault == MutexFault::unlock_in_two_steps) {
            const auto word = word_.load();
            word_.store(0);
            if ((word & contended) != 0) Parker::unpark_one(word_);
        } else {
            std::uint32_t word = self << 1;
            if (word_.compare_exchange_strong(word, 0)) return;
            word_.store(0);
            if (fault != MutexFault::unlock_never_wakes) Parker::unpark_one(word_);
        }
    }

  private:
    bool take(std::uint32_t mine) {
        if constexpr (fault == MutexFault::takes_in_two_steps) {
            if (word_.load() != 0) return false;
            word_.store(mine);
            return true;
        }
        std::uint32_t expected = 0;
        return word_.compare_exchange_strong(expected, mine);
    }

    std::uint32_t mark() {
        auto word = word_.load();
        if constexpr (fault == MutexFault::sleeps_unmarked) return word;
        if constexpr (fault == MutexFault::marks_free_word) {
            return word_.fetch_or(contended) | contended;
        }
        if constexpr (fault == MutexFault::marks_by_store) {
            if (word != 0) word_.store(word |= contended);
            return word;
        }
        while (word != 0 && (word & contended) == 0) {
            if (word_.compare_exchange_weak(word, word | contended)) word |= contended;
        }
        return word;
    }

    bool lock_slow(Owner self, std::int64_t timeout_ns) {
        bool slept = false;
        for (;;) {
            const bool marked = slept && fault != MutexFault::slept_takes_unmarked;
            if (take(marked ? self << 1 | contended : self << 1)) return true;
            auto word = mark();
            if (word == 0) continue;
            if constexpr (fault == MutexFault::sleeps_on_whatever_is_there) word = word_.load();
            const auto parked = Parker::park(word_, word, timeout_ns);
            if (parked == sync::Parked::timed_out) return false;
            slept |= parked == sync::Parked::notified;
            // The deadline may have passed by the time the thread wakes.
            if (fault == MutexFault::timeout_swallows_wake && timeout_ns >= 0) return false;
        }
    }

    Parker::Word word_{0};
};

}  // namespace tabacus::test
