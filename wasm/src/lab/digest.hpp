// Digest: a 64-bit hash of words and texts. It is equal for equal values, and almost never equal
// for different ones.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tabacus::lab {

/// Returns the word with its bits mixed (splitmix64).
constexpr std::uint64_t mixed(std::uint64_t word) {
    word = (word ^ word >> 30U) * 0xbf58476d1ce4e5b9U;
    word = (word ^ word >> 27U) * 0x94d049bb133111ebU;
    return word ^ word >> 31U;
}

/// A hash of words and texts, added one after another.
class Digest {
  public:
    constexpr explicit Digest(std::uint64_t seed = 0) : state_(seed) {}
    constexpr Digest& add(std::uint64_t word) {
        state_ = mixed(state_ + 0x9e3779b97f4a7c15U + word) ^ std::rotl(word, 17);
        return *this;
    }
    /// Adds a text, two words at a time with one multiplication (wyhash).
    Digest& add(std::string_view text) {
        constexpr auto word = sizeof(std::uint64_t);
        add(std::uint64_t{text.size()});
        std::uint64_t sum = 0;
        for (; text.size() > 2 * word; text.remove_prefix(2 * word)) {
            sum = folded(word_of(text.substr(0, word)) ^ sum, word_of(text.substr(word, word)));
        }
        const auto first = text.substr(0, std::min(text.size(), word));
        return add(folded(word_of(first) ^ sum, word_of(text.substr(first.size()))));
    }
    [[nodiscard]] constexpr std::uint64_t value() const { return mixed(state_); }

  private:
    /// Returns the two halves of a product, combined. The constants make it unlikely that a factor
    /// is 0.
    static std::uint64_t folded(std::uint64_t one, std::uint64_t other) {
        const auto product = static_cast<unsigned __int128>(one ^ 0xa0761d6478bd642fU) *
                             (other ^ 0xe7037ed1a0b428dbU);
        return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
    }
    static std::uint64_t word_of(std::string_view text) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data(), text.size());
        return word;
    }

    std::uint64_t state_;
};

/// Returns a hash of the parts, in their order.
template <typename... Parts>
std::uint64_t digest(const Parts&... parts) {
    Digest all;
    (all.add(parts), ...);
    return all.value();
}

}  // namespace tabacus::lab
