#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "tabacus/sync/checked.hpp"
#include "tabacus/sync/striped_counter.hpp"
#include "tabacus/sync/tab_request.hpp"

// The cells of a counter over tabs, in memory that threads share with their page. Only the page can
// commit what is counted, and a thread must not wait for the page when it adds. So threads add to
// cells, and the page gathers what the cells hold beyond what it has taken before
// (tabacus/replica/gatherer.hpp).
//
//   total known to a thread = base + sum of all cells
//   base                    = total known to the page − what the page has taken from the cells
//
// The page publishes the base. A gather raises the page's total and what was taken by the same
// amount, so that it leaves the base unchanged, and threads see no total in between.
//
// Promises: an add whose call has returned is in its cell, even if the thread is terminated right
// after it, and a thread that is terminated inside an add has added all of it or nothing. No thread
// ever waits for another. Cells are never reset, and only the page takes from them, so that nothing
// is taken twice.
//
// A thread rings the page's bell with the first add after a gather has begun:
//
//   gathers   the number of the next gather; the page raises it before it reads the cells
//   rung_for  the gather for which a thread has rung; if it is another one, an add rings the bell,
//             and stores the number afterwards
//
// An add that does not ring has found both equal. Then a thread rang after the last gather had
// begun, so that another one follows, which reads the cells after this add. A thread that is
// terminated before it has stored the number leaves the two different, and the next add rings
// again.

namespace tabacus::sync {

/// The cells of one counter. JavaScript reads the fields at the given offsets.
template <class Parks = PlatformParker, std::size_t cells_max = 16>
class BasicTabCells {
  public:
    static constexpr std::size_t name_units_max = 128;
    using Bell = BasicTabBell<Parks>;

    // The functions of a thread.

    /// Returns the index of a cell for a thread that begins to use the counter.
    std::uint32_t join() { return joined_.fetch_add(1) % cells_max; }

    /// Adds `n` to the cell of that index, and rings the bell if the page must gather. Returns
    /// out_of_range, and adds nothing, if the total known to the thread would leave ±(2^53−1).
    /// Requires that `n` is within ±(2^53−1). As with tabs, two adds at once may leave that range
    /// together.
    Outcome add(std::int64_t n, std::uint32_t index, Bell& bell) {
        auto& sum = cells_[index].sum;
        // If the cells and the base are small, no sum of them can leave the range.
        const bool small =
            Limit{cell_most}.allows(sum.load() + n) && Limit{base_most}.allows(base_.load());
        if (!small && !number_limit.allows(value() + n)) return Outcome::out_of_range;
        sum.fetch_add(n);
        const std::uint32_t gather = gathers_.load();
        if (rung_for_.load() != gather) {
            bell.ring();
            rung_for_.store(gather);
        }
        return Outcome::added;
    }

    /// Returns the total known to the thread: what the page has published, and all adds that have
    /// returned.
    [[nodiscard]] std::int64_t value() const { return base_.load() + sum(); }

    // The functions of the page.

    /// Begins a gather. Returns what the cells hold beyond what was taken, and at most ±(2^53−1) of
    /// it. Every add that ends later rings the bell, or is preceded by an add that did.
    std::int64_t begin_gather() {
        gathers_.fetch_add(1);
        return std::clamp(sum() - taken_, -number_limit.most, number_limit.most);
    }

    /// Records that the page has counted `n` of what begin_gather() returned.
    void take(std::int64_t n) {
        if (n == 0) return;
        taken_ += n;
        notify();
    }

    /// Publishes the total that the page knows, which includes all that was taken.
    void publish(std::int64_t total) {
        const std::int64_t base = total - taken_;
        if (base == base_.load()) return;
        base_.store(base);
        notify();
    }

    [[nodiscard]] std::u16string_view name() const { return {name_.data(), name_units_}; }
    /// Sets the name, and the offset of the next counter in the arena. Requires that no other
    /// thread can find the counter yet, and that the name has at most name_units_max units.
    void put(std::u16string_view name, std::uint32_t next) {
        next_ = next;
        name_units_ = static_cast<std::uint32_t>(name.size());
        for (std::uint32_t i = 0; i < name_units_; ++i) name_[i] = name[i];
    }
    [[nodiscard]] std::uint32_t next() const { return next_; }

  private:
    // 16 × 2^47 = 2^51, and 2^51 + 2^52 < 2^53.
    static constexpr std::int64_t cell_most = std::int64_t{1} << 47;
    static constexpr std::int64_t base_most = std::int64_t{1} << 52;
    static_assert(base_most + static_cast<std::int64_t>(cells_max) * cell_most < number_limit.most);

    template <class T>
    using Atomic = Parks::template Atomic<T>;

    struct alignas(line_bytes) Cell {
        Atomic<std::int64_t> sum{0};
    };

    /// Returns the sum of the cells that threads use.
    [[nodiscard, gnu::noinline]] std::int64_t sum() const {
        const auto used = std::min<std::size_t>(joined_.load(), cells_max);
        std::int64_t total = 0;
        for (std::size_t i = 0; i < used; ++i) total += cells_[i].sum.load();
        return total;
    }

    [[gnu::noinline]] void notify() {
        changes_.fetch_add(1);
        Parks::unpark_all(changes_);
    }

    Atomic<std::uint32_t> changes_{0};             // 0   rises when subscribers must look
    std::uint32_t name_units_ = 0;                 // 4
    std::array<char16_t, name_units_max> name_{};  // 8
    std::uint32_t next_ = 0;
    std::int64_t taken_ = 0;  // only the page uses it

    // What every add reads, on lines that are rarely written.
    alignas(line_bytes) Atomic<std::int64_t> base_{0};
    Atomic<std::uint32_t> gathers_{1};
    Atomic<std::uint32_t> rung_for_{0};
    Atomic<std::uint32_t> joined_{0};

    std::array<Cell, cells_max> cells_{};
};

using TabCells = BasicTabCells<>;
static_assert(std::is_standard_layout_v<TabCells>, "as js/threads/tab-counter assumes");

}  // namespace tabacus::sync
