// Footprint: what one step of a simulated origin looked at and changed.
//
// Two steps commute when neither touches what the other changes. An explorer needs no more than
// that to leave out schedules that only exchange commuting steps. A footprint may say too much (the
// exploration is slower), never too little (it would be unsound).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "digest.hpp"

namespace tabacus::lab {

enum class AccessKind : std::uint8_t {
    read,
    bump,   // commutes with other bumps: a set that grows, a sum
    write,  // commutes with nothing
};

/// A kind in the high byte, and which one of the kind.
using ObjectId = std::uint64_t;

enum class Object : std::uint8_t {
    tab,          // written by whatever begins a turn of the tab
    turn,         // the same, and by what goes on with one: orders them, and no more
    pulse,        // whether the tab runs; read by all that it does
    alive,        // whether it takes messages
    queue,        // the far end of a source's queue
    source,       // the near end
    lock,         // one name of the lock manager
    locks,        // all names
    order,        // the transactions of a store, in the order they were begun
    settled,      // the transactions of a store that have ended: orders them, and no more
    transaction,  // one of them
    database,     // its quota, its failures
    existence,    // whether there is one
    item,         // a key of localStorage
    items,        // which keys it has
    copy,         // a key of a process's copy
    copied,       // which keys that has
    area,         // the order in which writes reach the area
    processes,    // which there are
    channel,      // the listeners of a name
    now,          // what time it is
    timers,       // the timers that wait
    faults,       // how many more there may be
    scenario,     // what a scenario's judges know
    word,         // a modelled atomic
};

constexpr ObjectId object_id(Object kind, std::uint64_t which = 0) {
    constexpr std::uint64_t mask = (std::uint64_t{1} << 56U) - 1;
    return static_cast<std::uint64_t>(kind) << 56U | (which & mask);
}

/// Names that share a number only make two objects one, which is safe. FNV-1a.
constexpr ObjectId object_id(Object kind, std::string_view name, std::uint64_t of = 0) {
    std::uint64_t hash = 0xcbf29ce484222325U ^ of;
    for (const char c : name) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
    return object_id(kind, hash ^ hash >> 56U);
}

struct ObjectAccess {
    ObjectId object;
    AccessKind access;

    [[nodiscard]] Object kind() const { return static_cast<Object>(object >> 56U); }
};

constexpr bool conflicting(AccessKind a, AccessKind b) {
    if (a == AccessKind::write || b == AccessKind::write) return true;
    return a != b;  // a bump and a read
}

/// False for what only orders: two steps that conflict there alone never could have been exchanged.
/// A turn that is under way keeps all others of its tab out, and a transaction runs when the
/// earlier ones of its stores have ended: it is their beginnings that race.
constexpr bool exchangeable(ObjectId object) {
    const auto kind = static_cast<Object>(object >> 56U);
    return kind != Object::turn && kind != Object::settled;
}

using Footprint = std::vector<ObjectAccess>;

enum class Conflict : std::uint8_t {
    none,     // the steps commute
    ordered,  // they do not, and they never could have happened the other way round
    race,
};

inline Conflict find_conflict(const Footprint& a, const Footprint& b) {
    auto found = Conflict::none;
    for (const auto& one : a) {
        for (const auto& other : b) {
            if (one.object != other.object || !conflicting(one.access, other.access)) continue;
            if (exchangeable(one.object)) return Conflict::race;
            found = Conflict::ordered;
        }
    }
    return found;
}

/// One line of a trace: what a step did, and in which tab.
struct TraceLine {
    std::uint32_t tab = 0;  // 0: the browser, or code outside the origin
    Object where = Object::tab;
    std::string text;
};

/// Where the parts of an origin note what a step touches and trace what it does, while a footprint
/// or a trace is recorded.
class FootprintRecorder {
  public:
    void note(ObjectId object, AccessKind access) {
        if (footprint_ != nullptr) footprint_->push_back({object, access});
    }
    void note(Object kind, std::uint64_t which, AccessKind access) {
        if (footprint_ != nullptr) footprint_->push_back({object_id(kind, which), access});
    }
    void note(Object kind, std::string_view name, std::uint64_t of, AccessKind access) {
        if (footprint_ != nullptr) footprint_->push_back({object_id(kind, name, of), access});
    }
    /// Records a value that the step under way has read: what the step does next may depend on it.
    /// `value()` makes its number. Only an origin that compares its states records any.
    template <typename Value>
    void observe(Value value) {
        if (observing_) observed_ = mixed(observed_ + value());
    }
    void record_observations() { observing_ = true; }
    /// Returns a hash of all that was observed since the last call.
    std::uint64_t take_observed() { return std::exchange(observed_, 0); }
    /// Adds a line to the trace. `text()` makes its text.
    template <typename Text>
    void trace(std::uint32_t tab, Object where, Text text) {
        if (lines_ != nullptr) lines_->push_back({tab, where, text()});
    }

    /// Footprints are added to `footprint`, which may be null, while the returned guard lives.
    [[nodiscard]] auto recording_in(Footprint* footprint) {
        struct End {
            void operator()(FootprintRecorder* recorder) const { recorder->footprint_ = nullptr; }
        };
        footprint_ = footprint;
        return std::unique_ptr<FootprintRecorder, End>(this);
    }
    void trace_into(std::vector<TraceLine>* lines) { lines_ = lines; }

  private:
    Footprint* footprint_ = nullptr;
    bool observing_ = false;
    std::uint64_t observed_ = 0;
    std::vector<TraceLine>* lines_ = nullptr;
};

}  // namespace tabacus::lab
