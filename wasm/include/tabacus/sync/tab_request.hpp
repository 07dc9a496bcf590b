#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "tabacus/sync/parker.hpp"

// How a thread that sleeps asks its page for a lock over tabs: only the page can ask the browser,
// and only the thread may block. A request is a piece of shared memory between one thread and the
// page, and its state says whose turn it is:
//
//   state     meaning                          who may leave the state, and how
//   free      nobody's                         any thread: takes it, and names the lock
//   idle      a thread's, asks for nothing     thread: asks, or frees it
//   asked     waits for the lock               page: grants or refuses; thread: gives up
//   trying    wants it if it is available      the same, and the page answers at once
//   granted   holds the lock                   thread: releases it; page: reports its loss
//   lost      held it                          thread: releases it
//   refused   `reason` says why                thread: asks, releases or frees it
//   over      given up or released             page: tidies up; thread: asks again
//   closed    the same, for good               page: frees it
//
// `token` and `reason` are the page's to write before it leaves `asked`, and the thread's to read
// after. The name is the thread's from `free` to its first question, and nobody's from then on
// until the page frees the request: so it can be read without a lock.
//
// Whatever a thread does that the page must see rings the bell after it is done. The page reads the
// bell, looks at every request, and sleeps on the bell as it was before: nothing can be missed.
// A page that ends marks the bell as ended, and then looks once more. It answers whatever was asked
// before; a thread that asks later refuses its own request.

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

/// What the page has for a request.
enum class TabHas : std::uint32_t { nothing = 0, waiting = 1, trying = 2, holding = 3 };

/// What the page must do about a request. `drop`: end what it has, and look again.
enum class TabTask : std::uint32_t { nothing = 0, wait = 1, attempt = 2, drop = 3 };

/// Rises with everything that the page must look at.
template <class Parks = PlatformParker>
class BasicTabBell {
  public:
    void ring() {
        rung_.fetch_add(1);
        Parks::unpark_all(rung_);
    }
    [[nodiscard]] std::uint32_t rung() const { return rung_.load(); }

    /// The page will look once more.
    void end() { ended_.store(1); }
    [[nodiscard]] bool ended() const { return ended_.load() != 0; }

    /// Sleeps until the bell rings after it had rung that often.
    void wait(std::uint32_t rung) { Parks::park(rung_, rung, forever_ns); }

  private:
    Parks::template Atomic<std::uint32_t> rung_{0};
    Parks::template Atomic<std::uint32_t> ended_{0};
};

/// JavaScript reads the fields at the given offsets.
template <class Parks = PlatformParker>
class BasicTabRequest {
  public:
    static constexpr std::size_t name_units_max = 128;
    /// A reason, by its index in js/threads/tab-lock/tab-request-layout.js.
    static constexpr std::uint32_t page_closed = 2;
    using Bell = BasicTabBell<Parks>;

    // A thread's side.

    /// Takes a free request for the lock of that name, of at most name_units_max. `agent` is the
    /// thread's id if the page learns when it exits, else 0.
    bool take(std::uint32_t agent, std::u16string_view name) {
        if (!move(TabState::free, TabState::idle)) return false;
        name_units_ = static_cast<std::uint32_t>(name.size());
        for (std::uint32_t i = 0; i < name_units_; ++i) name_[i] = name[i];
        agent_.store(agent);
        return true;
    }

    /// `how` is `asked` or `trying`. False, and no change, if it is asked or held already.
    bool ask(Bell& bell, TabState how) {
        const bool asked = leave_for(how, bell, [](TabState state) {
            return state == TabState::idle || state == TabState::refused || state == TabState::over;
        });
        if (asked && bell.ended()) refuse(page_closed);
        return asked;
    }

    /// Returns false, and changes nothing, if the page has answered.
    bool give_up(Bell& bell) {
        return leave_for(TabState::over, bell, [](TabState state) {
            return state == TabState::asked || state == TabState::trying;
        });
    }

    /// Ends the request or releases the lock, whichever it was. Returns the state before.
    TabState release(Bell& bell) {
        TabState was = state();
        leave_for(TabState::over, bell, [&was](TabState state) {
            was = state;
            return state == TabState::asked || state == TabState::trying ||
                   state == TabState::granted || state == TabState::lost;
        });
        return was;
    }

    /// Gives the request back.
    void close(Bell& bell) {
        leave_for(TabState::closed, bell, [](TabState state) {
            return state != TabState::free && state != TabState::closed;
        });
    }

    /// Sleeps until the page has answered, for at most timeout_ns (below 0: for ever) by `now_ns`,
    /// a clock that never goes back. Gives up at the end, and returns `over`.
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

    // The page's side.

    /// False if the thread has given up: then the page has the lock, and releases it.
    bool grant(std::int64_t token) {
        token_ = token;
        return answer_with(TabState::granted);
    }
    bool refuse(std::uint32_t reason) {
        reason_ = reason;
        return answer_with(TabState::refused);
    }
    /// False if the thread has released the lock already.
    bool lose() { return move(TabState::granted, TabState::lost); }

    /// What the page must do, which has `has` for the request. Frees or reuses a request that is
    /// over and for which the page has nothing.
    TabTask next_task(TabHas has) {
        const TabState now = state();
        switch (now) {
            case TabState::asked:
            case TabState::trying: {
                const bool tries = now == TabState::trying;
                if (has == TabHas::nothing) return tries ? TabTask::attempt : TabTask::wait;
                // What waits may be answered to the next question: it is for the same lock. What is
                // held was for the last one, which is over.
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

    /// Frees the request of a thread that has exited. The page must have nothing for it.
    bool report_exit(std::uint32_t agent) {
        if (agent_.load() != agent) return false;
        set_free();
        return true;
    }

    [[nodiscard]] TabState state() const { return static_cast<TabState>(state_.load()); }
    [[nodiscard]] std::int64_t token() const { return token_; }
    [[nodiscard]] std::uint32_t reason() const { return reason_; }
    [[nodiscard]] std::u16string_view name() const { return {name_.data(), name_units_}; }

    /// Offset of the next request in the arena. Written once, before the request can be found.
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

    /// Clears the owner first: the exit of its former thread must not free a request that another
    /// thread has taken since.
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
};

using TabBell = BasicTabBell<>;
using TabRequest = BasicTabRequest<>;
static_assert(std::is_standard_layout_v<TabRequest> && sizeof(TabRequest) == 288,
              "as js/threads/tab-lock assumes");

}  // namespace tabacus::sync
