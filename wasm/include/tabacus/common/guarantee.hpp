// Guarantee: what a counter promises, as data. The laboratory's matrix compares it with what it
// computes, and the public API shows it.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace tabacus {

/// When a tab sees what other tabs wrote to localStorage (wasm/src/lab/rules/storage_area.hpp).
enum class StorageModel : std::uint8_t {
    mutexed,      // a turn of the event loop is atomic, as under HTML's storage mutex
    interleaved,  // each operation is atomic, and visible to every tab at once
    cached,       // each process has a copy of its own, as in browsers
};
constexpr std::size_t storage_model_count = 3;

/// A fault that may happen to a tab or its origin while tabs count.
enum class FaultClass : std::uint8_t {
    none,
    kill,               // the tab's process dies
    freeze,             // the tab stops for any length of time, then goes on
    throttle,           // the tab's timers run once a minute
    bfcache,            // the page enters the back/forward cache, and comes back
    connection_closed,  // the browser drops the tab's connection to the database
    database_lost,      // the database is deleted while tabs use it
    storage_cleared,    // the database and localStorage are deleted
    quota,              // a store is full
    corrupt_record,     // a stored record becomes unreadable
    browser_crash,      // the whole browser dies at once
};
constexpr std::size_t fault_class_count = 11;

/// A set of faults. A set that holds `none` holds every fault, because what can happen without a
/// fault can happen with any fault.
class FaultClasses {
  public:
    constexpr FaultClasses() = default;
    constexpr FaultClasses(std::initializer_list<FaultClass> faults) {
        for (const auto fault : faults) bits_ |= bit(fault);
        if ((bits_ & bit(FaultClass::none)) != 0) bits_ = (1U << fault_class_count) - 1;
    }
    [[nodiscard]] constexpr bool has(FaultClass fault) const { return (bits_ & bit(fault)) != 0; }
    [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
    /// The set as bits: bit n is set if the fault with the number n is a member.
    [[nodiscard]] constexpr std::uint32_t bits() const { return bits_; }
    friend constexpr bool operator==(FaultClasses, FaultClasses) = default;

  private:
    static constexpr std::uint32_t bit(FaultClass fault) {
        return std::uint32_t{1} << static_cast<unsigned>(fault);
    }
    std::uint32_t bits_ = 0;
};

/// Under which storage model and which fault a strategy may count wrongly.
///
/// The value in question is what a new tab reads once all tabs are idle. It is compared with the
/// increments whose add() and a later flush() resolved. If a fault is not in the set, the value is
/// correct under every schedule with that fault. If the fault is in the set, the value may be
/// wrong: either a schedule is known that makes it wrong, or no proof excludes one.
struct Losses {
    /// For each storage model, the faults with which the value may be less than the sum of all
    /// flushed increments.
    std::array<FaultClasses, storage_model_count> lost;
    /// For each storage model, the faults with which the value may be more than the sum of all
    /// increments that were attempted.
    std::array<FaultClasses, storage_model_count> exceeded;
    /// Whether an increment whose add() resolved is lost with its tab unless it was flushed.
    bool before_flush = false;

    [[nodiscard]] constexpr bool may_lose(StorageModel model, FaultClass fault) const {
        return lost.at(static_cast<std::size_t>(model)).has(fault);
    }
    [[nodiscard]] constexpr bool may_exceed(StorageModel model, FaultClass fault) const {
        return exceeded.at(static_cast<std::size_t>(model)).has(fault);
    }
    friend constexpr bool operator==(const Losses&, const Losses&) = default;
};

/// Returns `faults` for each storage model.
constexpr std::array<FaultClasses, storage_model_count> in_every_model(FaultClasses faults) {
    return {faults, faults, faults};
}

/// The faults that lose increments of a strategy that keeps everything in the database. `strict`:
/// whether its commits have the durability `strict`; a crash of the browser may lose a `relaxed`
/// commit (docs/decisions/0007).
constexpr FaultClasses lost_with_database(bool strict) {
    constexpr FaultClasses lost{FaultClass::database_lost, FaultClass::storage_cleared,
                                FaultClass::corrupt_record};
    constexpr FaultClasses lost_if_relaxed{FaultClass::database_lost, FaultClass::storage_cleared,
                                           FaultClass::corrupt_record, FaultClass::browser_crash};
    return strict ? lost : lost_if_relaxed;
}
/// The faults that lose increments of a strategy that keeps everything in localStorage. A crash of
/// the browser loses the last writes to localStorage (docs/decisions/0007).
constexpr FaultClasses lost_with_storage{FaultClass::storage_cleared, FaultClass::corrupt_record,
                                         FaultClass::browser_crash};
/// The faults that lose increments of a strategy with one writer for each key of localStorage, in
/// the storage model `cached`. A process's writes leave it late there, so the last writes of a
/// process that dies are lost. A process also dies if its page is left and cannot enter the
/// back/forward cache.
constexpr FaultClasses lost_with_process{FaultClass::kill, FaultClass::bfcache,
                                         FaultClass::storage_cleared, FaultClass::corrupt_record,
                                         FaultClass::browser_crash};
/// Increments may be lost without any fault.
constexpr FaultClasses always{FaultClass::none};

/// What a strategy promises. The texts are for people.
struct Guarantee {
    std::string_view strategy;
    std::string_view lost;        // when an update can be lost
    std::string_view reads_wait;  // what a read waits for
    std::string_view accuracy;    // what a read may miss or see too early
    std::string_view rows;        // what the strategy stores for each counter
    std::string_view needs;       // a list with commas: storage, indexeddb, web-locks, channel
    std::string_view durability;  // "strict", "relaxed" or "memory"
    Losses losses;
};

}  // namespace tabacus
