#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "tabacus/sync/arena.hpp"
#include "tabacus/threads/deadline.hpp"

namespace tabacus {

/// A counter over all threads and all tabs of the origin, for C++ threads. It is the counter
/// `tab.counter(name)` of JavaScript. An add goes to shared memory and never waits; the page gathers
/// what threads have added, about once in a frame, and commits it.
///
/// Any number of threads may share one object, which then use one cell of the counter. Threads with
/// objects of their own do not contend.
class TabCounter {
  public:
    // Functions that throw abort the program instead where exceptions are off.

    /// @param name 1 to 128 UTF-16 units
    /// @throws std::system_error invalid_argument if the name is empty or too long;
    ///   not_enough_memory if the arena is full
    TabCounter(sync::Arena& arena, std::u16string_view name)
        : arena_(arena), cells_(opened(arena, name)), index_(cells_.join()) {}

    /// Adds `n`. Requires that `n` is within ±(2^53−1).
    /// @throws std::system_error result_out_of_range if the value would leave ±(2^53−1); nothing is
    ///   added then
    void add(std::int64_t n = 1) {
        if (cells_.add(n, index_, arena_.tab_bell()) != sync::Outcome::added)
            fail(std::errc::result_out_of_range);
    }

    /// Returns the best-known value without waiting: the adds of all threads of this memory, and
    /// what the page knows of all tabs. It may lie outside ±(2^53−1).
    [[nodiscard]] std::int64_t value() const { return cells_.value(); }

    /// Blocks until all that the caller has added before is committed. Requires that the page's main
    /// thread runs, and does not wait for the caller.
    /// @throws std::system_error timed_out if the page has not answered within `timeout`; io_error
    ///   if it could not commit; not_enough_memory if the arena is full
    void flush(std::chrono::nanoseconds timeout = std::chrono::seconds(30)) {
        auto outcome = sync::Opened::found;
        auto* request =
            arena_.open_tab_request(arena_.take_id(), true, false, cells_.name(), outcome);
        if (request == nullptr) fail(std::errc::not_enough_memory);
        auto& bell = arena_.tab_bell();
        request->set_purpose(sync::TabPurpose::counter);
        request->ask(bell, sync::TabState::asked);
        const auto answer = request->answer(bell, wait_ns(timeout), steady_now_ns);
        request->close(bell);
        if (answer == sync::TabState::over) fail(std::errc::timed_out);
        if (answer != sync::TabState::granted) fail(std::errc::io_error);
    }

  private:
    static sync::TabCells& opened(sync::Arena& arena, std::u16string_view name) {
        if (name.empty() || name.size() > sync::TabCells::name_units_max)
            fail(std::errc::invalid_argument);
        auto outcome = sync::Opened::found;
        auto* cells = arena.open_tab_cells(arena.take_id(), true, name, outcome);
        if (cells == nullptr) fail(std::errc::not_enough_memory);
        return *cells;
    }

    [[noreturn]] static void fail(std::errc what) {
#ifdef __cpp_exceptions
        throw std::system_error(std::make_error_code(what), "tabacus::TabCounter");
#else
        static_cast<void>(what);
        std::abort();
#endif
    }

    sync::Arena& arena_;
    sync::TabCells& cells_;
    const std::uint32_t index_;
};

}  // namespace tabacus
