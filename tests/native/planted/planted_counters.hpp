// The counters of tabacus/sync, and a semaphore, over modelled atomics, with one fault in each.
#pragma once

#include <array>

#include "lab/threads/model.hpp"
#include "tabacus/sync/checked.hpp"
#include "tabacus/sync/mutex.hpp"

namespace tabacus::test {

enum class CounterFault : std::uint8_t {
    none,
    in_two_steps,       // loads, then stores
    ignores_refusal,    // ignores that its compare-exchange failed
    guarded_fetch_add,  // checks with a margin for one other thread, then adds unconditionally
};

template <CounterFault fault>
class PlantedCounter {
  public:
    /// Adds 1. Returns false, and adds nothing, if the sum would exceed `most`.
    bool add(std::int64_t most) {
        auto value = value_.load();
        if constexpr (fault == CounterFault::guarded_fetch_add) {
            if (value + 2 > most) return false;
            value_.fetch_add(1);
            return true;
        }
        for (;;) {
            if (value + 1 > most) return false;
            if constexpr (fault == CounterFault::in_two_steps) {
                value_.store(value + 1);
                return true;
            }
            if (value_.compare_exchange_weak(value, value + 1)) return true;
            if constexpr (fault == CounterFault::ignores_refusal) return true;
        }
    }
    [[nodiscard]] std::int64_t peek() const { return value_.peek(); }

  private:
    lab::ModelAtomic<std::int64_t> value_{0};
};

enum class StripedFault : std::uint8_t {
    none,
    sums_before_closing,   // an add to a cell that was summed already is lost
    forgets_closed,        // an add goes into a closed cell
    empties_before_epoch,  // a reader finds the cells empty and the old base
    keeps_parity,          // emptied cells still belong to the epoch that has ended
    reads_once,            // a reader does not check whether the epoch has changed
};

/// A BasicStripedCounter with two cells, which closes them whenever fold() is called.
template <StripedFault fault>
class PlantedStripes {
  public:
    void bump(std::uint32_t self) {
        auto& cell = cells_[self % cells_.size()];
        auto word = cell.load();
        while (fault == StripedFault::forgets_closed || (word & closed) == 0) {
            if (cell.compare_exchange_weak(word, word + 4)) return;
        }
        fold(self, 1);
    }

    /// Closes the cells, adds their sum and `n` to the base, and opens them again.
    void fold(std::uint32_t self, std::int64_t n) {
        mutex_.lock(self);
        const auto epoch = epoch_.load();
        if constexpr (fault == StripedFault::sums_before_closing) {
            const auto total = sum(epoch) + n;
            close();
            bases_[(epoch + 1) % 2].store(total);
        } else {
            close();
            bases_[(epoch + 1) % 2].store(sum(epoch) + n);
        }
        const auto parity = fault == StripedFault::keeps_parity ? epoch % 2 : (epoch + 1) % 2;
        if constexpr (fault == StripedFault::empties_before_epoch) {
            empty(parity);
            epoch_.store(epoch + 1);
        } else {
            epoch_.store(epoch + 1);
            empty(parity);
        }
        mutex_.unlock(self);
    }

    [[nodiscard]] std::int64_t value() const {
        for (;;) {
            const auto epoch = epoch_.load();
            const auto total = sum(epoch);
            if (fault == StripedFault::reads_once || epoch_.load() == epoch) return total;
        }
    }

  private:
    static constexpr std::int64_t closed = 2;
    void close() {
        for (auto& cell : cells_) cell.fetch_or(closed);
    }
    void empty(std::uint32_t parity) {
        for (auto& cell : cells_) cell.store(parity);
    }
    [[nodiscard]] std::int64_t sum(std::uint32_t epoch) const {
        auto total = bases_[epoch % 2].load();
        for (const auto& cell : cells_) {
            const auto word = cell.load();
            if ((word & 1) == epoch % 2) total += word >> 2;
        }
        return total;
    }

    sync::BasicMutex<lab::ModelParker> mutex_;
    lab::ModelAtomic<std::uint32_t> epoch_{0};
    std::array<lab::ModelAtomic<std::int64_t>, 2> bases_;
    std::array<lab::ModelAtomic<std::int64_t>, 2> cells_;
};

enum class SemaphoreFault : std::uint8_t {
    none,
    wakes_only_from_zero,  // a second release wakes no thread if the first sleeper still sleeps
};

/// A semaphore whose count is the word on which its waiters sleep.
template <SemaphoreFault fault>
class PlantedSemaphore {
  public:
    void acquire() {
        for (;;) {
            auto count = count_.load();
            while (count > 0) {
                if (count_.compare_exchange_weak(count, count - 1)) return;
            }
            lab::ModelParker::park(count_, 0, sync::forever_ns);
        }
    }
    void release() {
        const auto before = count_.fetch_add(1);
        if (fault == SemaphoreFault::none || before == 0) lab::ModelParker::unpark_one(count_);
    }

  private:
    lab::ModelParker::Word count_{0};
};

}  // namespace tabacus::test
