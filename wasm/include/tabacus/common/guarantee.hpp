// What a counter promises, as data: the laboratory's matrix compares it with what it computes, and
// the public API shows it.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace tabacus {

/// When a tab sees what others wrote to localStorage (wasm/src/lab/rules/storage_area.hpp).
enum class StorageModel : std::uint8_t {
    mutexed,      // a turn of the event loop is atomic: HTML's former storage mutex
    interleaved,  // each operation is atomic, and at once visible to everyone
    cached,       // each process has a copy of its own: what browsers do
};
constexpr std::size_t storage_model_count = 3;

/// What may happen to a tab or its origin beside other tabs' counting.
enum class FaultClass : std::uint8_t {
    none,
    kill,               // the tab's process dies
    freeze,             // the tab stands still for any time, and goes on
    throttle,           // its timers run once a minute
    bfcache,            // into the back/forward cache, and back
    connection_closed,  // the browser drops the tab's connection to the database
    database_lost,      // the database is deleted under everyone
    storage_cleared,    // database and localStorage are
    quota,              // a store is full
    corrupt_record,     // a stored record becomes unreadable
    browser_crash,      // the whole browser dies at once
};
constexpr std::size_t fault_class_count = 11;

/// A set of faults. One that holds `none` holds all: what happens without a fault happens with any.
class FaultClasses {
  public:
    constexpr FaultClasses() = default;
    constexpr FaultClasses(std::initializer_list<FaultClass> faults) {
        for (const auto fault : faults) bits_ |= bit(fault);
        if ((bits_ & bit(FaultClass::none)) != 0) bits_ = (1U << fault_class_count) - 1;
    }
    [[nodiscard]] constexpr bool has(FaultClass fault) const { return (bits_ & bit(fault)) != 0; }
    [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
    /// Bit n stands for the fault of number n.
    [[nodiscard]] constexpr std::uint32_t bits() const { return bits_; }
    friend constexpr bool operator==(FaultClasses, FaultClasses) = default;

  private:
    static constexpr std::uint32_t bit(FaultClass fault) {
        return std::uint32_t{1} << static_cast<unsigned>(fault);
    }
    std::uint32_t bits_ = 0;
};

/// When a strategy counts wrongly. Spoken of increments whose add() and a later flush() resolved,
/// and of what a tab that is opened once everything has come to rest reads. What the set does not
/// hold is promised under every schedule; what it holds may happen, or may merely not be known not
/// to.
struct Losses {
    /// The value may be less than all that was flushed, in each storage model.
    std::array<FaultClasses, storage_model_count> lost;
    /// The value may be more than all that was attempted.
    std::array<FaultClasses, storage_model_count> exceeded;
    /// An add() that resolved dies with its tab unless it was flushed.
    bool before_flush = false;

    [[nodiscard]] constexpr bool may_lose(StorageModel model, FaultClass fault) const {
        return lost.at(static_cast<std::size_t>(model)).has(fault);
    }
    [[nodiscard]] constexpr bool may_exceed(StorageModel model, FaultClass fault) const {
        return exceeded.at(static_cast<std::size_t>(model)).has(fault);
    }
    friend constexpr bool operator==(const Losses&, const Losses&) = default;
};

/// `faults`, the same in each storage model.
constexpr std::array<FaultClasses, storage_model_count> in_every_model(FaultClasses faults) {
    return {faults, faults, faults};
}

/// What is lost with the store itself, whoever writes into it: by a strategy that keeps all in the
/// database, and by one that keeps all in localStorage. A crash of the browser costs a `relaxed`
/// commit and the last writes to localStorage (docs/decisions/0007).
constexpr FaultClasses lost_with_database(bool strict) {
    constexpr FaultClasses lost{FaultClass::database_lost, FaultClass::storage_cleared,
                                FaultClass::corrupt_record};
    constexpr FaultClasses lost_if_relaxed{FaultClass::database_lost, FaultClass::storage_cleared,
                                           FaultClass::corrupt_record, FaultClass::browser_crash};
    return strict ? lost : lost_if_relaxed;
}
constexpr FaultClasses lost_with_storage{FaultClass::storage_cleared, FaultClass::corrupt_record,
                                         FaultClass::browser_crash};
/// What is lost of single-writer keys where a process's writes leave it late (cached): also the
/// last ones of a process that dies, as one does whose page may not enter the back/forward cache.
constexpr FaultClasses lost_with_process{FaultClass::kill, FaultClass::bfcache,
                                         FaultClass::storage_cleared, FaultClass::corrupt_record,
                                         FaultClass::browser_crash};
constexpr FaultClasses always{FaultClass::none};

struct Guarantee {
    std::string_view strategy;
    std::string_view lost;        // when an update can be lost
    std::string_view reads_wait;  // what a read waits for
    std::string_view accuracy;    // what a read may miss or see too early
    std::string_view rows;        // what it stores per counter
    std::string_view needs;       // comma-separated: storage, indexeddb, web-locks, channel
    std::string_view durability;  // strict, relaxed, memory
    Losses losses;
};

}  // namespace tabacus
