// EnumSet: a set of the enumerators of one enumeration, as bits.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace tabacus {

/// Requires that the enumerators are numbered from 0 and fewer than 32.
template <typename Enum>
class EnumSet {
  public:
    constexpr EnumSet() = default;
    constexpr EnumSet(std::initializer_list<Enum> members) {
        for (const auto member : members) bits_ |= bit(member);
    }
    [[nodiscard]] constexpr bool has(Enum member) const { return (bits_ & bit(member)) != 0; }
    [[nodiscard]] constexpr bool overlaps(EnumSet other) const {
        return (bits_ & other.bits_) != 0;
    }
    /// The set as bits: bit n is set if the enumerator with the number n is a member.
    [[nodiscard]] constexpr std::uint32_t bits() const { return bits_; }
    friend constexpr EnumSet operator|(EnumSet one, EnumSet other) {
        one.bits_ |= other.bits_;
        return one;
    }
    friend constexpr bool operator==(EnumSet, EnumSet) = default;

  private:
    static constexpr std::uint32_t bit(Enum member) {
        return std::uint32_t{1} << static_cast<unsigned>(member);
    }
    std::uint32_t bits_ = 0;
};

}  // namespace tabacus
