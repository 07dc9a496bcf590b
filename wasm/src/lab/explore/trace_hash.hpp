// TraceHash: a number for a run so far that is equal for runs which differ only in the order of
// steps that commute (equal Mazurkiewicz traces), and so have come to equal states.
//
// The number of a step is made of its process and of the numbers of the steps that it depends on:
// those before it that touched what it touches, of its own process, and its cause. Which these are
// is the same in every order of a trace; and the number of a run is the sum of its steps'. So do
// Musuvathi and Qadeer, "Partial-order reduction for context-bounded state exploration" (Microsoft
// Research, 2007). Of 64 bits: among ten million states two are mistaken for one with a probability
// of 3 in a million.
#pragma once

#include <cstdint>
#include <vector>

#include "lab/digest.hpp"
#include "lab/footprint.hpp"

namespace tabacus::lab {

class TraceHash {
  public:
    /// Sums over the steps that touched an object, for each way to touch it.
    struct Sums {
        std::uint64_t reads = 0;
        std::uint64_t bumps = 0;
        std::uint64_t writes = 0;
    };
    /// What an object's sums were before a step.
    struct Change {
        std::uint32_t at = 0;
        Sums sums;
    };
    using Changes = std::vector<Change>;

    TraceHash() : slots_(64) {}

    /// The number of the next step; `cause` is the number of the step that made it possible, or 0.
    std::uint64_t add(std::uint64_t process, std::uint64_t cause, const Footprint& footprint,
                      Changes& changes);
    /// Takes back the last step, and empties `changes`.
    void undo(Changes& changes);

  private:
    struct Slot {
        std::uint64_t object = 0;
        std::uint32_t at = 0;  // 0: free
    };
    std::uint32_t find(std::uint64_t object);
    void grow();
    void record(std::uint64_t object, AccessKind access, std::uint64_t event, Changes& changes);

    std::vector<Slot> slots_;  // hashed by object; a power of two
    std::vector<Sums> sums_{1};
};

}  // namespace tabacus::lab
