#pragma once

#include <cstdint>

#include "tabacus/sync/combiner.hpp"

// A counting semaphore whose permits come back from dead threads.
//
// Promises: permits are granted in the order of the requests. A thread that blocks publishes its
// request after it has watched the semaphore for a bounded time, in which others may overtake it
// (Combiner::watch()). Each permit is accounted to the thread that acquired it, so that all permits
// of a thread that dies can be acquired again, and none twice. A death at any instruction loses no
// permit and invents none, because no number of free permits is stored: it is what the semaphore
// has, minus what the accounts have. Each acquisition and each release changes one word.
// A release takes a permit from the account of the caller, or if that has none, from another one,
// or if none has any, it adds a permit to the semaphore. So a producer may release what a consumer
// acquires, as with std::counting_semaphore.
//
// The state of a record: the account of its owner in the upper bits (permit and above), and
//
//   bits              meaning                         transitions
//   0                 not in use by a request         owner: requests; or, as the combiner,
//                                                     grants itself a free permit: `unsettled`
//   wants, unsettled  waits for a permit              combiner: adds it to the account, and
//                                                     clears `wants`; owner: withdraws
//   unsettled         granted, but the caller has     owner: clears it
//                     not got the outcome yet
//   any, died         its owner is dead               combiner: frees the record
//
// Any thread takes permits from the account in any state. A record that is `unsettled` serves one
// request, because several tasks of one thread may wait at the same time.
//
// A state with `wants` may have `sleeps` as well, and its owner then has to be woken.
//
// Whether a release lets a combiner look (`queue_`), which only a combiner changes:
//
//   empty     no request waits                       combiner: `waiting`, if it leaves a request
//                                                    undecided, and then it grants once more
//   waiting   a request may wait                     combiner: `empty`, if it leaves none

namespace tabacus::sync {

/// The most permits that a semaphore can have.
inline constexpr std::uint32_t permits_max = (1U << 23) - 1;

enum class ReleaseResult : std::uint32_t { released = 0, out_of_range = 1 };

template <class Parks = PlatformParker, std::uint32_t Records = records_max>
class BasicSemaphore : public Combiner<BasicSemaphore<Parks, Records>, Parks, Records> {
    using Base = Combiner<BasicSemaphore, Parks, Records>;
    friend Base;

  public:
    using Base::died;
    using Base::wants;
    using typename Base::Cell;

    static constexpr std::uint32_t unsettled = Base::own;
    static constexpr std::uint32_t permit = 1U << 8;

    /// Gives the semaphore its permits, unless it has them already. Returns the number that the
    /// first call gave. Every user calls it before the other functions.
    std::uint32_t begin(std::uint32_t permits) {
        std::uint32_t none = 0;
        return initial_.compare_exchange_strong(none, permits + 1) ? permits : none - 1;
    }

    /// Sleeps until the caller has a permit. Returns `acquired` or `full`.
    Acquired acquire(Owner self) {
        return acquire_until(self, forever_ns, [] { return std::int64_t{0}; });
    }

    /// Acquires as acquire() does, but returns `timed_out` once `now_ns()` has reached the deadline.
    template <class NowNs>
    Acquired acquire_until(Owner self, std::int64_t deadline_ns, NowNs now_ns) {
        Record<Parks>* record = watch_and_request(self, deadline_ns, now_ns);
        if (record == nullptr) return Acquired::full;
        this->await(*record, deadline_ns, now_ns);
        return settle(self, *record, GiveUp::at_once);
    }

    /// Acquires a permit if no wait is needed; else returns `busy`.
    Acquired try_acquire(Owner self) {
        Record<Parks>* record = request(self);
        if (record == nullptr) return Acquired::full;
        const Acquired got = settle(self, *record, GiveUp::soon);
        return got == Acquired::timed_out ? Acquired::busy : got;
    }

    /// Releases `n` permits. Returns `out_of_range`, and adds none, if the semaphore would have more
    /// than permits_max; permits that are in accounts are released in any case.
    ReleaseResult release(Owner self, std::uint32_t n = 1) {
        std::uint32_t left = take_from_accounts(self, true, n);
        if (left != 0) left = take_from_accounts(self, false, left);
        const auto result = left == 0 ? ReleaseResult::released : add_permits(left);
        if (queue_.load() != empty) this->serve(self);
        ring_if_grantable();
        return result;
    }

    /// Publishes a request. The caller sleeps on the record's state while it `wants`, and then
    /// calls settle(). Returns nullptr if there is no record.
    [[gnu::noinline, clang::minsize]] Record<Parks>* request(Owner self) {
        Record<Parks>* record = claim_record(self);
        if (record != nullptr) request_in(self, *record);
        return record;
    }

    /// Publishes a request, but first waits for a bounded time until it would be granted at once.
    /// Requires that the caller may sleep. The caller then does as after request().
    template <class NowNs>
    Record<Parks>* watch_and_request(Owner self, std::int64_t deadline_ns, NowNs& now_ns) {
        Record<Parks>* record = claim_record(self);
        if (record == nullptr || take(self, *record)) return record;
        this->watch(any_request, deadline_ns, now_ns, [&] { return grantable(); });
        request_in(self, *record);
        return record;
    }

    /// Returns the outcome of a request. Withdraws it, and returns `timed_out`, if it is not decided.
    /// Requires one call for each request.
    Acquired settle(Owner self, Record<Parks>& record, GiveUp give_up) {
        if (this->withdraw(self, record, give_up)) return Acquired::timed_out;
        record.state.fetch_sub(unsettled);
        ring_if_grantable();
        return Acquired::acquired;
    }

    /// Returns the number of permits that can be acquired, which others may change meanwhile.
    std::uint32_t available() {
        const std::uint32_t total = permits();
        std::uint32_t held = 0;
        this->each([&](Record<Parks>&, std::uint32_t state) { held += state / permit; });
        return total > held ? total - held : 0;
    }

    /// Whether a request would be granted at once, as far as this thread sees.
    [[gnu::noinline, clang::minsize]] bool grantable() {
        const std::uint32_t total = permits();
        std::uint32_t held = 0;
        bool queue = false;
        this->each([&](Record<Parks>&, std::uint32_t state) {
            held += state / permit;
            queue |= (state & wants) != 0;
        });
        return held < total && !queue;
    }

  private:
    /// Whether requests wait, so that a release lets a combiner look. Only a combiner writes it.
    enum Queue : std::uint32_t { empty = 0, waiting = 1 };

    /// The one kind of request, as the base counts them.
    static constexpr std::uint32_t any_request = 0;

    void wake_others() {}

    [[gnu::noinline, clang::minsize]] void request_in(Owner self, Record<Parks>& record) {
        if (!take(self, record)) this->publish(self, record, wants | unsettled);
    }

    Record<Parks>* claim_record(Owner self) { return this->claim(self, wants | unsettled | died); }

    /// Grants the caller's request, if there is a permit for which nobody waits. A combiner does so:
    /// meanwhile nobody else grants.
    [[gnu::noinline, clang::minsize]] bool take(Owner self, Record<Parks>& record) {
        bool taken = false;
        this->try_combining(self, [&] {
            taken = grantable();
            if (taken) record.state.fetch_add(permit | unsettled);
        });
        return taken;
    }

    [[gnu::noinline, clang::minsize]] void ring_if_grantable() {
        if (this->watched(any_request) && grantable()) this->ring(any_request);
    }

    std::uint32_t permits() { return initial_.load() - 1 + added_.load(); }

    /// Takes `n` permits from the accounts of the caller, or from all accounts. Returns how many were
    /// not there.
    [[gnu::noinline, clang::minsize]] std::uint32_t take_from_accounts(Owner self, bool own,
                                                                       std::uint32_t n) {
        this->each([&](Record<Parks>& record, std::uint32_t state) {
            if (own && this->owner_of(record).load() != self) return;
            for (;;) {
                const std::uint32_t taken = state / permit < n ? state / permit : n;
                if (taken == 0) return;
                if (!record.state.compare_exchange_weak(state, state - taken * permit)) continue;
                n -= taken;
                return;
            }
        });
        return n;
    }

    ReleaseResult add_permits(std::uint32_t n) {
        std::uint32_t added = added_.load();
        do {
            if (n > permits_max || initial_.load() - 1 + added > permits_max - n)
                return ReleaseResult::out_of_range;
        } while (!added_.compare_exchange_weak(added, added + n));
        return ReleaseResult::released;
    }

    [[gnu::noinline, clang::minsize]] void combine() {
        const Queue queue = grant() ? waiting : empty;
        if (queue_.load() == queue) return;
        queue_.store(queue);
        if (queue == waiting) grant();  // a release may have read the old value meanwhile
    }

    /// Grants permits to the oldest requests, and returns whether others may wait. While it looks,
    /// an account can only lose permits, and the semaphore can only get more; so it never sees more
    /// free permits than there are. Each look counts the requests anew, because the oldest one may have
    /// been published since the look before. One that is published later makes a combiner look again.
    [[gnu::noinline, clang::minsize]] bool grant() {
        const std::uint32_t total = permits();
        std::uint32_t held = 0;
        std::uint32_t left = 0;
        this->each([&](Record<Parks>& record, std::uint32_t state) {
            if ((state & died) != 0) {
                this->free(record);
            } else {
                held += state / permit;
                left += state & wants;
            }
        });
        while (left != 0 && held < total) {
            left = 0;
            Record<Parks>* oldest = nullptr;
            std::uint32_t oldest_state = 0;
            this->each([&](Record<Parks>& record, std::uint32_t state) {
                if ((state & (wants | died)) != wants) return;
                ++left;
                if (!this->older(record, oldest)) return;
                oldest = &record;
                oldest_state = state;
            });
            if (oldest == nullptr || !this->decide(*oldest, oldest_state, wants, permit)) continue;
            ++held;
            --left;
        }
        return left != 0;
    }

    Cell initial_{0};  // 0 until begin(), then one more than the permits at the beginning
    Cell added_{0};    // permits that releases have added
    Cell queue_{empty};
};

using Semaphore = BasicSemaphore<>;

}  // namespace tabacus::sync
