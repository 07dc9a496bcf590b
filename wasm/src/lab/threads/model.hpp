// Modelled threads: a program over shared memory. Every operation on an atomic cell is a step that
// the explorer schedules.
//
// The explored primitives are those of wasm/include/tabacus/sync, in the source that runs in
// production, with `ModelParker` in place of PlatformParker. Atomics of WebAssembly and JavaScript
// are sequentially consistent. Interleavings are therefore all possible behaviours of a program
// without data races; ThreadSanitizer checks that there are none.
//
// The model runs in native programs only, because each thread has a stack of its own (POSIX
// ucontext), and WebAssembly has only one stack.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lab/explore/run.hpp"
#include "tabacus/sync/parker.hpp"

namespace tabacus::lab {

/// The shared objects of one run, what each thread does with them, and the checks. Requires that a
/// thread owns no heap memory while it calls an operation of a cell, because the run may end there.
class ThreadsWorkload {
  public:
    ThreadsWorkload() = default;
    ThreadsWorkload(const ThreadsWorkload&) = delete;
    ThreadsWorkload& operator=(const ThreadsWorkload&) = delete;
    ThreadsWorkload(ThreadsWorkload&&) = delete;
    ThreadsWorkload& operator=(ThreadsWorkload&&) = delete;
    virtual ~ThreadsWorkload() = default;
    /// Runs thread `index`, counted from 0.
    virtual void run(std::uint32_t index) = 0;
    /// Returns a failure, or an empty text. Called once every thread has ended.
    virtual std::string judge() { return {}; }
    /// Whether thread `index` may die: before any of its operations, or in its sleep. When it has
    /// died, one more thread begins, whose index is the number of threads, to report the death. A
    /// death is a fault (Choice::fault), and at most one thread may be mortal.
    virtual bool mortal(std::uint32_t /*index*/) { return false; }
    /// Returns the memory of the object if a run changes nothing else, apart from the stacks and
    /// registers of its threads; otherwise nothing. The run is then put back to an earlier step by
    /// copying that memory, and has a state (Run::state()). So the object may own heap memory only
    /// if no run changes it, and no thread may call an operation while it handles an exception.
    virtual std::span<std::byte> memory() { return {}; }
    /// Returns a failure that a thread has found, or an empty text. Called after every step.
    virtual std::string after_step() { return {}; }
};

/// Returns the memory of a workload, for its memory().
template <class Workload>
std::span<std::byte> memory_of(Workload& workload) {
    return std::as_writable_bytes(std::span(&workload, 1));
}

/// Returns a program for the explorer. `make` makes the objects for each run. A run in which every
/// thread that has not ended is parked fails.
Program threads_program(std::uint32_t threads,
                        std::function<std::unique_ptr<ThreadsWorkload>()> make);

namespace model {

/// Waits until it is this thread's turn. A cell calls it before each of its operations. Does
/// nothing outside a modelled thread.
void point();
/// Records the operation that the cell with that number has just done.
void record_access(std::uint32_t number, AccessKind access, const char* what, std::int64_t value);
/// Returns the index of the thread that runs. Requires that a modelled thread runs.
std::uint32_t current_thread();
/// Returns a number for a new cell, which is the same in every run of a program.
std::uint32_t next_cell();
/// Parks this thread at the cell with that number if `unchanged()`, as sync::Parked describes. If
/// `times_out`, the sleep may end at any time.
sync::Parked park(std::uint32_t number, const std::function<bool()>& unchanged, bool times_out);
/// Wakes the thread that has slept longest at the cell, or all of them.
void unpark(std::uint32_t number, bool all);

}  // namespace model

/// The operations of std::atomic that the primitives use.
template <class T>
class ModelAtomic {
  public:
    explicit ModelAtomic(T value) : value_(value) {}
    ModelAtomic() = default;
    ModelAtomic(const ModelAtomic&) = delete;
    ModelAtomic& operator=(const ModelAtomic&) = delete;
    ModelAtomic(ModelAtomic&&) = delete;
    ModelAtomic& operator=(ModelAtomic&&) = delete;
    ~ModelAtomic() = default;

    T load(std::memory_order = std::memory_order_seq_cst) const {
        model::point();
        note_access(AccessKind::read, "loads");
        return value_;
    }
    void store(T value, std::memory_order = std::memory_order_seq_cst) {
        model::point();
        value_ = value;
        note_access(AccessKind::write, "stores");
    }
    T exchange(T value) {
        return change("exchanges for", [value](T) { return value; });
    }
    T fetch_add(T value) {
        return change("adds to make", [value](T before) { return static_cast<T>(before + value); });
    }
    T fetch_sub(T value) {
        return change("subtracts to make",
                      [value](T before) { return static_cast<T>(before - value); });
    }
    T fetch_or(T value) {
        return change("sets bits to make",
                      [value](T before) { return static_cast<T>(before | value); });
    }
    bool compare_exchange_strong(T& expected, T desired) {
        model::point();
        const bool equal = value_ == expected;
        if (equal) {
            value_ = desired;
        } else {
            expected = value_;
        }
        note_access(equal ? AccessKind::write : AccessKind::read,
                    equal ? "compares and exchanges for" : "compares in vain with");
        return equal;
    }
    /// Never fails spuriously, because the instructions of WebAssembly and x86 never do.
    bool compare_exchange_weak(T& expected, T desired) {
        return compare_exchange_strong(expected, desired);
    }

    [[nodiscard]] std::uint32_t number() const { return number_; }
    /// Returns the value without an operation, for judge() and for parking.
    [[nodiscard]] T peek() const { return value_; }

  private:
    template <typename Change>
    T change(const char* what, Change change) {
        model::point();
        const T before = value_;
        value_ = change(before);
        note_access(AccessKind::write, what);
        return before;
    }
    void note_access(AccessKind access, const char* what) const {
        model::record_access(number_, access, what, static_cast<std::int64_t>(value_));
    }

    std::uint32_t number_ = model::next_cell();
    T value_{};
};

/// The parker of the model (tabacus/sync/parker.hpp).
struct ModelParker {
    template <class T>
    using Atomic = ModelAtomic<T>;
    using Word = ModelAtomic<std::uint32_t>;

    // Spinning for longer adds no behaviour that another schedule does not have.
    static constexpr std::uint32_t spin_pause_first = 1;
    static constexpr std::uint32_t grant_pause_first = 1;
    static constexpr std::uint32_t spin_pause_max = 0;
    static constexpr std::uint32_t spin_rounds_max = 2;
    // A thread that only watches a lock acts like one that begins later, so the model's threads do
    // not watch. A thread that sleeps while it watches is explored with another parker
    // (explore_shared_locks.cpp).
    static constexpr std::uint32_t watch_looks = 0;
    static constexpr std::uint32_t watch_rounds = 0;
    static constexpr std::int64_t watch_max_ns = sync::forever_ns;
    // No thread is terminated in the model, and a sleep that ends would hide a missing wake-up.
    static constexpr std::int64_t sleep_max_ns = sync::forever_ns;

    static sync::Parked park(Word& word, std::uint32_t expected, std::int64_t timeout_ns) {
        return model::park(word.number(), [&] { return word.peek() == expected; }, timeout_ns >= 0);
    }
    static void unpark_one(Word& word) { model::unpark(word.number(), false); }
    static void unpark_all(Word& word) { model::unpark(word.number(), true); }
};

}  // namespace tabacus::lab
