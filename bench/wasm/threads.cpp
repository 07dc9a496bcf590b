// Measures locks and counters of the package and their peers under contention, with C++ threads of
// one module.
//
// JavaScript calls contentionStart(name, threads, duration_ms), waits until the word `running` at
// the returned address is 0, and then calls contentionEnd(address), which returns the operations per
// second of all threads together.

#include <emscripten/bind.h>
#include <emscripten/emscripten.h>
#include <pthread.h>
#include <semaphore.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "tabacus/sync/atomic_counter.hpp"
#include "tabacus/sync/condition.hpp"
#include "tabacus/sync/counting_semaphore.hpp"
#include "tabacus/sync/mutex.hpp"
#include "tabacus/sync/mutexed_counter.hpp"
#include "tabacus/sync/rw_lock.hpp"
#include "tabacus/sync/striped_counter.hpp"

namespace {

using namespace tabacus::sync;

/// The simplest lock over a futex. It notifies on every unlock, even if no thread sleeps.
class NaiveFutexMutex {
  public:
    void lock() {
        while (word_.exchange(1) != 0) PlatformParker::park(word_, 1, forever_ns);
    }
    void unlock() {
        word_.store(0);
        PlatformParker::unpark_one(word_);
    }

  private:
    Word word_{0};
};

/// The simplest reader-writer lock over a futex: the number of readers, or `writing`. It notifies all
/// on every unlock, and writers may starve.
class NaiveRwLock {
  public:
    void lock() {
        std::uint32_t word = 0;
        while (!word_.compare_exchange_weak(word, writing)) {
            if (word != 0) PlatformParker::park(word_, word, forever_ns);
            word = 0;
        }
    }
    void lock_shared() {
        std::uint32_t word = word_.load();
        for (;;) {
            if (word == writing) {
                PlatformParker::park(word_, word, forever_ns);
                word = word_.load();
            } else if (word_.compare_exchange_weak(word, word + 1)) {
                return;
            }
        }
    }
    void unlock() { release(writing); }
    void unlock_shared() { release(1); }

  private:
    static constexpr std::uint32_t writing = 1U << 31;

    void release(std::uint32_t hold) {
        word_.fetch_sub(hold);
        PlatformParker::unpark_all(word_);
    }

    Word word_{0};
};

/// A reader-writer lock of POSIX.
struct PosixRwLock {
    void lock() { pthread_rwlock_wrlock(&lock_); }
    void lock_shared() { pthread_rwlock_rdlock(&lock_); }
    void unlock() { pthread_rwlock_unlock(&lock_); }
    void unlock_shared() { pthread_rwlock_unlock(&lock_); }

  private:
    pthread_rwlock_t lock_ = PTHREAD_RWLOCK_INITIALIZER;
};

/// A semaphore of POSIX.
class PosixSemaphore {
  public:
    explicit PosixSemaphore(std::uint32_t permits) { sem_init(&semaphore_, 0, permits); }
    void acquire() {
        while (sem_wait(&semaphore_) != 0) {
        }
    }
    void release() { sem_post(&semaphore_); }

  private:
    sem_t semaphore_{};
};

/// The permits of the semaphores that are measured.
constexpr std::uint32_t permits = 1;

/// One of this many operations on a reader-writer lock writes.
constexpr std::uint32_t operations_per_write = 16;

/// Two threads that take turns: each waits for a condition until it is its turn, and notifies the
/// other one.
struct Turns {
    Mutex mutex;
    Condition condition;
    std::mutex std_mutex;
    std::condition_variable std_condition;
    Owner turn = 1;
    Word ended{0};

    /// Whether the thread may go on.
    [[nodiscard]] bool is(Owner self) const { return turn == self || ended.load() != 0; }

    /// Ends the waits for ever.
    void end(Owner self) {
        ended.store(1);
        mutex.lock(self);
        std_mutex.lock();
        condition.notify_all();
        std_condition.notify_all();
        std_mutex.unlock();
        mutex.unlock(self);
    }
};

/// All subjects. Each has cache lines of its own.
struct Subjects {
    alignas(line_bytes) Mutex mutex;
    alignas(line_bytes) std::mutex std_mutex;
    alignas(line_bytes) NaiveFutexMutex naive_mutex;
    alignas(line_bytes) AtomicCounter atomic;
    alignas(line_bytes) std::atomic<std::int64_t> fetch_add;
    alignas(line_bytes) StripedCounter striped;
    alignas(line_bytes) MutexedCounter mutexed;
    alignas(line_bytes) RwLock rw_lock;
    alignas(line_bytes) NaiveRwLock naive_rw_lock;
    alignas(line_bytes) PosixRwLock posix_rw_lock;
    alignas(line_bytes) Semaphore semaphore;
    alignas(line_bytes) PosixSemaphore posix_semaphore{permits};
    alignas(line_bytes) Turns turns;
    alignas(line_bytes) std::int64_t guarded = 0;  // by the lock that is measured
};

/// Increments a volatile cell, so that the compiler does not merge two critical sections.
void touch(std::int64_t& guarded) {
    auto& cell = const_cast<volatile std::int64_t&>(guarded);
    cell = cell + 1;
}

/// Reads a cell that touch() increments.
void look(const std::int64_t& guarded) {
    static_cast<void>(const_cast<const volatile std::int64_t&>(guarded));
}

/// Whether the next operation of this thread writes.
bool writes() {
    thread_local std::uint32_t done = 0;
    return ++done % operations_per_write == 0;
}

template <class Lock>
void read_or_write(Lock& lock, std::int64_t& guarded) {
    if (writes()) {
        lock.lock();
        touch(guarded);
        lock.unlock();
    } else {
        lock.lock_shared();
        look(guarded);
        lock.unlock_shared();
    }
}

using Operation = void (*)(Subjects&, Caller);

struct Named {
    const char* name = nullptr;
    Operation run = nullptr;
    /// How many operations run between two readings of the clock, which cost a call to JavaScript.
    int batch = 16384;
};

/// The batch of operations that may sleep each time.
constexpr int short_batch = 64;

constexpr Named operations[] = {
    {"mutex",
     [](Subjects& s, Caller self) {
         s.mutex.lock(self.id);
         touch(s.guarded);
         s.mutex.unlock(self.id);
     }},
    {"std::mutex",
     [](Subjects& s, Caller) {
         const std::lock_guard held(s.std_mutex);
         touch(s.guarded);
     }},
    {"naive futex",
     [](Subjects& s, Caller) {
         s.naive_mutex.lock();
         touch(s.guarded);
         s.naive_mutex.unlock();
     }},
    {"atomic", [](Subjects& s, Caller) { s.atomic.add(1); }},
    {"fetch_add", [](Subjects& s, Caller) { s.fetch_add.fetch_add(1); }},
    {"striped", [](Subjects& s, Caller self) { s.striped.bump(1, self); }},
    {"mutexed", [](Subjects& s, Caller self) { s.mutexed.add(1, self); }},
    {"rwLock",
     [](Subjects& s, Caller self) {
         const RwMode mode = writes() ? RwMode::exclusive : RwMode::shared;
         s.rw_lock.lock(self.id, mode);
         mode == RwMode::exclusive ? touch(s.guarded) : look(s.guarded);
         s.rw_lock.unlock(self.id, mode);
     },
     short_batch},
    {"naive rwlock", [](Subjects& s, Caller) { read_or_write(s.naive_rw_lock, s.guarded); },
     short_batch},
    {"pthread_rwlock", [](Subjects& s, Caller) { read_or_write(s.posix_rw_lock, s.guarded); },
     short_batch},
    {"semaphore",
     [](Subjects& s, Caller self) {
         s.semaphore.acquire(self.id);
         touch(s.guarded);
         s.semaphore.release(self.id);
     },
     short_batch},
    {"sem_t",
     [](Subjects& s, Caller) {
         s.posix_semaphore.acquire();
         touch(s.guarded);
         s.posix_semaphore.release();
     },
     short_batch},
    {"condition",
     [](Subjects& s, Caller self) {
         Turns& turns = s.turns;
         turns.mutex.lock(self.id);
         turns.condition.wait(turns.mutex, self.id, [&] { return turns.is(self.id); });
         turns.turn = 3 - self.id;
         turns.condition.notify_one();
         turns.mutex.unlock(self.id);
     },
     short_batch},
    {"std::condition_variable",
     [](Subjects& s, Caller self) {
         Turns& turns = s.turns;
         std::unique_lock held(turns.std_mutex);
         turns.std_condition.wait(held, [&] { return turns.is(self.id); });
         turns.turn = 3 - self.id;
         turns.std_condition.notify_one();
     },
     short_batch},
};

struct Run {
    /// How many threads run. It is first, since JavaScript reads it at the address of the run.
    Word running{0};
    Word arrived{0};
    std::uint32_t threads = 0;
    double duration_ms = 0;
    void (*loop)(Run&, Caller) = nullptr;
    std::atomic<std::uint64_t> total{0};
    Subjects subjects;
};

template <std::size_t index>
void loop(Run& run, Caller self) {
    const double deadline_ms = emscripten_get_now() + run.duration_ms;
    std::uint64_t done = 0;
    // A copy in registers. The argument is in memory, and would be loaded anew after every atomic
    // operation.
    const Caller caller{.id = self.id, .may_sleep = self.may_sleep};
    constexpr int batch = operations[index].batch;
    do {
        for (int i = 0; i < batch; ++i) operations[index].run(run.subjects, caller);
        done += batch;
    } while (emscripten_get_now() < deadline_ms && run.subjects.turns.ended.load() == 0);
    run.subjects.turns.end(caller.id);
    run.total.fetch_add(done);
}

template <std::size_t... index>
auto loop_at(std::size_t chosen, std::index_sequence<index...>) {
    constexpr void (*loops[])(Run&, Caller) = {&loop<index>...};
    return loops[chosen];
}

auto loop_named(const std::string& name) {
    std::size_t chosen = 0;
    while (chosen + 1 < std::size(operations) && name != operations[chosen].name) ++chosen;
    return loop_at(chosen, std::make_index_sequence<std::size(operations)>());
}

void* work(void* argument) {
    auto& run = *static_cast<Run*>(argument);
    const Caller self{.id = run.arrived.fetch_add(1) + 1, .may_sleep = true};
    while (run.arrived.load() != run.threads) {
    }
    run.loop(run, self);
    if (run.running.fetch_sub(1) == 1) PlatformParker::unpark_all(run.running);
    return nullptr;
}

std::uintptr_t contention_start(const std::string& name, std::uint32_t threads,
                                double duration_ms) {
    auto run = std::make_unique<Run>();
    run->running = threads;
    run->threads = threads;
    run->duration_ms = duration_ms;
    run->loop = loop_named(name);
    for (std::uint32_t i = 0; i < threads; ++i) {
        pthread_t thread;
        pthread_create(&thread, nullptr, work, run.get());
        pthread_detach(thread);
    }
    return reinterpret_cast<std::uintptr_t>(run.release());
}

double contention_end(std::uintptr_t address) {
    const std::unique_ptr<Run> run(reinterpret_cast<Run*>(address));
    return static_cast<double>(run->total.load()) * 1000 / run->duration_ms;
}

EMSCRIPTEN_BINDINGS(tabacus_bench_threads) {
    emscripten::function("contentionStart", &contention_start);
    emscripten::function("contentionEnd", &contention_end);
}

}  // namespace
