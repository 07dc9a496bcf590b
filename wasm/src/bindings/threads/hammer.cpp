// C++ threads that use the shared objects, for js/threads/cpp-threads.js. The calls that must be
// fast are in attach/attach_abi.hpp.
#include <emscripten/emscripten.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "sync/main_arena.hpp"
#include "tabacus/sync/dispatch.hpp"
#include "tabacus/threads/tab_mutex.hpp"

namespace tabacus::sync {
namespace {

/// Threads that add to one counter, as fast as they can. JavaScript waits until `running` is 0,
/// then reads the other numbers, at these offsets.
struct Hammer {
    Word running{0};          // 0   threads that have not finished
    Word refused{0};          // 4   threads that stopped at a refused add
    Word missing{0};          // 8   threads that could not be started
    Word locked_out{0};       // 12  threads that stopped because the page refused them the lock
    Kind kind = Kind::any;    // `any` stands for a counter over tabs
    void* counter = nullptr;  // its TabCells, if it is over tabs
    std::uint32_t adds = 0;
    std::int64_t amount = 0;
    std::optional<TabMutex> lock;  // if there is one, a thread holds it during each add
};

/// A thread that adds. `cell` is its cell of a counter over tabs.
struct Adder {
    Caller caller{};
    std::uint32_t cell = 0;
};

TabCells& cells_of(const Hammer& hammer) { return *static_cast<TabCells*>(hammer.counter); }

Outcome add_once(Hammer& hammer, const Adder& adder) {
    if (hammer.kind == Kind::any) {
        return cells_of(hammer).add(hammer.amount, adder.cell, main_arena().tab_bell());
    }
    const Caller& caller = adder.caller;
    return bump_in(hammer.kind, hammer.counter, caller, hammer.amount, number_limit);
}

constexpr std::chrono::hours lock_timeout{24};

Outcome add_locked(Hammer& hammer, const Adder& adder) {
    if (!hammer.lock) return add_once(hammer, adder);
    const std::unique_lock held(*hammer.lock, lock_timeout);
    return held.owns_lock() ? add_once(hammer, adder) : Outcome::would_block;
}

Outcome hammer_all(Hammer& hammer) {
    const ArenaThread thread(main_arena());
    Adder adder{.caller = {.id = thread.id(), .may_sleep = true}};
    if (hammer.kind == Kind::any) adder.cell = cells_of(hammer).join();
    for (std::uint32_t i = 0; i < hammer.adds; ++i) {
        const Outcome outcome = add_locked(hammer, adder);
        if (outcome != Outcome::added) return outcome;
    }
    return Outcome::added;
}

void finish(Hammer& hammer) {
    if (hammer.running.fetch_sub(1) == 1) PlatformParker::unpark_all(hammer.running);
}

void* run(void* argument) {
    auto& hammer = *static_cast<Hammer*>(argument);
    const Outcome outcome = hammer_all(hammer);
    if (outcome == Outcome::would_block) hammer.locked_out.fetch_add(1);
    if (outcome == Outcome::out_of_range) hammer.refused.fetch_add(1);
    finish(hammer);
    return nullptr;
}

void start_thread(Hammer& hammer) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, run, &hammer) == 0) {
        pthread_detach(thread);
    } else {
        hammer.missing.fetch_add(1);
        finish(hammer);
    }
}

}  // namespace
}  // namespace tabacus::sync

using tabacus::sync::Hammer;
using tabacus::sync::TabRequest;

extern "C" {

// Starts threads that add. They hold the lock of `request` during each add, unless it is null. The
// caller must end the result with hammer_end().
EMSCRIPTEN_KEEPALIVE Hammer* hammer_start(tabacus::sync::Kind kind, void* counter,
                                          std::uint32_t threads, std::uint32_t adds, double amount,
                                          TabRequest* request) {
    auto hammer = std::make_unique<Hammer>();
    hammer->running = threads;
    hammer->kind = kind;
    hammer->counter = counter;
    hammer->adds = adds;
    hammer->amount = static_cast<std::int64_t>(amount);
    if (request != nullptr) hammer->lock.emplace(tabacus::sync::main_arena(), *request);
    for (std::uint32_t i = 0; i < threads; ++i) start_thread(*hammer);
    return hammer.release();
}

// Frees a hammer. Requires that its `running` is 0.
EMSCRIPTEN_KEEPALIVE void hammer_end(Hammer* hammer) {
    const std::unique_ptr<Hammer> owned(hammer);
}
}
