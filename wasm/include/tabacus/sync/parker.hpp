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

// Parking: a thread sleeps on a word in memory as long as the word has the value that the thread
// saw. The algorithms that use it do not name a platform. Each platform provides a parker:
//
//   park(word, expected, timeout_ns)   sleeps if and only if word == expected, atomically with
//                                      respect to unpark; a timeout_ns below 0 means for ever
//   unpark_one(word)                   wakes the thread that has slept on the word for longest
//   unpark_all(word)                   wakes all threads that sleep on the word
//
// A parked thread either consumes a wake-up or times out, never both: a park that returns
// `timed_out` has consumed no wake-up. The mutex depends on this.

namespace tabacus::sync {

using Word = std::atomic<std::uint32_t>;

enum class Parked : std::uint32_t {
    notified = 0,   // the thread was unparked, or the platform woke it for no reason
    changed = 1,    // the word was not `expected`, so the thread has not slept
    timed_out = 2,  // the thread has slept for the whole timeout and consumed no wake-up
};

inline constexpr std::int64_t forever_ns = -1;

/// The other parts of a platform's parker: the type of atomic cells, and how long a thread watches
/// a cell before it sleeps. The laboratory's model has its own.
struct PlatformCells {
    template <class T>
    using Atomic = std::atomic<T>;

    // If the owner of a mutex is running, the mutex is free again within well under a microsecond.
    // Sleeping costs two context switches, which take tens of microseconds. So a thread watches the
    // word for about as long as one switch takes. Each look doubles the pause before the next one,
    // which leaves the cache line with the owner. A contended mutex is fast if its owner can unlock
    // and lock it many times between two looks. bench/threads measures it.
    static constexpr std::uint32_t spin_pause_first = 4096;
    static constexpr std::uint32_t spin_pause_max = 16384;

    // A thread that waits for a reader-writer lock or a semaphore enters no queue at first, because
    // what is released goes to the queue, and a queued thread that sleeps cannot use it for tens of
    // microseconds. In a round it looks watch_looks times, spin_pause_max apart, and then sleeps
    // for at most watch_max_ns. It enters the queue when it has slept for that long, or after
    // watch_rounds rounds, in each of which it was woken in vain.
    static constexpr std::uint32_t watch_looks = 4;
    static constexpr std::uint32_t watch_rounds = 8;
    static constexpr std::int64_t watch_max_ns = 1'000'000;

    // A thread to which something is handed over looks at once, and then after pauses that double up
    // to spin_pause_max.
    static constexpr std::uint32_t grant_pause_first = 32;

    // A thread that is terminated while it sleeps may have consumed a wake-up that the next thread
    // needed. So a thread that waits for a mutex wakes up after this time and tries again.
    static constexpr std::int64_t sleep_max_ns = 100'000'000;

    // These rounds take about a tenth of a second, longer than any time slice for which an owner
    // may be interrupted.
    static constexpr std::uint32_t spin_rounds_max = 1U << 25;
};

#if defined(__wasm__)

// This parker uses WebAssembly's instructions directly. Emscripten's futex would link its runtime
// into modules that must have none, and libc++'s std::atomic::wait polls with back-off.
struct PlatformParker : PlatformCells {
    // It is a function of its own, because in V8 11.3 (Node.js 20) the instruction may lose a local
    // variable of a function that is not optimised yet, for example the saved stack pointer. The
    // loop ends at once, because the instruction returns 0, 1 or 2. It is there for Binaryen, which
    // knows no `noinline`, and does not inline a function with a loop that several others call.
    [[gnu::noinline]] static Parked park(Word& word, std::uint32_t expected,
                                         std::int64_t timeout_ns) {
        std::uint32_t parked = 0;
        do {
            parked = static_cast<std::uint32_t>(__builtin_wasm_memory_atomic_wait32(
                reinterpret_cast<int*>(&word), static_cast<int>(expected), timeout_ns));
        } while (parked > static_cast<std::uint32_t>(Parked::timed_out));
        return static_cast<Parked>(parked);
    }
    static void unpark_one(Word& word) { notify(word, 1); }
    static void unpark_all(Word& word) { notify(word, UINT32_MAX); }

  private:
    static void notify(Word& word, std::uint32_t count) {
        __builtin_wasm_memory_atomic_notify(reinterpret_cast<int*>(&word), count);
    }
};

#else

// This parker uses Linux's futex directly, because std::atomic::wait has no timeout.
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
