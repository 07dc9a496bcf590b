#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tabacus/sync/checked.hpp"
#include "tabacus/sync/mutex.hpp"
#include "tabacus/sync/thread_id.hpp"

namespace tabacus::sync {

/// The size of two neighbouring cache lines of 64 bytes. Processors fetch lines in pairs, so that
/// writes to cells that are closer than this slow each other down.
inline constexpr std::size_t line_bytes = 128;

/// A counter with a cell for every few threads, which a reader sums. Threads that add to different
/// cells do not contend.
///
/// Promises: no update is lost. The sum is exact when no add is in progress. A sum that is read
/// during adds includes every add that ended before the read began, and no add that began after the
/// read ended; it need not be a value that the counter had at one moment. Reads never wait for a
/// lock. An add beyond the limit is refused exactly at the same totals as by other counters.
///
/// The total is the base and all cells. An add checks the limit without computing the total,
/// because the counter is in one of two states:
///
///   open     Every cell is within ±cell_most and the base is within ±base_most. Their sum cannot
///            leave ±(2^53−1), so an add checks its own cell only.
///   closed   Every cell is marked as closed and is empty, and the base is the whole total. Adds
///            take the mutex, one by one, and check the exact limit.
///
/// An add that would take its cell out of ±cell_most takes the mutex, closes all cells, and adds
/// their values and its own to the base. If the base is then within ±base_most, it opens the cells,
/// which are empty. So the counter behaves like an atomic one while the total is within ±2^52, and
/// like a mutexed one beyond that.
///
/// Readers see such a transfer at one moment, when the epoch is stored. A cell holds three things
/// in one word and belongs to the epochs of its parity:
///
///   value << 2 | closed << 1 | parity
///
///   1. Closing marks a cell, and leaves its value to be read.
///   2. The new base is stored where readers of the new epoch read it.
///   3. The epoch is stored. From here on, the values of all cells with the old parity count as
///      part of the base.
///   4. The cells are emptied, and get the new parity.
///
/// If a thread dies in between, the next transfer completes this one: before it begins, it empties
/// the cells that still have the old parity. They are closed, so that no other thread has changed
/// them, and an add that meets one of them begins a transfer.
///
/// There are sixteen cells, because more threads are rare in a page and each cell takes 128 bytes.
template <class Parks = PlatformParker, std::size_t cells_max = 16>
class BasicStripedCounter {
  public:
    /// Adds `n`, without returning the total: the fast way. Changes nothing if it returns
    /// out_of_range, or would_block because the mutex is held and the caller may not sleep.
    /// Requires that the limit is at least number_limit.
    Outcome bump(std::int64_t n, Caller caller, Limit limit = int64_limit) {
        auto& cell = cells_[caller.id % cells_max].word;
        std::int64_t word = cell.load(std::memory_order_relaxed);
        while ((word & closed_bit) == 0) {
            const Added next = checked_add(value_in(word), n, {cell_most});
            if (next.outcome != Outcome::added) break;
            if (cell.compare_exchange_weak(word, pack(next.value, word))) return Outcome::added;
        }
        return bump_slow(n, caller, limit);
    }

    /// Adds as bump() does, and returns the sum. Reading all cells costs as much as the separate
    /// cells save.
    Added add(std::int64_t n, Caller caller, Limit limit = int64_limit) {
        const Outcome outcome = bump(n, caller, limit);
        return {outcome, value()};
    }

    /// Returns the sum of all cells.
    [[nodiscard, gnu::noinline]] std::int64_t value() const {
        for (;;) {
            const std::uint32_t epoch = epoch_.load();
            const std::int64_t total = sum(epoch);
            if (epoch_.load() == epoch) return total;
        }
    }

    /// Notes that a thread has died. The next transfer completes the one that it has begun.
    void owner_died(Owner dead) { mutex_.owner_died(dead); }

  private:
    // The state `open` relies on this: 16 × 2^47 = 2^51, and 2^51 + 2^52 < 2^53.
    static constexpr std::int64_t cell_most = std::int64_t{1} << 47;
    static constexpr std::int64_t base_most = std::int64_t{1} << 52;
    static_assert(base_most + static_cast<std::int64_t>(cells_max) * cell_most < number_limit.most);

    static constexpr std::int64_t closed_bit = 2;
    static constexpr std::int64_t parity_bit = 1;

    struct alignas(line_bytes) Cell {
        Parks::template Atomic<std::int64_t> word{0};
    };

    static constexpr std::int64_t value_in(std::int64_t word) { return word >> 2; }

    /// Returns the word of a cell with that value and with the two bits of `word`.
    static constexpr std::int64_t pack(std::int64_t value, std::int64_t word) {
        return value * 4 | (word & (closed_bit | parity_bit));
    }

    static constexpr std::int64_t parity_of(std::uint32_t epoch) { return epoch % 2; }

    /// Returns the sum of an epoch. If the epoch has ended meanwhile, the sum has no meaning and
    /// may wrap around, but must not trap.
    [[nodiscard]] std::int64_t sum(std::uint32_t epoch) const {
        auto total = static_cast<std::uint64_t>(bases_[epoch % 2].load());
        for (const Cell& cell : cells_) {
            const std::int64_t word = cell.word.load();
            if ((word & parity_bit) != parity_of(epoch)) continue;
            total += static_cast<std::uint64_t>(value_in(word));
        }
        return static_cast<std::int64_t>(total);
    }

    [[gnu::noinline]] Outcome bump_slow(std::int64_t n, Caller caller, Limit limit) {
        const Held held(mutex_, caller.id, caller.may_sleep);
        if (!held.acquired) return Outcome::would_block;
        const std::uint32_t epoch = epoch_.load();
        for (Cell& cell : cells_) {
            const bool counted = (cell.word.fetch_or(closed_bit) & parity_bit) != parity_of(epoch);
            if (counted) cell.word.store(closed_bit | parity_of(epoch));
        }
        // No thread can add to a closed cell, so this sum stays the total.
        const Added next = checked_add(sum(epoch), n, limit);
        bases_[(epoch + 1) % 2].store(next.value);
        epoch_.store(epoch + 1);
        empty_cells(parity_of(epoch + 1) | (Limit{base_most}.allows(next.value) ? 0 : closed_bit));
        return next.outcome;
    }

    void empty_cells(std::int64_t word) {
        for (Cell& cell : cells_) cell.word.store(word);
    }

    BasicMutex<Parks> mutex_;
    Parks::template Atomic<std::uint32_t> epoch_{0};
    std::array<typename Parks::template Atomic<std::int64_t>, 2> bases_{};
    std::array<Cell, cells_max> cells_{};
};

using StripedCounter = BasicStripedCounter<>;

}  // namespace tabacus::sync
