// Digest: what there is, as a number: equal for equal things, and for others as good as never.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tabacus::lab {

/// Spreads its bits (splitmix64).
constexpr std::uint64_t mixed(std::uint64_t word) {
    word = (word ^ word >> 30U) * 0xbf58476d1ce4e5b9U;
    word = (word ^ word >> 27U) * 0x94d049bb133111ebU;
    return word ^ word >> 31U;
}

/// Of words and texts, one after another.
class Digest {
  public:
    constexpr explicit Digest(std::uint64_t seed = 0) : state_(seed) {}
    constexpr Digest& add(std::uint64_t word) {
        state_ = mixed(state_ + 0x9e3779b97f4a7c15U + word) ^ std::rotl(word, 17);
        return *this;
    }
    Digest& add(std::string_view text) {
        add(std::uint64_t{text.size()});
        for (; text.size() > sizeof(std::uint64_t); text.remove_prefix(sizeof(std::uint64_t))) {
            add(word_of(text.substr(0, sizeof(std::uint64_t))));
        }
        return add(word_of(text));
    }
    [[nodiscard]] constexpr std::uint64_t value() const { return mixed(state_); }

  private:
    static std::uint64_t word_of(std::string_view text) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data(), text.size());
        return word;
    }

    std::uint64_t state_;
};

template <typename... Parts>
std::uint64_t digest(const Parts&... parts) {
    Digest all;
    (all.add(parts), ...);
    return all.value();
}

}  // namespace tabacus::lab
