// Measures locks and counters of the package and their peers under contention, with C++ threads of
// one module.
//
// JavaScript calls contentionStart(name, threads, duration_ms), waits until the word `running` at
// the returned address is 0, and then calls contentionEnd(address), which returns the operations per
// second of all threads together.

#include <emscripten/bind.h>
#include <emscripten/emscripten.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "tabacus/sync/atomic_counter.hpp"
#include "tabacus/sync/mutex.hpp"
#include "tabacus/sync/mutexed_counter.hpp"
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

/// All subjects. Each has cache lines of its own.
struct Subjects {
    alignas(line_bytes) Mutex mutex;
    alignas(line_bytes) std::mutex std_mutex;
    alignas(line_bytes) NaiveFutexMutex naive_mutex;
    alignas(line_bytes) AtomicCounter atomic;
    alignas(line_bytes) std::atomic<std::int64_t> fetch_add;
    alignas(line_bytes) StripedCounter striped;
    alignas(line_bytes) MutexedCounter mutexed;
    alignas(line_bytes) std::int64_t guarded = 0;  // by the mutex that is measured
};

/// Increments a volatile cell, so that the compiler does not merge two critical sections.
void touch(std::int64_t& guarded) {
    auto& cell = const_cast<volatile std::int64_t&>(guarded);
    cell = cell + 1;
}

using Operation = void (*)(Subjects&, Caller);

struct Named {
    const char* name;
    Operation run;
};

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

/// How many operations run between two readings of the clock, which cost a call to JavaScript.
constexpr int batch = 16384;

template <std::size_t index>
void loop(Run& run, Caller self) {
    const double deadline_ms = emscripten_get_now() + run.duration_ms;
    std::uint64_t done = 0;
    // A copy in registers. The argument is in memory, and would be loaded anew after every atomic
    // operation.
    const Caller caller{.id = self.id, .may_sleep = self.may_sleep};
    do {
        for (int i = 0; i < batch; ++i) operations[index].run(run.subjects, caller);
        done += batch;
    } while (emscripten_get_now() < deadline_ms);
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
