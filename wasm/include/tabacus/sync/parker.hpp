#pragma once

#include <atomic>
#include <cstdint>

#if defined(__linux__) && !defined(__EMSCRIPTEN__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#endif

// Parking: a thread sleeps on a word in memory for as long as the word keeps the value that it saw.
// The algorithms above this file never name a platform; each platform gives one `Parker`:
//
//   park(word, expected, timeout_ns)   sleeps if and only if word == expected, atomically with
//                                      respect to unpark; timeout_ns < 0 is for ever
//   unpark_one(word), unpark_all(word) wakes those asleep on it, the longest asleep first
//
// A parked thread takes a wake-up or times out, never both: a park that returns `timed_out` has not
// used up anybody's wake-up. The mutex depends on that sentence.

namespace tabacus::sync {

using Word = std::atomic<std::uint32_t>;

enum class Parked : std::uint32_t {
    notified = 0,   // somebody unparked us, or the platform woke us for no reason
    changed = 1,    // the word did not hold `expected`; we have not slept
    timed_out = 2,  // we have slept for the whole timeout and used up no wake-up
};

inline constexpr std::int64_t forever_ns = -1;

/// What a platform's parker has besides: the atomic cells themselves, and for how long to look at
/// one before sleeping. The laboratory's model of a platform has others.
struct PlatformCells {
    template <class T>
    using Atomic = std::atomic<T>;

    // A mutex whose holder runs is free again within well under a microsecond, while sleeping costs
    // two switches, tens of them: so watch the word for about as long as one switch takes. Each
    // look doubles the pause before the next, which leaves the cache line with the holder: a holder
    // that unlocks and locks again many times between two looks is what makes a contended mutex
    // fast. Measured by bench/threads.
    static constexpr std::uint32_t spin_pause_first = 4096;
    static constexpr std::uint32_t spin_pause_max = 16384;

    // A thread that is terminated asleep may take along a wake-up that the next one needed. So a
    // thread that waits for a mutex wakes up by itself that often and looks.
    static constexpr std::int64_t sleep_max_ns = 100'000'000;

    // About a tenth of a second: longer than any time slice that may have interrupted a holder.
    static constexpr std::uint32_t spin_rounds_max = 1U << 25;
};

#if defined(__wasm__)

// The instructions themselves. Emscripten's own futex would bring its runtime into modules that
// must have none, and libc++'s std::atomic::wait polls with back-off.
struct PlatformParker : PlatformCells {
    static Parked park(Word& word, std::uint32_t expected, std::int64_t timeout_ns) {
        return static_cast<Parked>(__builtin_wasm_memory_atomic_wait32(
            reinterpret_cast<int*>(&word), static_cast<int>(expected), timeout_ns));
    }
    static void unpark_one(Word& word) { notify(word, 1); }
    static void unpark_all(Word& word) { notify(word, UINT32_MAX); }

  private:
    static void notify(Word& word, std::uint32_t count) {
        __builtin_wasm_memory_atomic_notify(reinterpret_cast<int*>(&word), count);
    }
};

#else

// std::atomic::wait has no timeout, so Linux's futex itself.
struct PlatformParker : PlatformCells {
    static Parked park(Word& word, std::uint32_t expected, std::int64_t timeout_ns) {
        constexpr std::int64_t second_ns = 1'000'000'000;
        timespec timeout{.tv_sec = timeout_ns / second_ns, .tv_nsec = timeout_ns % second_ns};
        const auto slept = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected,
                                   timeout_ns < 0 ? nullptr : &timeout, nullptr, 0);
        if (slept == 0 || errno == EINTR) return Parked::notified;
        return errno == ETIMEDOUT ? Parked::timed_out : Parked::changed;
    }
    static void unpark_one(Word& word) { wake(word, 1); }
    static void unpark_all(Word& word) { wake(word, INT32_MAX); }

  private:
    static void wake(Word& word, int count) {
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
    }
};

#endif

}  // namespace tabacus::sync
