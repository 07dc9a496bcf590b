#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "tabacus/sync/parker.hpp"

// A request of a thread to its page, for a lock over tabs or about a counter over tabs. Only the
// page can ask the browser for a lock and commit what is counted, and only the thread may block. A
// request is shared memory between one thread and the page, and its state determines which of the
// two may act:
//
//   state     meaning                          transitions
//   free      no thread uses it                any thread: takes it, and names the lock
//   idle      a thread has it, without asking  thread: asks, or closes it
//   asked     the thread waits for the lock    page: grants or refuses; thread: gives up
//   trying    wants the lock if available      as `asked`, but the page answers at once
//   granted   the thread holds the lock        thread: releases it; page: reports its loss
//   lost      the thread lost the lock         thread: releases it
//   refused   `reason` gives the reason        thread: asks again, or closes it
//   over      given up or released             page: makes it idle; thread: asks again
//   closed    the thread is done with it       page: frees it
//
// The page writes `token` and `reason` before it leaves `asked`, and the thread reads them after.
// The thread writes the name before it first asks. From then on nothing writes the name until the
// page frees the request, so that it can be read without a lock.
//
// A request about a counter is the same with other answers: `asked` stands for a flush, `trying` for
// a read, and `granted` for an answer, whose value is in `token`.
//
// After each transition that the page must see, a thread rings the bell. The page reads the number
// of rings, looks at every request, and then sleeps on the number that it read, so that it misses
// nothing. A page that ends marks the bell as ended, and then looks at every request once more. It
// answers all requests that were made before; a thread that asks later refuses its own request.

namespace tabacus::sync {

enum class TabState : std::uint32_t {
    free = 0,
    idle = 1,
    asked = 2,
    trying = 3,
    granted = 4,
    lost = 5,
    refused = 6,
    over = 7,
    closed = 8,
};

/// What the page has at the browser for a request: nothing, a waiting request, a request with
/// `ifAvailable`, or the lock.
enum class TabHas : std::uint32_t { nothing = 0, waiting = 1, trying = 2, holding = 3 };

/// What the page must do for a request: request the lock and wait (`wait`), request it with
/// `ifAvailable` (`attempt`), or end what it has and look again (`drop`).
enum class TabTask : std::uint32_t { nothing = 0, wait = 1, attempt = 2, drop = 3 };

/// What a request is for.
enum class TabPurpose : std::uint32_t { lock = 0, counter = 1 };

/// A bell that threads ring when the page must look at their requests.
template <class Parks = PlatformParker>
class BasicTabBell {
  public:
    void ring() {
        rings_.fetch_add(1);
        Parks::unpark_all(rings_);
    }
    /// Returns the number of times that the bell was rung; it wraps around at 2^32.
    [[nodiscard]] std::uint32_t rings() const { return rings_.load(); }

    /// Marks the bell as ended. Requires that the page looks at all requests once more afterwards.
    void end() { ended_.store(1); }
    [[nodiscard]] bool ended() const { return ended_.load() != 0; }

    /// Sleeps until the number of rings is not `rings`.
    void wait(std::uint32_t rings) { Parks::park(rings_, rings, forever_ns); }

  private:
    Parks::template Atomic<std::uint32_t> rings_{0};
    Parks::template Atomic<std::uint32_t> ended_{0};
};

/// A request. JavaScript reads the fields at the given offsets.
template <class Parks = PlatformParker>
class BasicTabRequest {
  public:
    static constexpr std::size_t name_units_max = 128;
    /// The reason of a request that is made after the page has ended. It is the index of the reason
    /// in js/threads/tab-lock/tab-request-layout.js.
    static constexpr std::uint32_t page_closed = 2;
    using Bell = BasicTabBell<Parks>;

    // The functions of the thread.

    /// Takes the request for the lock of that name. Returns false if the request is not free.
    /// `agent` is the thread's id if the page learns when the thread exits, else 0. Requires that
    /// the name has at most name_units_max units.
    bool take(std::uint32_t agent, std::u16string_view name) {
        if (!move(TabState::free, TabState::idle)) return false;
        name_units_ = static_cast<std::uint32_t>(name.size());
        for (std::uint32_t i = 0; i < name_units_; ++i) name_[i] = name[i];
        purpose_ = TabPurpose::lock;
        agent_.store(agent);
        return true;
    }

    /// Changes what the request is for. Requires that the thread has taken it, and not asked yet.
    void set_purpose(TabPurpose purpose) { purpose_ = purpose; }

    /// Asks for the lock. `how` is `asked` or `trying`. Returns false, and changes nothing, if the
    /// request waits for the lock or holds it already.
    bool ask(Bell& bell, TabState how) {
        const bool asked = leave_for(how, bell, [](TabState state) {
            return state == TabState::idle || state == TabState::refused || state == TabState::over;
        });
        if (asked && bell.ended()) refuse(page_closed);
        return asked;
    }

    /// Stops waiting. Returns false, and changes nothing, if the page has answered.
    bool give_up(Bell& bell) {
        return leave_for(TabState::over, bell, [](TabState state) {
            return state == TabState::asked || state == TabState::trying;
        });
    }

    /// Stops waiting or releases the lock. Returns the state before the call.
    TabState release(Bell& bell) {
        TabState was = state();
        leave_for(TabState::over, bell, [&was](TabState state) {
            was = state;
            return state == TabState::asked || state == TabState::trying ||
                   state == TabState::granted || state == TabState::lost;
        });
        return was;
    }

    /// Ends the thread's use of the request. The page then frees it.
    void close(Bell& bell) {
        leave_for(TabState::closed, bell, [](TabState state) {
            return state != TabState::free && state != TabState::closed;
        });
    }

    /// Sleeps until the page has answered, and returns the state. After timeout_ns, gives up and
    /// returns `over`; a timeout_ns below 0 means to wait for ever. `now_ns()` is a monotonic clock
    /// in nanoseconds.
    template <class NowNs>
    TabState answer(Bell& bell, std::int64_t timeout_ns, NowNs now_ns) {
        const std::int64_t deadline_ns = timeout_ns < 0 ? 0 : now_ns() + timeout_ns;
        for (;;) {
            const TabState now = state();
            if (now != TabState::asked && now != TabState::trying) return now;
            std::int64_t rest_ns = forever_ns;
            if (timeout_ns >= 0) {
                rest_ns = deadline_ns - now_ns();
                if (rest_ns <= 0 && give_up(bell)) return TabState::over;
                if (rest_ns <= 0) continue;
            }
            Parks::park(state_, static_cast<std::uint32_t>(now), rest_ns);
        }
    }

    // The functions of the page.

    /// Grants the lock with a fencing token, or answers with a value. Returns false if the thread has
    /// given up; then the page must release the lock.
    bool grant(std::int64_t token) {
        token_ = token;
        return answer_with(TabState::granted);
    }
    /// Refuses the lock. Returns false if the thread has given up.
    bool refuse(std::uint32_t reason) {
        reason_ = reason;
        return answer_with(TabState::refused);
    }
    /// Reports that the lock was lost. Returns false if the thread has released it already.
    bool lose() { return move(TabState::granted, TabState::lost); }

    /// Returns what the page must do if it has `has` for the request. If the page has nothing for a
    /// request that is over or closed, makes the request idle or free.
    TabTask next_task(TabHas has) {
        const TabState now = state();
        switch (now) {
            case TabState::asked:
            case TabState::trying: {
                const bool tries = now == TabState::trying;
                if (has == TabHas::nothing) return tries ? TabTask::attempt : TabTask::wait;
                // A request that still waits at the browser can serve this question, because it is
                // for the same lock. A lock that the page holds was granted to the previous
                // question, which is over, so the page must release it.
                const bool same = has == (tries ? TabHas::trying : TabHas::waiting);
                return same ? TabTask::nothing : TabTask::drop;
            }
            case TabState::over:
            case TabState::closed:
                if (has != TabHas::nothing) return TabTask::drop;
                if (now == TabState::closed) {
                    set_free();
                } else {
                    move(TabState::over, TabState::idle);
                }
                return TabTask::nothing;
            default:
                return TabTask::nothing;
        }
    }

    /// Frees the request of a thread that has exited. Returns false if it is not that thread's.
    /// Requires that the page has nothing for the request.
    bool report_exit(std::uint32_t agent) {
        if (agent_.load() != agent) return false;
        set_free();
        return true;
    }

    [[nodiscard]] TabPurpose purpose() const { return purpose_; }
    [[nodiscard]] TabState state() const { return static_cast<TabState>(state_.load()); }
    [[nodiscard]] std::int64_t token() const { return token_; }
    [[nodiscard]] std::uint32_t reason() const { return reason_; }
    [[nodiscard]] std::u16string_view name() const { return {name_.data(), name_units_}; }

    /// Returns the offset of the next request in the arena. It is written once, by put_before(),
    /// before other threads can find the request.
    [[nodiscard]] std::uint32_t next() const { return next_; }
    void put_before(std::uint32_t next) { next_ = next; }

  private:
    bool move(TabState from, TabState to) {
        auto expected = static_cast<std::uint32_t>(from);
        return state_.compare_exchange_strong(expected, static_cast<std::uint32_t>(to));
    }

    template <class From>
    bool leave_for(TabState to, Bell& bell, From from) {
        for (;;) {
            const TabState was = state();
            if (!from(was)) return false;
            if (!move(was, to)) continue;
            bell.ring();
            return true;
        }
    }

    bool answer_with(TabState answer) {
        if (!move(TabState::asked, answer) && !move(TabState::trying, answer)) return false;
        Parks::unpark_all(state_);
        return true;
    }

    /// Frees the request. Clears `agent_` first, because the exit of the previous thread must not
    /// free a request that another thread has taken since.
    void set_free() {
        agent_.store(0);
        state_.store(static_cast<std::uint32_t>(TabState::free));
    }

    template <class T>
    using Cell = Parks::template Atomic<T>;

    Cell<std::uint32_t> state_{0};                 // 0
    Cell<std::uint32_t> agent_{0};                 // 4
    std::uint32_t next_ = 0;                       // 8
    std::uint32_t reason_ = 0;                     // 12
    std::int64_t token_ = 0;                       // 16
    std::uint32_t name_units_ = 0;                 // 24
    std::array<char16_t, name_units_max> name_{};  // 28
    TabPurpose purpose_ = TabPurpose::lock;        // 284
};

using TabBell = BasicTabBell<>;
using TabRequest = BasicTabRequest<>;
static_assert(std::is_standard_layout_v<TabRequest> && sizeof(TabRequest) == 288,
              "as js/threads/tab-lock assumes");

}  // namespace tabacus::sync
