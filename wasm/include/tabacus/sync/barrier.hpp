#pragma once

#include <cstdint>

#include "tabacus/sync/combiner.hpp"

// A barrier for a number of parties, which it lets pass together, phase after phase.
//
// Promises: a phase ends once as many parties have arrived in it as the barrier has. A thread is a
// party from its first arrival, or from join(). A party that dies is counted out, as by
// arrive_and_drop() of std::barrier: it counts as arrived in this phase and in all later ones. So
// nobody waits for the dead. An arrival whose time is over is taken back, unless the phase has
// ended meanwhile.
// Does not provide: knowledge of a thread that dies before it is a party.
//
// The state of a record (`ticket` is the phase of the arrival):
//
//   bits           meaning                                  transitions
//   0              a party that has not arrived             owner: arrives or drops
//   arrived        arrived in the phase `ticket`            owner: leaves when the phase has ended,
//                                                           or asks to take the arrival back
//   wants          asks to take the arrival back            combiner: `taken_back`, or `passed` if
//                                                           the phase has ended
//   taken_back     the arrival does not count               owner: leaves
//   passed         the phase had ended                      owner: leaves
//   dropped        counts as arrived in every phase         none
//   any, died      its owner is dead                        combiner: stores `dropped`

namespace tabacus::sync {

/// The most parties that a barrier can have: one record for each.
inline constexpr std::uint32_t parties_max = records_max;

template <class Parks = PlatformParker, std::uint32_t Records = records_max>
class BasicBarrier : public Combiner<BasicBarrier<Parks, Records>, Parks, Records> {
    using Base = Combiner<BasicBarrier, Parks, Records>;
    friend Base;

  public:
    using Base::died;
    using Base::wants;
    using typename Base::Cell;

    static constexpr std::uint32_t taken_back = 2;
    static constexpr std::uint32_t arrived = 4;
    static constexpr std::uint32_t passed = 16;
    static constexpr std::uint32_t dropped = 32;

    /// Gives the barrier its parties, unless it has them already. Returns the number that the first
    /// call gave. Every user calls it before the other functions.
    std::uint32_t begin(std::uint32_t parties) {
        std::uint32_t none = 0;
        return parties_.compare_exchange_strong(none, parties) ? parties : none;
    }

    /// Makes the caller a party before it arrives. Returns false if there is no record.
    bool join(Owner self) { return this->claim(self, ~0U) != nullptr; }

    /// Arrives, and sleeps until the phase ends. Returns `acquired` or `full`.
    Acquired arrive_and_wait(Owner self) {
        return arrive_and_wait_until(self, forever_ns, [] { return std::int64_t{0}; });
    }

    /// Arrives as arrive_and_wait() does. Takes the arrival back and returns `timed_out` if
    /// `now_ns()` has reached the deadline before the phase has ended.
    template <class NowNs>
    Acquired arrive_and_wait_until(Owner self, std::int64_t deadline_ns, NowNs now_ns) {
        Record<Parks>* record = arrive(self);
        if (record == nullptr) return Acquired::full;
        while (waiting(*record)) {
            if (this->sleep(phase_, record->ticket.load(), deadline_ns, now_ns)) continue;
            take_back(self, *record);
            this->await(*record, forever_ns, now_ns);
            return leave(*record) ? Acquired::acquired : Acquired::timed_out;
        }
        leave(*record);
        return Acquired::acquired;
    }

    /// Arrives, in all later phases as well. Returns false if there is no record.
    bool arrive_and_drop(Owner self) {
        Record<Parks>* record = this->claim(self, ~0U);
        if (record == nullptr) return false;
        record->state.store(dropped);
        this->serve(self);
        return true;
    }

    /// Arrives. The caller sleeps on phase() while it is the record's ticket, and then leaves; or
    /// it takes the arrival back. Returns nullptr if there is no record.
    Record<Parks>* arrive(Owner self) {
        Record<Parks>* record = this->claim(self, ~0U);
        if (record == nullptr) return nullptr;
        record->ticket.store(phase_.load());
        record->state.store(arrived);
        this->serve(self);
        return record;
    }

    /// Asks to take an arrival back. Requires an arrival of the caller's. The caller sleeps on the
    /// record's state while it `wants`, and then leaves.
    void take_back(Owner self, Record<Parks>& record) {
        record.state.store(wants);
        this->serve(self);
    }

    /// Ends an arrival. Returns whether its phase has ended; if not, the arrival was taken back.
    static bool leave(Record<Parks>& record) { return record.state.exchange(0) != taken_back; }

    [[nodiscard]] bool waiting(Record<Parks>& record) {
        return phase_.load() == record.ticket.load();
    }

    /// The number of the phase, which JavaScript sleeps on.
    auto& phase() { return phase_; }

  private:
    void wake_others() { Parks::unpark_all(phase_); }

    [[gnu::noinline, clang::minsize]] void combine() {
        const std::uint32_t phase = phase_.load();
        std::uint32_t here = 0;
        std::uint32_t gone = 0;
        this->each([&](Record<Parks>& record, std::uint32_t state) {
            if ((state & died) != 0) record.state.store(dropped);
            if ((state & (died | dropped)) != 0) {
                ++gone;
            } else if (state == arrived && record.ticket.load() == phase) {
                ++here;
            } else if ((state & wants) != 0) {
                this->decide(record, state, wants,
                             record.ticket.load() == phase ? taken_back : passed);
            }
        });
        if (here == 0 || here + gone < parties_.load()) return;
        phase_.store(phase + 1);
        Parks::unpark_all(phase_);
    }

    Cell parties_{0};
    Cell phase_{0};
};

using Barrier = BasicBarrier<>;

}  // namespace tabacus::sync
