// VisitedPoints: the points of a program that were explored, and how far from each.
//
// Hundreds of millions of points are remembered, so a point takes eight bytes: of a number of 64
// bits those that do not follow from its location in the table (Cleary, "Compact hash tables using
// bidirectional linear probing", IEEE Transactions on Computers, 1984). Two points are taken for
// one only if their numbers are equal.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tabacus::lab {

/// The points that were explored, each with the most preemptions that were left there, and whose
/// turn it was then.
class VisitedPoints {
  public:
    /// Remembers three quarters of `slots_max` points: a power of two of slots of eight bytes each,
    /// at least 2^17. What comes after that is forgotten, and so more is explored.
    explicit VisitedPoints(std::size_t slots_max = usual_slots_max);

    /// True when all that may follow has been explored (or will be, by the visit that was first):
    /// by one whose turn it was with as many preemptions left, or by anybody with one more, since
    /// whose turn it is makes a difference of at most one (run.hpp).
    [[nodiscard]] bool covers(std::uint64_t point, std::uint64_t turn, std::uint32_t left) const;
    void insert(std::uint64_t point, std::uint64_t turn, std::uint32_t left);

    /// 8.6 GB, and 17 MB in WebAssembly.
    static constexpr std::size_t usual_slots_max = std::size_t{1}
                                                   << (sizeof(void*) > 4 ? 30U : 21U);

  private:
    /// From the lowest bit: by whose turns `left` preemptions were left, `left` + 1 (in a free slot
    /// 0), how many buckets lie between the point's own and this one, and of the point's number
    /// what does not follow from its own bucket.
    using Slot = std::uint64_t;
    static constexpr std::size_t slots_each = 8;
    /// A line of the processor's cache.
    struct alignas(64) Bucket {
        std::array<Slot, slots_each> slots{};
    };
    struct Location {
        std::size_t bucket = 0;
        std::size_t slot = 0;
        Slot tag = 0;  // all of the slot but what is known of the point
    };
    /// Where the point is, or would be; nothing if there is no free slot near its own bucket.
    [[nodiscard]] std::optional<Location> find(std::uint64_t key) const;
    /// False if that would be too large.
    bool grow();

    std::size_t slots_max_;
    unsigned bits_;  // of a point's number, the highest: they number its own bucket
    std::vector<Bucket> buckets_;
    std::size_t size_ = 0;
};

}  // namespace tabacus::lab
