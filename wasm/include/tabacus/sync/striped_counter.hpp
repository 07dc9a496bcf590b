#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tabacus/sync/checked.hpp"
#include "tabacus/sync/mutex.hpp"
#include "tabacus/sync/thread_id.hpp"

namespace tabacus::sync {

/// Two neighbouring lines of 64 bytes: processors fetch them in pairs, so cells closer than that
/// still disturb each other.
inline constexpr std::size_t line_bytes = 128;

/// A cell per few threads, summed when somebody reads. Adds of different threads do not meet.
///
/// Promises: no update is lost; the sum is exact as soon as no add is in flight; a sum read
/// meanwhile holds every add that ended before the read began and none that began after it ended,
/// but it need not be a value that the counter had at one moment. Reads never wait. Overflow is
/// refused exactly, at the same totals as for the other kinds.
///
/// How a sum can be bounded that nobody computes: the total is the base + all cells, and
///
///   open     every cell is within ±cell_most and the base within ±base_most. No sum of that leaves
///            ±(2^53−1), so an add to a cell need look at that cell only.
///   closed   every cell is marked closed and empty, and the base is the whole total. Adds go
///            through the mutex, one by one, against the exact limit.
///
/// An add that would take its cell out of ±cell_most takes the mutex, closes the cells, adds all of
/// them and itself to the base, and opens empty cells if the base is within ±base_most then. So the
/// counter is as good as an atomic one until the total is beyond 2^52, and a mutexed one there.
///
/// Readers see such a move at one moment, that of the epoch's store. A cell is three things in one
/// word:
///
///   value << 2 | closed << 1 | parity
///
/// and belongs to the epoch of its parity. Closing marks a cell and leaves its value to be read;
/// the new base goes where the new epoch will look for it; the epoch moves on, and with it all
/// cells of the old parity are part of the base; only then they are emptied, into the new parity.
///
/// Sixteen cells: more threads than that are rare in a page, and each cell costs 128 bytes.
template <class Parks = PlatformParker, std::size_t cells_max = 16>
class BasicStripedCounter {
  public:
    /// Adds and does not look at the total: the fast way.
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

    /// Adds and sums: reading all cells costs what striping saves.
    Added add(std::int64_t n, Caller caller, Limit limit = int64_limit) {
        const Outcome outcome = bump(n, caller, limit);
        return {outcome, value()};
    }

    [[nodiscard, gnu::noinline]] std::int64_t value() const {
        for (;;) {
            const std::uint32_t epoch = epoch_.load();
            const std::int64_t total = sum(epoch);
            if (epoch_.load() == epoch) return total;
        }
    }

  private:
    // 16 × 2^47 = 2^51, and 2^51 + 2^52 < 2^53: the sum that `open` relies on.
    static constexpr std::int64_t cell_most = std::int64_t{1} << 47;
    static constexpr std::int64_t base_most = std::int64_t{1} << 52;
    static_assert(base_most + static_cast<std::int64_t>(cells_max) * cell_most < number_limit.most);

    static constexpr std::int64_t closed_bit = 2;
    static constexpr std::int64_t parity_bit = 1;

    struct alignas(line_bytes) Cell {
        Parks::template Atomic<std::int64_t> word{0};
    };

    static constexpr std::int64_t value_in(std::int64_t word) { return word >> 2; }

    /// The value with the bits of `word`.
    static constexpr std::int64_t pack(std::int64_t value, std::int64_t word) {
        return value * 4 | (word & (closed_bit | parity_bit));
    }

    static constexpr std::int64_t parity_of(std::uint32_t epoch) { return epoch % 2; }

    /// The sum of the epoch. It means nothing if the epoch has moved on meanwhile; so it may wrap,
    /// and must not trap.
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
        for (Cell& cell : cells_) cell.word.fetch_or(closed_bit);
        // Nobody can add until we are done: what is summed here stays the total.
        const std::uint32_t epoch = epoch_.load();
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
