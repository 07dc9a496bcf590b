// TraceHash: a hash of the steps of a run so far. It is equal for runs that differ only in the
// order of commuting steps (equal Mazurkiewicz traces), and that have therefore reached equal
// states.
//
// The number of a step depends on its process and on the numbers of the earlier steps that it
// depends on: those of its own process, those whose footprints conflict with its own, and its
// cause. These steps are the same in every order of a trace. The hash of a run is the sum of the
// numbers of its steps. (Musuvathi and Qadeer, "Partial-order reduction for context-bounded state
// exploration", Microsoft Research, 2007.) The hash has 64 bits: among ten million states, the
// probability that two have the same hash is 3 in a million.
#pragma once

#include <cstdint>
#include <vector>

#include "lab/digest.hpp"
#include "lab/footprint.hpp"

namespace tabacus::lab {

class TraceHash {
  public:
    /// The sums of the numbers of the steps that accessed an object, for each kind of access.
    struct Sums {
        std::uint64_t reads = 0;
        std::uint64_t bumps = 0;
        std::uint64_t writes = 0;
    };
    /// The sums of an object before a step.
    struct Change {
        std::uint32_t at = 0;
        Sums sums;
    };
    using Changes = std::vector<Change>;

    TraceHash() : slots_(64) {}

    /// Adds the next step and returns its number. `cause` is the number of the step that made it
    /// possible, or 0. `changes` receives what undo() needs.
    std::uint64_t add(std::uint64_t process, std::uint64_t cause, const Footprint& footprint,
                      Changes& changes);
    /// Takes back the last step, and empties `changes`.
    void undo(Changes& changes);

  private:
    struct Slot {
        std::uint64_t object = 0;
        std::uint32_t at = 0;  // the index in `sums_`; 0 if the slot is free
    };
    std::uint32_t find(std::uint64_t object);
    void grow();
    void record(std::uint64_t object, AccessKind access, std::uint64_t event, Changes& changes);

    std::vector<Slot> slots_;  // a hash table by object; its size is a power of two
    std::vector<Sums> sums_{1};
};

}  // namespace tabacus::lab
