// VisitedPoints: the points of a program that were explored.
//
// The table remembers hundreds of millions of points, so a point takes only eight bytes. A point is
// a number of 64 bits. Its slot has the bits that do not follow from its location in the table
// (Cleary, "Compact hash tables using bidirectional linear probing", IEEE Transactions on
// Computers, 1984). Two points are confused only if their numbers are equal.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tabacus::lab {

/// The points that were explored, each with the most preemptions that were left there, and the
/// processes that had the turn then.
class VisitedPoints {
  public:
    /// The table has up to `slots_max` slots of eight bytes, and remembers three quarters as many
    /// points. Later points are forgotten, so that more is explored. Requires that `slots_max` is a
    /// power of two and at least 2^17.
    explicit VisitedPoints(std::size_t slots_max = usual_slots_max);

    /// Whether everything that may follow a visit has been explored, or will be by an earlier
    /// visit. The earlier visit had as many preemptions left and the same `turn`, or it had at
    /// least one more, with any turn: the turn makes a difference of at most one preemption
    /// (run.hpp).
    [[nodiscard]] bool covers(std::uint64_t point, std::uint64_t turn, std::uint32_t left) const;
    /// Records a visit.
    void insert(std::uint64_t point, std::uint64_t turn, std::uint32_t left);

    /// Returns the number of points that are remembered.
    [[nodiscard]] std::size_t size() const { return size_; }

    /// The usual number of slots, which take 8.6 GB, or 17 MB in WebAssembly.
    static constexpr std::size_t usual_slots_max = std::size_t{1}
                                                   << (sizeof(void*) > 4 ? 30U : 21U);

  private:
    /// A slot has these fields, from the lowest bit: the processes that had the turn with `left`
    /// preemptions left; `left` + 1, or 0 in a free slot; the number of buckets from the point's
    /// own bucket to this one; and the bits of the point's number that do not follow from its own
    /// bucket.
    using Slot = std::uint64_t;
    static constexpr std::size_t slots_each = 8;
    /// A bucket is one line of the processor's cache.
    struct alignas(64) Bucket {
        std::array<Slot, slots_each> slots{};
    };
    struct Location {
        std::size_t bucket = 0;
        std::size_t slot = 0;
        Slot tag = 0;  // the two highest fields of the slot
    };
    /// Returns the location of the point, or the one at which it would be inserted; nothing if
    /// there is no free slot near its own bucket.
    [[nodiscard]] std::optional<Location> find(std::uint64_t key) const;
    /// Doubles the table. Returns false if it would be too large.
    bool grow();

    std::size_t slots_max_;
    unsigned bits_;  // the number of highest bits of a point that number its own bucket
    std::vector<Bucket> buckets_;
    std::size_t size_ = 0;
};

}  // namespace tabacus::lab
