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
/// but it need not be a value that the counter had at one moment. Overflow is refused exactly, at
/// the same totals as for the other kinds.
///
/// How a sum can be bounded that nobody computes: the total is base + all cells, and
///
///   open     every cell is within ±cell_most and the base within ±base_most. No sum of that leaves
///            ±(2^53−1), so an add to a cell need look at that cell only.
///   closed   every cell holds the mark `closed`, and the base is the whole total. Adds go
///            through the mutex, one by one, against the exact limit.
///
/// An add that would take its cell out of ±cell_most takes the mutex, empties the cells into the
/// base (leaving the mark), adds there, and opens the cells again if the base is within ±base_most.
/// So the counter is as good as an atomic one until the total is beyond 2^52, and a mutexed one
/// there.
class StripedCounter {
  public:
    /// Adds and does not look at the total: the fast way.
    Outcome bump(std::int64_t n, Caller caller, Limit limit = int64_limit) {
        std::atomic<std::int64_t>& cell = cells_[caller.id % cells_max].value;
        std::int64_t value = cell.load(std::memory_order_relaxed);
        while (value != closed) {
            const Added next = checked_add(value, n, {cell_most});
            if (next.outcome != Outcome::added) break;
            if (cell.compare_exchange_weak(value, next.value)) return Outcome::added;
        }
        return bump_slow(n, caller, limit);
    }

    /// Adds and sums: reading all cells costs what striping saves.
    Added add(std::int64_t n, Caller caller, Limit limit = int64_limit) {
        const Outcome outcome = bump(n, caller, limit);
        return {outcome, value()};
    }

    [[nodiscard, gnu::noinline]] std::int64_t value() const {
        for (std::uint32_t attempt = 0; attempt < sum_attempts_max; ++attempt) {
            const std::uint32_t before = moves_.load();
            const std::int64_t total = sum();
            if (before % 2 == 0 && moves_.load() == before) return total;
        }
        return sum();
    }

  private:
    // Sixteen: more threads than that are rare in a page, and each cell costs 128 bytes.
    static constexpr std::size_t cells_max = 16;

    // 16 × 2^47 = 2^51, and 2^51 + 2^52 < 2^53: the sum that `open` relies on.
    static constexpr std::int64_t cell_most = std::int64_t{1} << 47;
    static constexpr std::int64_t base_most = std::int64_t{1} << 52;
    static_assert(base_most + static_cast<std::int64_t>(cells_max) * cell_most < number_limit.most);

    // No cell holds it otherwise: cells stay within ±cell_most.
    static constexpr std::int64_t closed = INT64_MIN;

    // A sum is disturbed only by a closing, which is a few dozen instructions and rare. Whoever was
    // terminated in the middle of one must not hang the readers: after about a tenth of a second
    // they take what they find.
    static constexpr std::uint32_t sum_attempts_max = 1U << 21;

    struct alignas(line_bytes) Cell {
        std::atomic<std::int64_t> value{0};
    };

    [[nodiscard]] std::int64_t sum() const {
        std::int64_t total = base_.load();
        for (const Cell& cell : cells_) {
            const std::int64_t value = cell.value.load();
            if (value != closed)
                total = static_cast<std::int64_t>(static_cast<std::uint64_t>(total) +
                                                  static_cast<std::uint64_t>(value));
        }
        return total;
    }

    [[gnu::noinline]] Outcome bump_slow(std::int64_t n, Caller caller, Limit limit) {
        const Held held(mutex_, caller.id, caller.may_sleep);
        if (!held.acquired) return Outcome::would_block;
        moves_.fetch_add(1);
        const std::int64_t total = close_cells();
        const Added next = checked_add(total, n, limit);
        base_.store(next.value);
        if (Limit{base_most}.allows(next.value)) open_cells();
        moves_.fetch_add(1);
        return next.outcome;
    }

    /// Under the mutex: the total, which afterwards is nobody's but ours to change.
    std::int64_t close_cells() {
        std::int64_t total = base_.load();
        for (Cell& cell : cells_) {
            const std::int64_t value = cell.value.exchange(closed);
            if (value != closed) total += value;
        }
        return total;
    }

    void open_cells() {
        for (Cell& cell : cells_) cell.value.store(0);
    }

    Mutex mutex_;
    Word moves_{0};  // odd while cells are being closed
    std::atomic<std::int64_t> base_{0};
    std::array<Cell, cells_max> cells_{};
};

}  // namespace tabacus::sync
