// SeededRandom: the laboratory's only source of randomness, so that a seed determines a run.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tabacus::lab {

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014). It is
/// used because distributions of the standard library differ between implementations, while a seed
/// must mean the same everywhere.
class SeededRandom {
  public:
    explicit SeededRandom(std::uint64_t seed) : state_(seed) {}

    std::uint64_t bits() {
        state_ += 0x9e3779b97f4a7c15U;
        std::uint64_t mixed = state_;
        mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
        mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
        return mixed ^ (mixed >> 31U);
    }
    /// Returns a number from 0 to count − 1. The bias of the remainder is far below what a test
    /// could notice.
    std::size_t below(std::size_t count) { return static_cast<std::size_t>(bits() % count); }
    /// Returns true or false, with equal chances.
    bool coin() { return (bits() & 1U) != 0; }
    /// Returns a new generator. Numbers drawn from it do not change what this one returns.
    SeededRandom split() { return SeededRandom(bits()); }

  private:
    std::uint64_t state_;
};

}  // namespace tabacus::lab
