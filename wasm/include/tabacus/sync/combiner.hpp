#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tabacus/sync/mutex.hpp"
#include "tabacus/sync/parker.hpp"

// The base of the reader-writer lock, the semaphore and the barrier: flat combining (Hendler,
// Incze, Shavit and Tzafrir 2010). A thread publishes its request in a record of its own. One
// thread at a time, the combiner, looks at all records and grants what can be granted. A thread
// that finds a combiner at work tells it to look again and goes on, so that no operation waits for
// another one, except the acquirer for its grant.
//
// Promises: the records contain the whole state. Each of them names its owner from the instruction
// that claims it, and changes by one store or exchange, so that a thread may die between any two
// instructions: the records show what it held and what it waited for. A combiner that
// dies leaves nothing half done, because a combiner may stop at any point and another one starts
// from the beginning. A grant goes to one waiter, which sleeps on its own record. So a wake-up
// cannot be consumed by another thread, and a waiter that has given up needs no further care.
// Does not provide: more than `Records` requests and holds at a time.
//
// The word of the combiner:
//
//   owner   again   meaning                                    transitions
//   0       0       no thread combines                         any thread: combines
//   self    0       a thread combines                          it: ends; another: sets `again`
//   self    1       it combines, and has to look again         it: clears `again`, looks again
//   0       1       impossible: the combiner stores 0
//   dead    any     the combiner is dead                       owner_died(): takes its place
//
// The word on which threads sleep that have not entered the queue (one of `bells_` for each kind of
// request, so that a wake-up is never spent on a thread that cannot enter while another can):
//
//   0   no thread sleeps on it                       watch(): stores 1, looks again, sleeps
//   1   threads may sleep on it                      ring(): stores 0, wakes one; the thread that
//                                                    wakes up: stores 1, looks again
//
// A thread calls ring() if it sees that another one could enter, and when it reports a death.
//
// The owner of a record:
//
//   owner   gone   meaning                                     transitions
//   0       0      the record is free                          any thread: claims it
//   self    0      the thread has the record until it dies     owner_died(): sets `gone`
//   dead    1      its owner is dead                           combiner: frees the record, or the
//                                                              object keeps it (barrier.hpp)
//
// One exchange compares the owner and sets `gone`. So a report that is late, because another one of
// the same death has overtaken it, cannot mark the next owner of the record.

namespace tabacus::sync {

/// The result of an acquisition of a reader-writer lock, a semaphore or a barrier.
enum class Acquired : std::uint32_t {
    acquired = 0,
    would_deadlock = 1,   // the caller holds it already, and would wait for itself
    timed_out = 2,        // the time is over, and the caller holds nothing
    busy = 3,             // another thread holds it, and the caller does not sleep
    owner_died = 4,       // acquired; the last owner died, so what is guarded may be inconsistent
    not_recoverable = 5,  // an owner left what is guarded inconsistent; nobody can acquire it
    full = 6,             // there are as many requests and holds as there are records
};

/// Whether a caller that settles a request withdraws it if it is not decided.
enum class GiveUp : std::uint32_t {
    at_once = 1,
    soon = 2,  // after a combiner that is at work, which may grant it
};

/// The requests and holds of one object that there may be at a time: those of 254 threads, of the
/// page, and of the tasks that await in them.
inline constexpr std::uint32_t records_max = 512;

/// What one thread has published. JavaScript sleeps on `state`, at this offset.
template <class Parks>
struct Record {
    using Cell = Parks::template Atomic<std::uint32_t>;
    Cell state{0};   // 0  0 while the record is not in use, else as the object defines it
    Cell ticket{0};  // 4  the order of the requests
};

using SharedRecord = Record<PlatformParker>;

/// `Object` provides `void combine()`, which a combiner calls. It changes records of others by
/// compare-and-exchange only.
template <class Object, class Parks, std::uint32_t Records>
class Combiner {
  public:
    using Cell = Record<Parks>::Cell;

    /// The kinds of requests that an object may have.
    static constexpr std::uint32_t kinds = 2;

    // Bits of a record's state that all objects share.
    static constexpr std::uint32_t wants = 1;    // the request is not decided yet
    static constexpr std::uint32_t own = 2;      // each object defines it; withdraw() clears it
    static constexpr std::uint32_t died = 8;     // the owner is dead: each() sets it from `gone`
    static constexpr std::uint32_t sleeps = 64;  // the owner sleeps, or is about to

    Combiner(const Combiner&) = delete;
    Combiner& operator=(const Combiner&) = delete;

    /// Gives back what a dead thread held, and withdraws what it waited for. `self` is the caller.
    /// A thread that ends calls it for itself, with `self` equal to `dead`. Any thread may call it,
    /// also repeatedly and while another thread does. Requires that `dead` does nothing else any
    /// more, not even a report of its own end.
    /// The caller combines in its own name. So if it dies in this call, the report of its death
    /// takes the combiner's place over.
    [[gnu::noinline, clang::minsize]] void owner_died(Owner dead, Owner self) {
        const std::uint32_t used = used_.load();
        for (std::uint32_t i = 0; i < used; ++i) {
            Cell& owner = owner_of(record_at(i));
            if (owner.load() != dead) continue;
            any_gone_.store(1);
            Owner still = dead;
            owner.compare_exchange_strong(still, dead | gone);
        }
        std::uint32_t word = word_.load();
        while (word >> 1 == dead && !word_.compare_exchange_weak(word, self << 1)) {
        }
        if (word >> 1 == dead) {
            wake_all();
            combine_until_quiet(self);
        } else {
            serve(self);
        }
        for (std::uint32_t kind = 0; kind < kinds; ++kind)
            ring(kind);  // it may have died with a wake-up
    }

    /// Withdraws a request. Returns false, and changes nothing, if it is decided already.
    [[gnu::noinline, clang::minsize]] bool withdraw(Owner self, Record<Parks>& record,
                                                    GiveUp when) {
        for (std::uint32_t round = 0; when == GiveUp::soon && round < Parks::spin_rounds_max;
             ++round) {
            if ((record.state.load() & wants) == 0) return false;
            if (word_.load() == 0) break;
        }
        std::uint32_t state = record.state.load();
        while ((state & wants) != 0) {
            if (!record.state.compare_exchange_weak(state, state & ~request)) continue;
            serve(self);  // others may have waited behind this request
            for (std::uint32_t kind = 0; kind < kinds; ++kind)
                if (watched(kind)) ring(kind);
            return true;
        }
        return false;
    }

  protected:
    ~Combiner() = default;

    /// What a request sets in a state.
    static constexpr std::uint32_t request = wants | own | sleeps;

    /// Returns a record of the caller's whose state has none of the bits `busy`, or else a new one;
    /// nullptr if there is none.
    [[gnu::noinline, clang::minsize]] Record<Parks>* claim(Owner self, std::uint32_t busy) {
        const std::uint32_t used = used_.load();
        std::uint32_t first = used;  // the first record without an owner
        for (std::uint32_t i = used; i-- > 0;) {
            Record<Parks>& record = record_at(i);
            const Owner owner = owner_of(record).load();
            if (owner == self && (record.state.load() & busy) == 0) return &record;
            if (owner == 0) first = i;
        }
        for (std::uint32_t i = first; i < Records; ++i) {
            // The combiners include the record before it gets an owner, because a thread may die
            // between the two.
            if (i >= used) include(i);
            std::uint32_t nobody = 0;
            Record<Parks>& record = record_at(i);
            if (owner_of(record).compare_exchange_strong(nobody, self)) return &record;
        }
        return nullptr;
    }

    /// Waits for a bounded time until `grantable()` returns true. A thread that blocks does so before
    /// it publishes a request, because a published request is handed what it waits for: until its
    /// owner runs, which takes long if it sleeps, nobody else can enter. `grantable` only reads. It
    /// is the same for all requests of a kind.
    template <class NowNs, class Grantable>
    [[gnu::noinline, clang::minsize]] void watch(std::uint32_t kind, std::int64_t deadline_ns,
                                                 NowNs& now_ns, Grantable grantable) {
        Cell& bell = bells_[kind];
        for (std::uint32_t round = 0; round < Parks::watch_rounds; ++round) {
            if (grantable()) return;
            const std::int64_t rest_ns = sleep_time(Parks::watch_max_ns, deadline_ns, now_ns);
            if (rest_ns == 0) return;
            for (std::uint32_t look = 1; look < Parks::watch_looks; ++look) {
                pause_for(Parks::spin_pause_max);
                if (grantable()) return;
            }
            pause_for(Parks::spin_pause_max);
            bell.store(1);
            if (grantable() || Parks::park(bell, 1, rest_ns) == Parked::timed_out) return;
            bell.store(1);  // others may still sleep
        }
    }

    /// Whether a thread may sleep in watch() with a request of that kind.
    bool watched(std::uint32_t kind) { return bells_[kind].load() != 0; }

    /// Wakes a thread that sleeps in watch() with a request of that kind.
    [[gnu::noinline, clang::minsize]] void ring(std::uint32_t kind) {
        bells_[kind].store(0);
        Parks::unpark_one(bells_[kind]);
    }

    /// Publishes a request in the caller's record, and lets a combiner decide it.
    [[gnu::noinline, clang::minsize]] void publish(Owner self, Record<Parks>& record,
                                                   std::uint32_t bits) {
        record.ticket.store(ticket_.fetch_add(1));
        record.state.fetch_or(bits);
        serve(self);
    }

    /// Sleeps until the request is decided, or returns false once the deadline has passed.
    template <class NowNs>
    bool await(Record<Parks>& record, std::int64_t deadline_ns, NowNs& now_ns) {
        // The first looks are close together, because a grant is handed over: until its owner sees
        // it, nobody else can enter. The looks disturb nobody, because others write this record only
        // to decide it.
        for (std::uint32_t pause = Parks::grant_pause_first; pause <= Parks::spin_pause_max;
             pause *= 2) {
            pause_for(pause);
            if ((record.state.load() & wants) == 0) return true;
        }
        for (;;) {
            std::uint32_t state = record.state.load();
            if ((state & wants) == 0) return true;
            if ((state & sleeps) == 0 &&
                !record.state.compare_exchange_weak(state, state | sleeps)) {
                continue;
            }
            if (!sleep(record.state, state | sleeps, deadline_ns, now_ns)) return false;
        }
    }

    static void pause_for(std::uint32_t rounds) {
        for (std::uint32_t i = 0; i < rounds; ++i)
            std::atomic_signal_fence(std::memory_order_seq_cst);
    }

    /// Sleeps while `word` is `value`, for at most sleep_max_ns. Returns false, and does not sleep,
    /// if the deadline has passed.
    template <class NowNs>
    static bool sleep(Cell& word, std::uint32_t value, std::int64_t deadline_ns, NowNs& now_ns) {
        const std::int64_t rest_ns = sleep_time(Parks::sleep_max_ns, deadline_ns, now_ns);
        if (rest_ns == 0) return false;
        Parks::park(word, value, rest_ns);
        return true;
    }

    /// Returns for how long a thread sleeps that does so for at most `most_ns`; 0 if the deadline has
    /// passed.
    template <class NowNs>
    static std::int64_t sleep_time(std::int64_t most_ns, std::int64_t deadline_ns, NowNs& now_ns) {
        if (deadline_ns == forever_ns) return most_ns;
        const std::int64_t left_ns = deadline_ns - now_ns();
        if (left_ns <= 0) return 0;
        return most_ns == forever_ns || left_ns < most_ns ? left_ns : most_ns;
    }

    /// Combines, or tells the thread that combines to look again.
    [[gnu::noinline, clang::minsize]] void serve(Owner self) {
        std::uint32_t word = 0;
        while (!word_.compare_exchange_weak(word, self << 1)) {
            // Another thread combines, unless it has just ended.
            if (word != 0 &&
                ((word & again) != 0 || word_.compare_exchange_weak(word, word | again))) {
                return;
            }
            word = 0;
        }
        combine_until_quiet(self);
    }

    /// Calls `act()` as a combiner, unless another thread combines. Returns whether it has called.
    template <class Act>
    bool try_combining(Owner self, Act act) {
        std::uint32_t word = 0;
        if (!word_.compare_exchange_strong(word, self << 1)) return false;
        act();
        if (!end_combining(self)) combine_until_quiet(self);
        return true;
    }

    /// Gives the record of a dead thread back. Only a combiner calls it.
    void free(Record<Parks>& record) {
        record.state.store(0);
        owner_of(record).store(0);
    }

    /// Decides a request, unless it is withdrawn or its owner is dead. `state` is the state that the
    /// caller has read. Clears the bits `less` and adds `more`. Wakes the owner if it sleeps. Returns
    /// whether it has decided.
    [[gnu::noinline, clang::minsize]] static bool decide(Record<Parks>& record, std::uint32_t state,
                                                         std::uint32_t less, std::uint32_t more) {
        while ((state & (wants | died)) == wants) {
            const std::uint32_t decision = (state & ~(less | sleeps)) + more;
            if (!record.state.compare_exchange_weak(state, decision)) continue;
            if ((state & sleeps) != 0) Parks::unpark_all(record.state);
            return true;
        }
        return false;
    }

    /// Whether the ticket of `one` is older. Tickets wrap.
    static bool older(Record<Parks>& one, Record<Parks>* other) {
        return other == nullptr ||
               static_cast<std::int32_t>(one.ticket.load() - other->ticket.load()) < 0;
    }

    /// Returns the caller's hold whose state has `bits` among those of `mask`; nullptr if none has.
    [[gnu::noinline, clang::minsize]] Record<Parks>* find(Owner self, std::uint32_t mask,
                                                          std::uint32_t bits) {
        const std::uint32_t used = used_.load();
        for (std::uint32_t i = 0; i < used; ++i) {
            Record<Parks>& record = record_at(i);
            if (owner_of(record).load() == self && (record.state.load() & mask) == bits)
                return &record;
        }
        return nullptr;
    }

    /// Returns the word of a record's owner.
    Cell& owner_of(const Record<Parks>& record) {
        return owner_[static_cast<std::size_t>(&record - record_.data())].word;
    }

    /// Calls `see(record, state)` for all records in use. `state` has `died` if the owner is dead.
    template <class See>
    void each(See see) {
        const std::uint32_t used = used_.load();
        const std::uint32_t any_gone = any_gone_.load();
        for (std::uint32_t i = 0; i < used; ++i) {
            Record<Parks>& record = record_at(i);
            see(record, state_of(record, any_gone));
        }
    }

    /// Returns the state of a record, with `died` if `any_gone` is not 0 and the owner is dead.
    [[gnu::noinline, clang::minsize]] std::uint32_t state_of(const Record<Parks>& record,
                                                             std::uint32_t any_gone) {
        // Reads the owner first: a state that is read after `gone` is the dead thread's last one.
        const bool dead = any_gone != 0 && (owner_of(record).load() & gone) != 0;
        return record.state.load() | (dead ? died : 0);
    }

  private:
    friend Object;

    Combiner() = default;

    static constexpr std::uint32_t again = 1;
    static constexpr Owner gone = 1U << 31;
    static_assert(owner_max < gone);

    // Two records that are used one after the other are on different cache lines, because each
    // thread writes its own. The stride is prime, so that every record is reached.
    static constexpr std::uint32_t stride = 17;
    static_assert(Records % stride != 0);

    /// As large as a record, so that a record and its owner are equally far apart at every index.
    struct OwnerOfRecord {
        Cell word{0};
        Cell unused{0};
    };
    static_assert(sizeof(OwnerOfRecord) == sizeof(Record<Parks>));

    Object& object() { return *static_cast<Object*>(this); }

    [[gnu::noinline, clang::minsize]] Record<Parks>& record_at(std::uint32_t index) {
        return record_[index * stride % Records];
    }

    void include(std::uint32_t index) {
        std::uint32_t used = used_.load();
        while (used <= index && !used_.compare_exchange_weak(used, index + 1)) {
        }
    }

    [[gnu::noinline, clang::minsize]] void combine_until_quiet(Owner self) {
        do object().combine();
        while (!end_combining(self));
    }

    /// Ends combining, or returns false if the combiner has to look again.
    [[gnu::noinline, clang::minsize]] bool end_combining(Owner self) {
        std::uint32_t word = self << 1;
        if (word_.compare_exchange_strong(word, 0)) return true;
        word_.store(self << 1);  // only `again` can have been set
        return false;
    }

    /// Wakes all waiters, because a dead combiner may have granted requests without a wake-up.
    void wake_all() {
        each([](Record<Parks>& record, std::uint32_t) { Parks::unpark_all(record.state); });
        object().wake_others();
    }

    Cell word_{0};
    Cell used_{0};      // the combiners look at the first `used_` records
    Cell ticket_{0};    // the next request's
    Cell any_gone_{0};  // whether an owner was ever marked as gone
    // Whether a thread may sleep in watch(), on this word, for each kind of request.
    std::array<Cell, kinds> bells_;
    std::array<Record<Parks>, Records> record_;
    // The owners are apart from the states, because every thread reads all owners to find its own
    // record, and they hardly ever change.
    std::array<OwnerOfRecord, Records> owner_{};
};

}  // namespace tabacus::sync
