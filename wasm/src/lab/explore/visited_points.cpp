#include "visited_points.hpp"

#include <algorithm>
#include <utility>

#include "lab/digest.hpp"

namespace tabacus::lab {
namespace {

constexpr unsigned turn_bits = 5;  // turns of later processes are not recorded, which is safe
constexpr unsigned left_bits = 6;
constexpr unsigned away_bits = 3;
constexpr unsigned known_bits = turn_bits + left_bits;   // the bits for what is known of a point
constexpr unsigned other_bits = known_bits + away_bits;  // the bits that are not of its number
constexpr unsigned word_bits = 64;
constexpr std::size_t buckets_min = std::size_t{1}
                                    << other_bits;  // enough that a number's other bits fit
constexpr std::uint64_t known_mask = (std::uint64_t{1} << known_bits) - 1;
constexpr std::uint64_t turn_mask = (std::uint64_t{1} << turn_bits) - 1;
constexpr std::uint32_t left_max = (1U << left_bits) - 2;  // visits with more are never covered

/// What is known of a point. Each visit with fewer preemptions left than `most` − 1 is covered.
struct Known {
    std::uint32_t most = 0;   // the most preemptions that were left, plus one; 0 if not visited
    std::uint64_t turns = 0;  // the processes that had the turn at visits with so many left
};

constexpr Known known_in(std::uint64_t slot) {
    return {static_cast<std::uint32_t>((slot & known_mask) >> turn_bits), slot & turn_mask};
}

constexpr std::uint64_t bit_of(std::uint64_t turn) {
    return turn < turn_bits ? std::uint64_t{1} << turn : 0;
}

}  // namespace

VisitedPoints::VisitedPoints(std::size_t slots_max)
    : slots_max_(slots_max), bits_(other_bits), buckets_(buckets_min) {}

bool VisitedPoints::covers(std::uint64_t point, std::uint64_t turn, std::uint32_t left) const {
    const auto location = find(mixed(point));
    if (!location) return false;
    const auto known = known_in(buckets_[location->bucket].slots.at(location->slot));
    return known.most > left + 1 || (known.most == left + 1 && (known.turns & bit_of(turn)) != 0);
}

void VisitedPoints::insert(std::uint64_t point, std::uint64_t turn, std::uint32_t left) {
    const auto key = mixed(point);
    auto location = find(key);
    const auto is_new = [&] {
        return !location || buckets_[location->bucket].slots.at(location->slot) == 0;
    };
    while (is_new() && (!location || size_ >= buckets_.size() * slots_each / 4 * 3)) {
        if (!grow()) return;
        location = find(key);
    }
    auto& slot = buckets_[location->bucket].slots.at(location->slot);
    if (slot == 0) ++size_;
    auto [most, turns] = known_in(slot);
    const auto here = std::min(left, left_max) + 1;
    if (here < most) return;
    if (here > most) turns = 0;
    slot = location->tag | std::uint64_t{here} << turn_bits | turns | bit_of(turn);
}

std::optional<VisitedPoints::Location> VisitedPoints::find(std::uint64_t key) const {
    const auto own = static_cast<std::size_t>(key >> (word_bits - bits_));
    const auto rest = key << bits_ >> bits_;
    for (std::size_t away = 0; away < std::size_t{1} << away_bits; ++away) {
        Location location{(own + away) & (buckets_.size() - 1), 0,
                          rest << other_bits | Slot{away} << known_bits};
        for (const auto& slots = buckets_[location.bucket].slots; location.slot < slots_each;
             ++location.slot) {
            const auto slot = slots.at(location.slot);
            if (slot == 0 || (slot & ~known_mask) == location.tag) return location;
        }
    }
    return std::nullopt;
}

bool VisitedPoints::grow() {
    if (buckets_.size() * slots_each * 2 > slots_max_) return false;
    const auto smaller = std::exchange(buckets_, std::vector<Bucket>(buckets_.size() * 2));
    const auto bits = bits_++;
    size_ = 0;
    for (std::size_t bucket = 0; bucket < smaller.size(); ++bucket) {
        for (const auto slot : smaller[bucket].slots) {
            if (slot == 0) continue;
            const auto away = slot >> known_bits & ((1U << away_bits) - 1);
            const std::uint64_t own = (bucket - away) & (smaller.size() - 1);
            const auto location = find(own << (word_bits - bits) | slot >> other_bits);
            if (!location) continue;
            buckets_[location->bucket].slots.at(location->slot) =
                location->tag | (slot & known_mask);
            ++size_;
        }
    }
    return true;
}

}  // namespace tabacus::lab
