#pragma once

#include <cstdint>
#include <new>

#include "sync/main_arena.hpp"
#include "tabacus/sync/arena.hpp"
#include "tabacus/sync/dispatch.hpp"

// The functions that JavaScript calls on the page and in Workers, over numbers. They are plain
// exports, because attach.wasm has no runtime for embind, and because they must be fast: an
// Atomics.add costs 9 ns and such a call 11 ns, while an embind call would cost more than two
// Atomics.add.
//
// Pointers are addresses in the shared memory, from an arena that the caller has checked. Numbers
// are doubles; these functions check that they are integers, which is cheaper than in JavaScript.
// NaN means that the call was refused. Agent::outcome has the reason, unless the number was not a
// safe integer.

#define TABACUS_EXPORT(type, name) extern "C" __attribute__((export_name(#name))) type name

// Makes an arena in memory that is all zero. The page calls it once, before any other function; it
// needs no stack.
TABACUS_EXPORT(tabacus::sync::Arena*, arena_make)() {
    using namespace tabacus::sync;
    return new (reinterpret_cast<void*>(main_arena_begin)) Arena(names_bytes, agents_max);
}

// Returns a new id for a thread, or 0 if there is none left.
TABACUS_EXPORT(tabacus::sync::Owner, agent_id)(tabacus::sync::Arena* arena) {
    return arena->take_id();
}

// Returns the agent's address, or 0 if the arena is full.
TABACUS_EXPORT(tabacus::sync::Agent*, agent_enter)
(tabacus::sync::Arena* arena, tabacus::sync::Owner id, std::uint32_t claim,
 std::uint32_t may_sleep) {
    return arena->enter(id, claim, may_sleep != 0);
}

// Notes that the thread has died that claims the agent, and frees the agent. `self` is the caller.
TABACUS_EXPORT(void, agent_exited)
(tabacus::sync::Arena* arena, tabacus::sync::Agent* agent, tabacus::sync::Owner self) {
    arena->report_exit(*agent, self);
}

// Notes that a thread has died, or that it leaves, and frees its agent. `self` is the caller.
TABACUS_EXPORT(void, agent_died)
(tabacus::sync::Arena* arena, tabacus::sync::Owner dead, tabacus::sync::Owner self) {
    arena->report_death(dead, self);
}

// Returns the offset of the entry with the name in the first `units` units of the agent's name; 0
// if the arena is full, -1 if it stays locked.
TABACUS_EXPORT(std::int32_t, object_open)
(tabacus::sync::Arena* arena, const tabacus::sync::Agent* agent, tabacus::sync::Kind kind,
 std::uint32_t units) {
    const auto [outcome, entry] = arena->open(*agent, kind, units);
    return outcome == tabacus::sync::Opened::busy ? -1 : static_cast<std::int32_t>(entry);
}

TABACUS_EXPORT(double, counter_add)
(tabacus::sync::Kind kind, void* counter, tabacus::sync::Agent* agent, double n) {
    using namespace tabacus::sync;
    if (!is_safe_integer(n)) return __builtin_nan("");
    const Added added =
        add_to(kind, counter, caller_of(*agent), static_cast<std::int64_t>(n), number_limit);
    if (added.outcome == Outcome::added) return static_cast<double>(added.value);
    agent->outcome = static_cast<std::uint32_t>(added.outcome);
    return __builtin_nan("");
}

// Adds without returning the total. Returns 0, or NaN.
TABACUS_EXPORT(double, counter_bump)
(tabacus::sync::Kind kind, void* counter, tabacus::sync::Agent* agent, double n) {
    using namespace tabacus::sync;
    if (!is_safe_integer(n)) return __builtin_nan("");
    const Outcome outcome =
        bump_in(kind, counter, caller_of(*agent), static_cast<std::int64_t>(n), number_limit);
    if (outcome == Outcome::added) return 0;
    agent->outcome = static_cast<std::uint32_t>(outcome);
    return __builtin_nan("");
}

// Returns NaN if a number cannot hold the value exactly.
TABACUS_EXPORT(double, counter_value)(tabacus::sync::Kind kind, const void* counter) {
    return tabacus::sync::as_number(tabacus::sync::value_of(kind, counter));
}

// Returns the value. Agent::outcome has the outcome of every call.
TABACUS_EXPORT(std::int64_t, counter_add_exact)
(tabacus::sync::Kind kind, void* counter, tabacus::sync::Agent* agent, std::int64_t n) {
    const auto [outcome, value] =
        tabacus::sync::add_to(kind, counter, caller_of(*agent), n, tabacus::sync::int64_limit);
    agent->outcome = static_cast<std::uint32_t>(outcome);
    return value;
}

TABACUS_EXPORT(std::int64_t, counter_value_exact)(tabacus::sync::Kind kind, const void* counter) {
    return tabacus::sync::value_of(kind, counter);
}

// Sleeps until the mutex is acquired. Requires that the thread may sleep.
TABACUS_EXPORT(tabacus::sync::LockResult, mutex_lock)
(tabacus::sync::Mutex* mutex, tabacus::sync::Owner self) { return mutex->lock(self); }

TABACUS_EXPORT(tabacus::sync::LockResult, mutex_try_lock)
(tabacus::sync::Mutex* mutex, tabacus::sync::Owner self) { return mutex->try_lock(self); }

TABACUS_EXPORT(std::uint32_t, mutex_step)
(tabacus::sync::Mutex* mutex, tabacus::sync::Owner self, std::uint32_t slept) {
    return mutex->step(self, slept != 0);
}

TABACUS_EXPORT(tabacus::sync::UnlockResult, mutex_unlock)
(tabacus::sync::Mutex* mutex, tabacus::sync::Owner owner) { return mutex->unlock(owner); }

TABACUS_EXPORT(tabacus::sync::UnlockResult, mutex_mark_consistent)
(tabacus::sync::Mutex* mutex, tabacus::sync::Owner owner) { return mutex->mark_consistent(owner); }

TABACUS_EXPORT(void, mutex_enter_async)(tabacus::sync::Mutex* mutex) { mutex->enter_async(); }
TABACUS_EXPORT(void, mutex_leave_async)(tabacus::sync::Mutex* mutex) { mutex->leave_async(); }

// Reader-writer locks, semaphores and barriers. A request is a record (combiner.hpp): JavaScript
// sleeps on its state until it is decided, and then settles it. A function that makes a request
// returns 0 if there is no record.

// The clock of a wait that has no deadline.
struct NoClock {
    std::int64_t operator()() const { return 0; }
};

// `blocks` is 0 if the caller does not block until the request is decided, 1 if it does, and 2 if
// it may also sleep in this call, for some milliseconds. Returns 1 if the caller blocks, but holds
// the lock already.
TABACUS_EXPORT(std::uintptr_t, rw_request)
(tabacus::sync::RwLock* lock, tabacus::sync::Owner self, tabacus::sync::RwMode mode,
 std::uint32_t blocks) {
    if (blocks != 0 && lock->holding(self)) return 1;
    NoClock no_clock;
    return reinterpret_cast<std::uintptr_t>(
        blocks > 1 ? lock->watch_and_request(self, mode, tabacus::sync::forever_ns, no_clock)
                   : lock->request(self, mode));
}

TABACUS_EXPORT(tabacus::sync::Acquired, rw_settle)
(tabacus::sync::RwLock* lock, tabacus::sync::Owner self, tabacus::sync::SharedRecord* record,
 tabacus::sync::GiveUp give_up) {
    return lock->settle(self, *record, give_up);
}

TABACUS_EXPORT(tabacus::sync::UnlockResult, rw_release)
(tabacus::sync::RwLock* lock, tabacus::sync::Owner self, tabacus::sync::SharedRecord* record) {
    return lock->release(self, *record);
}

TABACUS_EXPORT(std::uint32_t, rw_mark_consistent)
(tabacus::sync::RwLock* lock, tabacus::sync::Owner self) {
    return lock->mark_consistent(self) ? 1 : 0;
}

TABACUS_EXPORT(std::uint32_t, semaphore_begin)
(tabacus::sync::Semaphore* semaphore, std::uint32_t permits) { return semaphore->begin(permits); }

TABACUS_EXPORT(tabacus::sync::SharedRecord*, semaphore_request)
(tabacus::sync::Semaphore* semaphore, tabacus::sync::Owner self, std::uint32_t blocks) {
    NoClock no_clock;
    return blocks > 1 ? semaphore->watch_and_request(self, tabacus::sync::forever_ns, no_clock)
                      : semaphore->request(self);
}

TABACUS_EXPORT(tabacus::sync::Acquired, semaphore_settle)
(tabacus::sync::Semaphore* semaphore, tabacus::sync::Owner self,
 tabacus::sync::SharedRecord* record, tabacus::sync::GiveUp give_up) {
    return semaphore->settle(self, *record, give_up);
}

TABACUS_EXPORT(tabacus::sync::ReleaseResult, semaphore_release)
(tabacus::sync::Semaphore* semaphore, tabacus::sync::Owner self, std::uint32_t n) {
    return semaphore->release(self, n);
}

TABACUS_EXPORT(std::uint32_t, semaphore_available)(tabacus::sync::Semaphore* semaphore) {
    return semaphore->available();
}

TABACUS_EXPORT(std::uint32_t, barrier_begin)
(tabacus::sync::Barrier* barrier, std::uint32_t parties) { return barrier->begin(parties); }

TABACUS_EXPORT(tabacus::sync::SharedRecord*, barrier_arrive)
(tabacus::sync::Barrier* barrier, tabacus::sync::Owner self) { return barrier->arrive(self); }

TABACUS_EXPORT(void, barrier_take_back)
(tabacus::sync::Barrier* barrier, tabacus::sync::Owner self, tabacus::sync::SharedRecord* record) {
    barrier->take_back(self, *record);
}

// Returns 0 if the arrival was taken back.
TABACUS_EXPORT(std::uint32_t, barrier_leave)(tabacus::sync::SharedRecord* record) {
    return tabacus::sync::Barrier::leave(*record) ? 1 : 0;
}

// Returns the address of the phase, which JavaScript sleeps on while it is the record's ticket.
TABACUS_EXPORT(const void*, barrier_phase)(tabacus::sync::Barrier* barrier) {
    return &barrier->phase();
}

TABACUS_EXPORT(std::uint32_t, barrier_join)
(tabacus::sync::Barrier* barrier, tabacus::sync::Owner self) { return barrier->join(self) ? 1 : 0; }

TABACUS_EXPORT(std::uint32_t, barrier_drop)
(tabacus::sync::Barrier* barrier, tabacus::sync::Owner self) {
    return barrier->arrive_and_drop(self) ? 1 : 0;
}

// Returns the word to sleep on.
TABACUS_EXPORT(std::uint32_t, condition_announce)(tabacus::sync::Condition* condition) {
    return condition->announce();
}

TABACUS_EXPORT(void, condition_notify)(tabacus::sync::Condition* condition, std::uint32_t all) {
    all != 0 ? condition->notify_all() : condition->notify_one();
}

// Registers an asynchronous waiter if `by` is positive, else ends that.
TABACUS_EXPORT(void, condition_async)(tabacus::sync::Condition* condition, std::int32_t by) {
    by > 0 ? condition->enter_async() : condition->leave_async();
}

// Locks over tabs: the functions of the thread (tab_request.hpp).

// Returns the address of a request for the name in the agent's block; 0 if the arena is full, 1 if
// it stays locked.
TABACUS_EXPORT(std::uintptr_t, request_open)
(tabacus::sync::Arena* arena, const tabacus::sync::Agent* agent, std::uint32_t units,
 std::uint32_t watched) {
    auto outcome = tabacus::sync::Opened::found;
    const auto* request = arena->open_tab_request(agent->id, agent->may_sleep != 0, watched != 0,
                                                  {agent->name.data(), units}, outcome);
    if (outcome == tabacus::sync::Opened::busy) return 1;
    return reinterpret_cast<std::uintptr_t>(request);
}

TABACUS_EXPORT(std::uint32_t, request_ask)
(tabacus::sync::Arena* arena, tabacus::sync::TabRequest* request, tabacus::sync::TabState how) {
    return request->ask(arena->tab_bell(), how) ? 1 : 0;
}

TABACUS_EXPORT(std::uint32_t, request_give_up)
(tabacus::sync::Arena* arena, tabacus::sync::TabRequest* request) {
    return request->give_up(arena->tab_bell()) ? 1 : 0;
}

// Returns the state before the call.
TABACUS_EXPORT(tabacus::sync::TabState, request_release)
(tabacus::sync::Arena* arena, tabacus::sync::TabRequest* request) {
    return request->release(arena->tab_bell());
}

TABACUS_EXPORT(void, request_close)
(tabacus::sync::Arena* arena, tabacus::sync::TabRequest* request) {
    request->close(arena->tab_bell());
}

// Counters over tabs: the functions of the thread (tab_cells.hpp).

// Returns the address of the cells for the name in the agent's block; 0 if the arena is full, 1 if
// it stays locked.
TABACUS_EXPORT(std::uintptr_t, cells_open)
(tabacus::sync::Arena* arena, const tabacus::sync::Agent* agent, std::uint32_t units) {
    auto outcome = tabacus::sync::Opened::found;
    const auto* cells = arena->open_tab_cells(agent->id, agent->may_sleep != 0,
                                              {agent->name.data(), units}, outcome);
    if (outcome == tabacus::sync::Opened::busy) return 1;
    return reinterpret_cast<std::uintptr_t>(cells);
}

TABACUS_EXPORT(std::uint32_t, cells_join)(tabacus::sync::TabCells* cells) { return cells->join(); }

// Returns 0, or NaN.
TABACUS_EXPORT(double, cells_add)
(tabacus::sync::Arena* arena, tabacus::sync::TabCells* cells, std::uint32_t index, double n) {
    using namespace tabacus::sync;
    if (!is_safe_integer(n)) return __builtin_nan("");
    const Outcome outcome = cells->add(static_cast<std::int64_t>(n), index, arena->tab_bell());
    return outcome == Outcome::added ? 0 : __builtin_nan("");
}

// Returns NaN if a number cannot hold the value exactly.
TABACUS_EXPORT(double, cells_value)(const tabacus::sync::TabCells* cells) {
    return tabacus::sync::as_number(cells->value());
}

// Counters over tabs: the functions of the page (tab_cells.hpp).

// Returns the first cells for 0, and 0 after the last ones.
TABACUS_EXPORT(tabacus::sync::TabCells*, cells_next)
(tabacus::sync::Arena* arena, const tabacus::sync::TabCells* before) {
    return arena->next_tab_cells(before);
}

TABACUS_EXPORT(double, cells_gather)(tabacus::sync::TabCells* cells) {
    return static_cast<double>(cells->begin_gather());
}

TABACUS_EXPORT(void, cells_take)(tabacus::sync::TabCells* cells, double n) {
    cells->take(static_cast<std::int64_t>(n));
}

TABACUS_EXPORT(void, cells_publish)(tabacus::sync::TabCells* cells, double total) {
    cells->publish(static_cast<std::int64_t>(total));
}

// Locks over tabs: the functions of the page (tab_request.hpp).

TABACUS_EXPORT(tabacus::sync::TabBell*, request_bell)(tabacus::sync::Arena* arena) {
    return &arena->tab_bell();
}

TABACUS_EXPORT(void, request_end)(tabacus::sync::Arena* arena) { arena->tab_bell().end(); }

// Returns the first request for 0, and 0 after the last one.
TABACUS_EXPORT(tabacus::sync::TabRequest*, request_next)
(tabacus::sync::Arena* arena, const tabacus::sync::TabRequest* before) {
    return arena->next_tab_request(before);
}

TABACUS_EXPORT(std::uint32_t, request_grant)(tabacus::sync::TabRequest* request, double token) {
    return request->grant(static_cast<std::int64_t>(token)) ? 1 : 0;
}

TABACUS_EXPORT(std::uint32_t, request_refuse)(tabacus::sync::TabRequest* request,
                                              std::uint32_t reason) {
    return request->refuse(reason) ? 1 : 0;
}

TABACUS_EXPORT(std::uint32_t, request_lose)(tabacus::sync::TabRequest* request) {
    return request->lose() ? 1 : 0;
}

TABACUS_EXPORT(tabacus::sync::TabTask, request_task)
(tabacus::sync::TabRequest* request, tabacus::sync::TabHas has) { return request->next_task(has); }

TABACUS_EXPORT(std::uint32_t, request_exit)
(tabacus::sync::TabRequest* request, std::uint32_t agent) {
    return request->report_exit(agent) ? 1 : 0;
}
