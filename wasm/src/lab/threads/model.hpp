// Modelled threads: a program over shared memory in which every operation on an atomic cell is a
// step that the explorer schedules.
//
// `ModelParker` stands where PlatformParker stands in a primitive of wasm/include/tabacus/sync; the
// source of the primitive is the one that runs in production. WebAssembly's and JavaScript's
// atomics are sequentially consistent, so interleavings are all there is, as long as the program
// has no data race (which ThreadSanitizer watches over).
//
// Only natively: each thread is a stack of its own (POSIX ucontext), and WebAssembly has but one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lab/explore/run.hpp"
#include "tabacus/sync/parker.hpp"

namespace tabacus::lab {

/// One run's shared objects, what each thread does with them, and what must be true in the end.
/// Threads must not own heap memory across an operation: a run may end in the middle of them.
class ThreadsWorkload {
  public:
    ThreadsWorkload() = default;
    ThreadsWorkload(const ThreadsWorkload&) = delete;
    ThreadsWorkload& operator=(const ThreadsWorkload&) = delete;
    ThreadsWorkload(ThreadsWorkload&&) = delete;
    ThreadsWorkload& operator=(ThreadsWorkload&&) = delete;
    virtual ~ThreadsWorkload() = default;
    /// The body of thread `index`, from 0.
    virtual void run(std::uint32_t index) = 0;
    /// What is wrong, or nothing; after every thread has ended.
    virtual std::string judge() { return {}; }
    /// What a thread has found wrong so far, or nothing. Looked at after every step.
    virtual std::string after_step() { return {}; }
};

/// `make` makes the objects anew for each run. All threads parked is a failure.
Program threads_program(std::uint32_t threads,
                        std::function<std::unique_ptr<ThreadsWorkload>()> make);

namespace model {

/// Called by a cell before each of its operations; returns when it is this thread's turn. Nothing
/// outside a modelled thread.
void point();
/// The operation that has just been done. `number` is the cell's.
void record_access(std::uint32_t number, AccessKind access, const char* what, std::int64_t value);
/// A number for a new cell: the same in every run of the same program.
std::uint32_t next_cell();
sync::Parked park(std::uint32_t number, const std::function<bool()>& unchanged, bool times_out);
void unpark(std::uint32_t number, bool all);

}  // namespace model

/// std::atomic's operations, as far as the primitives use them.
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
    /// Neither WebAssembly's nor x86's fails for no reason.
    bool compare_exchange_weak(T& expected, T desired) {
        return compare_exchange_strong(expected, desired);
    }

    [[nodiscard]] std::uint32_t number() const { return number_; }
    /// Not an operation: for judges, and for parking.
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

struct ModelParker {
    template <class T>
    using Atomic = ModelAtomic<T>;
    using Word = ModelAtomic<std::uint32_t>;

    // Spinning for longer shows nothing that another schedule would not show.
    static constexpr std::uint32_t spin_pause_first = 1;
    static constexpr std::uint32_t spin_pause_max = 0;
    static constexpr std::uint32_t spin_rounds_max = 2;
    // Nobody is terminated here, and a sleep with an end would hide a wake-up that is missing.
    static constexpr std::int64_t sleep_max_ns = sync::forever_ns;

    static sync::Parked park(Word& word, std::uint32_t expected, std::int64_t timeout_ns) {
        return model::park(word.number(), [&] { return word.peek() == expected; }, timeout_ns >= 0);
    }
    static void unpark_one(Word& word) { model::unpark(word.number(), false); }
    static void unpark_all(Word& word) { model::unpark(word.number(), true); }
};

}  // namespace tabacus::lab
