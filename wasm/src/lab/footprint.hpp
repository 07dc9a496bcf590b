// Footprint: the objects that one step of a simulated origin read and changed.
//
// Two steps commute if neither touches an object that the other one changes. With footprints alone,
// an explorer can leave out schedules that differ only in the order of commuting steps. A footprint
// may contain too much, which makes the exploration slower. It must never contain too little, which
// would make the exploration unsound.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "digest.hpp"

namespace tabacus::lab {

enum class AccessKind : std::uint8_t {
    read,
    bump,   // commutes with other bumps, as adding to a set or to a sum does
    write,  // commutes with nothing
};

/// The number of an object: its kind in the high byte, and its number within the kind.
using ObjectId = std::uint64_t;

/// The kinds of objects.
enum class Object : std::uint8_t {
    tab,          // a tab, written by each step that begins a turn of it
    turn,         // a tab, written also by each step that continues a turn; it only orders steps
    pulse,        // whether the tab runs, read by each of its steps
    alive,        // whether the tab takes messages
    queue,        // the end of a source's queue at which events are added
    source,       // the end of a source's queue at which events are taken
    lock,         // one name of the lock manager
    locks,        // all names of the lock manager
    order,        // the order in which transactions of a store are begun
    settled,      // the transactions of a store that have ended; it only orders steps
    transaction,  // one transaction
    database,     // the quota and the failures of the database
    existence,    // whether there is a database
    item,         // a key of localStorage
    items,        // the set of keys of localStorage
    copy,         // a key of a process's copy of localStorage
    copied,       // the set of keys of a process's copy
    area,         // the order in which writes reach the area
    processes,    // the set of processes
    channel,      // the listeners of a channel's name
    now,          // the time
    timers,       // the timers that are not due
    faults,       // the number of faults that may still happen
    scenario,     // what a scenario's checks know
    word,         // a modelled atomic
    host,         // work that the host does for a tab
};

constexpr ObjectId object_id(Object kind, std::uint64_t which = 0) {
    constexpr std::uint64_t mask = (std::uint64_t{1} << 56U) - 1;
    return static_cast<std::uint64_t>(kind) << 56U | (which & mask);
}

/// Returns the number of an object with a name, by the name's FNV-1a hash. If two names have one
/// hash, their objects count as one, which is safe.
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

    friend bool operator==(const ObjectAccess&, const ObjectAccess&) = default;
    [[nodiscard]] Object kind() const { return static_cast<Object>(object >> 56U); }
};

constexpr bool conflicting(AccessKind a, AccessKind b) {
    if (a == AccessKind::write || b == AccessKind::write) return true;
    return a != b;  // one is a bump, the other a read
}

/// Returns false for an object that only orders steps: two steps that conflict on such objects
/// alone could not have happened in the other order. A tab begins no turn while another one has not
/// ended. A transaction runs only once the earlier transactions of its stores have ended; only
/// their beginnings race.
constexpr bool exchangeable(ObjectId object) {
    const auto kind = static_cast<Object>(object >> 56U);
    return kind != Object::turn && kind != Object::settled;
}

using Footprint = std::vector<ObjectAccess>;

enum class Conflict : std::uint8_t {
    none,     // the steps commute
    ordered,  // they do not commute, and could not have happened in the other order
    race,     // they do not commute, and could have happened in the other order
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

/// One line of a trace: what a step did in a tab.
struct TraceLine {
    std::uint32_t tab = 0;  // 0 for the browser, or for code outside the origin
    Object where = Object::tab;
    std::string text;
    /// What a story says in place of `text`; empty if it leaves the line out.
    std::optional<std::string> story = std::nullopt;
};

/// Records the footprint and the trace of steps. The parts of an origin call it for each object
/// that they touch and for each action. It ignores calls while nothing is recorded.
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
    /// Records a value that the current step has read, because the rest of the step may depend on
    /// it. `value()` returns a number for the value. It is called only if states are compared.
    template <typename Value>
    void observe(Value value) {
        if (observing_) observed_ = mixed(observed_ + value());
    }
    void record_observations() { observing_ = true; }
    /// Returns a hash of all values that were observed since the last call.
    std::uint64_t take_observed() { return std::exchange(observed_, 0); }
    /// Adds a line to the trace. `text()` returns its text, and is called only if there is a trace.
    template <typename Text>
    void trace(std::uint32_t tab, Object where, Text text) {
        if (lines_ != nullptr) lines_->push_back({.tab = tab, .where = where, .text = text()});
    }

    /// Adds accesses to `footprint`, which may be null, until the returned guard is destroyed.
    [[nodiscard]] auto recording_in(Footprint* footprint) {
        struct End {
            void operator()(FootprintRecorder* recorder) const { recorder->footprint_ = nullptr; }
        };
        footprint_ = footprint;
        return std::unique_ptr<FootprintRecorder, End>(this);
    }
    /// Adds accesses to `footprint` until the next call; to none if it is null.
    void record_into(Footprint* footprint) { footprint_ = footprint; }
    void trace_into(std::vector<TraceLine>* lines) { lines_ = lines; }

  private:
    Footprint* footprint_ = nullptr;
    bool observing_ = false;
    std::uint64_t observed_ = 0;
    std::vector<TraceLine>* lines_ = nullptr;
};

}  // namespace tabacus::lab
