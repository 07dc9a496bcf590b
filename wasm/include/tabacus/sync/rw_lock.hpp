#pragma once

#include <cstdint>

#include "tabacus/sync/combiner.hpp"

// A reader-writer lock that is phase-fair (Brandenburg and Anderson 2010): phases of readers and of
// writers alternate while both wait.
//
// Promises: a writer holds the lock alone. A thread that blocks first watches the lock for a bounded
// time, in which others may overtake it (Combiner::watch()), and then waits as follows. A reader that
// waits is overtaken by one writer at most: when a writer unlocks, all readers that wait are granted
// together. Readers that come while a writer waits wait behind it, and writers are granted in the
// order of their requests. So nobody starves, neither readers nor writers, as either would under the
// two solutions of Courtois, Heymans and Parnas (1971). A thread that dies between the end of a phase
// and the grants of the next one may let one more writer, or the same readers once more, overtake a
// waiter. The owners of the lock are in records of their own, as the readers of Linux's
// percpu_rw_semaphore, so that a dead owner is known whatever it was doing (combiner.hpp).
// While the gate is open, which means that no writer holds the lock or waits and no writer has died,
// a reader needs no combiner: it stores its hold in its record and reads the gate. Only a combiner
// writes the gate, in each of its passes, so that a combiner that dies leaves nothing to repair. A
// writer counts as waiting once a pass of a combiner has seen its request.
// It is robust, as a mutex of POSIX is: if a writer dies, what it guarded may be inconsistent.
// Every grant from then on is `owner_died`, until a writer calls mark_consistent(). If a writer
// with such a grant unlocks without that call, nobody can acquire the lock any more. A dead reader
// is removed.
// Does not provide: recursion. A thread that holds the lock and would block gets would_deadlock.
//
// The state of a record:
//
//   bits                        meaning                         transitions
//   0                           not in use                      owner: requests, or holds it
//                                                               shared while the gate is open
//   wants                       waits for a shared hold         combiner: grants or refuses
//   wants, exclusive            waits for an exclusive hold     owner: withdraws
//   holds [, after_death]       holds it shared                 owner: unlocks
//   holds, exclusive            holds it exclusively            owner: unlocks, clears
//     [, after_death]                                         `after_death`
//   refused                     the lock is not recoverable     owner: leaves
//   any, died                   its owner is dead               combiner: frees the record
//
// A state with `wants` may have `sleeps` as well, and its owner then has to be woken.

namespace tabacus::sync {

enum class RwMode : std::uint32_t { shared = 0, exclusive = 2 };

template <class Parks = PlatformParker, std::uint32_t Records = records_max>
class BasicRwLock : public Combiner<BasicRwLock<Parks, Records>, Parks, Records> {
    using Base = Combiner<BasicRwLock, Parks, Records>;
    friend Base;

  public:
    using Base::died;
    using Base::wants;
    using typename Base::Cell;

    static constexpr std::uint32_t exclusive = Base::own;
    static constexpr std::uint32_t holds = 4;
    static constexpr std::uint32_t after_death = 16;  // the grant is `owner_died`
    static constexpr std::uint32_t refused = 32;      // the lock is not recoverable

    /// Sleeps until the caller holds the lock. Returns `acquired`, `owner_died`, `would_deadlock`,
    /// `not_recoverable` or `full`.
    Acquired lock(Owner self, RwMode mode) {
        return lock_until(self, mode, forever_ns, [] { return std::int64_t{0}; });
    }

    /// Locks as lock() does, but returns `timed_out` once `now_ns()` has reached the deadline.
    template <class NowNs>
    Acquired lock_until(Owner self, RwMode mode, std::int64_t deadline_ns, NowNs now_ns) {
        if (holding(self)) return Acquired::would_deadlock;
        Record<Parks>* record = watch_and_request(self, mode, deadline_ns, now_ns);
        if (record == nullptr) return Acquired::full;
        this->await(*record, deadline_ns, now_ns);
        return settle(self, *record, GiveUp::at_once);
    }

    /// Acquires the lock if no wait is needed; else returns `busy`.
    Acquired try_lock(Owner self, RwMode mode) {
        Record<Parks>* record = request(self, mode);
        if (record == nullptr) return Acquired::full;
        const Acquired got = settle(self, *record, GiveUp::soon);
        return got == Acquired::timed_out ? Acquired::busy : got;
    }

    /// Releases one hold of the caller's.
    UnlockResult unlock(Owner self, RwMode mode) {
        Record<Parks>* held = find(self, mode);
        return held == nullptr ? UnlockResult::not_owner : release(self, *held);
    }

    /// Declares that what the lock guards is consistent again. Returns false, and changes nothing,
    /// if the caller does not hold the lock exclusively, or if its grant is not `owner_died`.
    bool mark_consistent(Owner self) {
        Record<Parks>* held = find(self, RwMode::exclusive);
        if (held == nullptr || (held->state.load() & after_death) == 0) return false;
        health_.store(consistent);
        held->state.store(holds | exclusive);
        return true;
    }

    /// Whether the caller holds the lock, in any mode.
    [[nodiscard]] bool holding(Owner self) { return Base::find(self, holds, holds) != nullptr; }

    /// Publishes a request. The caller sleeps on the record's state while it `wants`, and then
    /// calls settle(). Returns nullptr if there is no record.
    [[gnu::noinline, clang::minsize]] Record<Parks>* request(Owner self, RwMode mode) {
        Record<Parks>* record = this->claim(self, ~0U);
        if (record != nullptr) request_in(self, *record, mode);
        return record;
    }

    /// Publishes a request, but first waits for a bounded time until it would be granted at once.
    /// Requires that the caller may sleep. The caller then does as after request(). Returns nullptr
    /// at once if there is no record.
    template <class NowNs>
    Record<Parks>* watch_and_request(Owner self, RwMode mode, std::int64_t deadline_ns,
                                     NowNs& now_ns) {
        Record<Parks>* record = this->claim(self, ~0U);
        if (record == nullptr) return nullptr;
        this->watch(kind_of(mode), deadline_ns, now_ns, [&] { return grantable(mode); });
        request_in(self, *record, mode);
        return record;
    }

    /// Returns the outcome of a request. Withdraws it, and returns `timed_out`, if it is not decided.
    Acquired settle(Owner self, Record<Parks>& record, GiveUp give_up) {
        if (this->withdraw(self, record, give_up)) return Acquired::timed_out;
        return outcome(record);
    }

    /// Releases the caller's hold in that record.
    UnlockResult release(Owner self, Record<Parks>& record) {
        const std::uint32_t state = record.state.load();
        if (this->owner_of(record).load() != self || (state & holds) == 0)
            return UnlockResult::not_owner;
        if ((state & (exclusive | after_death)) == (exclusive | after_death))
            health_.store(not_recoverable);
        record.state.store(0);
        if ((state & exclusive) != 0 || gate_.load() != open) this->serve(self);
        ring_if_grantable();
        return UnlockResult::released;
    }

    /// Whether a request would be granted at once, as far as this thread sees.
    [[gnu::noinline, clang::minsize]] bool grantable(RwMode mode) {
        if (mode == RwMode::shared && gate_.load() == open) return true;
        std::uint32_t states = 0;
        this->each([&](Record<Parks>&, std::uint32_t state) {
            if (mode == RwMode::exclusive || (state & exclusive) != 0) states |= state;
        });
        return (states & (holds | wants)) == 0;
    }

  private:
    enum Health : std::uint32_t { consistent = 0, inconsistent = 1, not_recoverable = 2 };
    enum Gate : std::uint32_t { open = 0, closed = 1 };

    /// Publishes a request in a record that is not in use, unless it takes a shared hold at once.
    [[gnu::noinline, clang::minsize]] void request_in(Owner self, Record<Parks>& record,
                                                      RwMode mode) {
        if (mode == RwMode::shared && hold_if_open(record)) return;
        this->publish(self, record, wants | static_cast<std::uint32_t>(mode));
    }

    /// Takes a shared hold if the gate is open. The hold is stored before the gate is read, and a
    /// combiner closes the gate before it looks for holds. So at least one of the two sees the other.
    bool hold_if_open(Record<Parks>& record) {
        if (gate_.load() != open) return false;
        record.state.store(holds);
        if (gate_.load() == open) return true;
        // A combiner may have seen the hold. The request that follows makes it look again.
        record.state.store(0);
        return false;
    }

    Acquired outcome(Record<Parks>& record) {
        const std::uint32_t state = record.state.load();
        ring_if_grantable();
        if ((state & refused) == 0)
            return (state & after_death) != 0 ? Acquired::owner_died : Acquired::acquired;
        record.state.store(0);
        return Acquired::not_recoverable;
    }

    void wake_others() {}

    /// The kind of a request, as the base counts them.
    static constexpr std::uint32_t kind_of(RwMode mode) {
        return static_cast<std::uint32_t>(mode) / 2;
    }

    static constexpr RwMode mode_of(std::uint32_t kind) { return static_cast<RwMode>(kind * 2); }

    [[gnu::noinline, clang::minsize]] void ring_if_grantable() {
        for (std::uint32_t kind = 0; kind < Base::kinds; ++kind)
            if (this->watched(kind) && grantable(mode_of(kind))) this->ring(kind);
    }

    Record<Parks>* find(Owner self, RwMode mode) {
        return Base::find(self, holds | exclusive, holds | static_cast<std::uint32_t>(mode));
    }

    struct Seen {
        Record<Parks>* writer = nullptr;  // the oldest that waits
        std::uint32_t writer_state = 0;
        bool readers_wait = false;
        bool shared = false;
        bool exclusive = false;
    };

    [[gnu::noinline, clang::minsize]] void scan_records(Seen& seen) {
        seen = {};
        this->each(
            [&](Record<Parks>& record, std::uint32_t state) { note_record(seen, record, state); });
    }

    void set_gate(Seen& seen) {
        const bool writers = seen.exclusive || seen.writer != nullptr;
        const Gate gate = writers || health_.load() != consistent ? closed : open;
        if (gate_.load() == gate) return;
        gate_.store(gate);
        if (gate == closed) scan_records(seen);  // readers may have passed the gate meanwhile
    }

    [[gnu::noinline, clang::minsize]] void combine() {
        Seen seen;
        scan_records(seen);
        set_gate(seen);
        const std::uint32_t health = health_.load();
        if (health == not_recoverable) return refuse_all();
        if (seen.exclusive) return;
        const std::uint32_t grant_bits = health == inconsistent ? after_death : 0;
        const bool readers_turn = seen.writer == nullptr || (!seen.shared && readers_next_.load());
        if (seen.readers_wait && readers_turn) {
            readers_next_.store(0);
            grant_readers(grant_bits);
        } else if (seen.writer != nullptr && !seen.shared) {
            readers_next_.store(1);
            this->decide(*seen.writer, seen.writer_state, wants, holds | grant_bits);
        }
    }

    void note_record(Seen& seen, Record<Parks>& record, std::uint32_t state) {
        if ((state & died) != 0) return remove_dead(record, state);
        const bool writes = (state & exclusive) != 0;
        if ((state & holds) != 0) (writes ? seen.exclusive : seen.shared) = true;
        if ((state & wants) == 0) return;
        if (!writes) seen.readers_wait = true;
        if (writes && this->older(record, seen.writer)) {
            seen.writer = &record;
            seen.writer_state = state;
        }
    }

    void remove_dead(Record<Parks>& record, std::uint32_t state) {
        if ((state & (holds | exclusive)) == (holds | exclusive)) {
            std::uint32_t sound = consistent;
            health_.compare_exchange_strong(sound, inconsistent);
        }
        this->free(record);
    }

    void grant_readers(std::uint32_t grant_bits) {
        this->each([&](Record<Parks>& record, std::uint32_t state) {
            if ((state & (wants | exclusive)) == wants)
                this->decide(record, state, wants, holds | grant_bits);
        });
    }
    void refuse_all() {
        this->each([&](Record<Parks>& record, std::uint32_t state) {
            if ((state & wants) != 0) this->decide(record, state, wants | exclusive, refused);
        });
    }

    Cell health_{consistent};
    Cell gate_{open};
    Cell readers_next_{0};  // whether the last phase was a writer's
};

using RwLock = BasicRwLock<>;

}  // namespace tabacus::sync
