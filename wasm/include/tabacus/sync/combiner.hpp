#pragma once

#include <array>
#include <atomic>
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
// instructions: what it held and what it waited for can be told from the records. A combiner that
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
    Cell owner{0};   // 0  the thread that has the record until it dies; 0 if no thread has it
    Cell state{0};   // 4  0 while the record is not in use, else as the object defines it
    Cell ticket{0};  // 8  the order of the requests
};

using SharedRecord = Record<PlatformParker>;

/// `Object` provides `void combine()`, which a combiner calls. It changes records of others by
/// compare-and-exchange only.
template <class Object, class Parks, std::uint32_t Records>
class Combiner {
  public:
    using Cell = Record<Parks>::Cell;

    // Bits of a record's state that all objects share.
    static constexpr std::uint32_t wants = 1;    // the request is not decided yet
    static constexpr std::uint32_t own = 2;      // the object's; withdraw() clears it
    static constexpr std::uint32_t died = 8;     // the owner is dead; the next combiner clears up
    static constexpr std::uint32_t sleeps = 64;  // the owner sleeps, or is about to

    Combiner(const Combiner&) = delete;
    Combiner& operator=(const Combiner&) = delete;

    /// Returns what a dead thread held, and withdraws what it waited for. Any thread may call it,
    /// also again, while others work; a thread that ends calls it for itself. Requires that `dead`
    /// does nothing else any more, and that two calls for one thread do not overlap, unless the
    /// thread that made the first call has died.
    /// It combines in the name of the dead thread. So if a thread dies while it reports its own end,
    /// the next report of its death takes the combiner's place over.
    [[gnu::noinline, clang::minsize]] void owner_died(Owner dead) {
        const std::uint32_t used = used_.load();
        for (std::uint32_t i = 0; i < used; ++i) {
            if (record_[i].owner.load() == dead) record_[i].state.fetch_or(died);
        }
        std::uint32_t word = word_.load();
        while (word >> 1 == dead) {
            if (!word_.compare_exchange_weak(word, dead << 1)) continue;
            wake_all();
            return combine_until_quiet(dead);
        }
        serve(dead);
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
            const Owner owner = record_[i].owner.load();
            if (owner == self && (record_[i].state.load() & busy) == 0) return &record_[i];
            if (owner == 0) first = i;
        }
        for (std::uint32_t i = first; i < Records; ++i) {
            // The combiners include the record before it gets an owner, because a thread may die
            // between the two.
            if (i >= used) include(i);
            std::uint32_t nobody = 0;
            if (record_[i].owner.compare_exchange_strong(nobody, self)) return &record_[i];
        }
        return nullptr;
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
        for (std::uint32_t pause = Parks::spin_pause_first; pause <= Parks::spin_pause_max;
             pause *= 2) {
            for (std::uint32_t i = 0; i < pause; ++i)
                std::atomic_signal_fence(std::memory_order_seq_cst);
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

    /// Sleeps while `word` is `value`, for at most sleep_max_ns. Returns false, and does not sleep,
    /// if the deadline has passed.
    template <class NowNs>
    static bool sleep(Cell& word, std::uint32_t value, std::int64_t deadline_ns, NowNs& now_ns) {
        std::int64_t rest_ns = Parks::sleep_max_ns;
        if (deadline_ns != forever_ns) {
            const std::int64_t left_ns = deadline_ns - now_ns();
            if (left_ns <= 0) return false;
            if (rest_ns == forever_ns || left_ns < rest_ns) rest_ns = left_ns;
        }
        Parks::park(word, value, rest_ns);
        return true;
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

    /// Gives the record of a dead thread back. Only a combiner calls it.
    static void free(Record<Parks>& record) {
        record.state.store(0);
        record.owner.store(0);
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
            if ((record_[i].state.load() & mask) == bits && record_[i].owner.load() == self)
                return &record_[i];
        }
        return nullptr;
    }

    /// Calls `see(record, state)` for all records in use.
    template <class See>
    void each(See see) {
        const std::uint32_t used = used_.load();
        for (std::uint32_t i = 0; i < used; ++i) see(record_[i], record_[i].state.load());
    }

  private:
    friend Object;

    Combiner() = default;

    static constexpr std::uint32_t again = 1;

    Object& object() { return *static_cast<Object*>(this); }

    void include(std::uint32_t index) {
        std::uint32_t used = used_.load();
        while (used <= index && !used_.compare_exchange_weak(used, index + 1)) {
        }
    }

    void combine_until_quiet(Owner self) {
        for (;;) {
            object().combine();
            std::uint32_t word = self << 1;
            if (word_.compare_exchange_strong(word, 0)) return;
            word_.store(self << 1);  // only `again` can have been set
        }
    }

    /// Wakes all waiters, because a dead combiner may have granted requests without a wake-up.
    void wake_all() {
        each([](Record<Parks>& record, std::uint32_t) { Parks::unpark_all(record.state); });
        object().wake_others();
    }

    Cell word_{0};
    Cell used_{0};    // the combiners look at the first `used_` records
    Cell ticket_{0};  // the next request's
    std::array<Record<Parks>, Records> record_;
};

}  // namespace tabacus::sync
