// The bridge between the core and its host (js/core/bridge.js): whatever crosses it is numbers, and texts
// and numbers that are packed one after another. What is called, in both directions, bridge/ describes, and
// generated/ has a function for each. embind and its values would take 9 KB more (brotli).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// The one function that the core imports of its host: what is called, and its arguments as
/// generated/host.hpp assigns them. Throws only once the program has trapped, whose frames then never
/// run again: else the host catches whatever the platform throws.
extern "C" [[clang::import_module("env"), clang::import_name("tabacus_call")]] double tabacus_call(
    int call, int a, int b, int c, int d, double number, const char* first, size_t first_size,
    const char* second, size_t second_size);

namespace tabacus::browser {

/// The number under which JavaScript keeps a promise's two functions.
using PromiseId = int;

/// Nothing stands for null.
using Text = std::optional<std::string>;
using Texts = std::vector<Text>;

/// Packs values one after another: a text as its length in bytes, 32 bits in the machine's order, and
/// then its UTF-8; null as the length 2^32 − 1; a number as a double.
class Packer {
  public:
    void text(std::string_view text);
    void optional_text(const Text& text);
    void number(double number);

    [[nodiscard]] std::string_view packed() const { return bytes_; }

  private:
    void size(std::uint32_t size);

    std::string bytes_;
};

/// Reads what the host has packed for the call that it makes, in the order in which it was packed.
class Unpacker {
  public:
    Unpacker();

    /// Null is the empty text.
    std::string text() { return optional_text().value_or(""); }
    Text optional_text();
    double number();
    /// Returns nothing for NaN.
    std::optional<double> optional_number();
    template <typename T, typename ReadOne>
    std::vector<T> list(ReadOne read_one) {
        std::vector<T> all;
        for (auto left = static_cast<std::size_t>(number()); left > 0; --left) {
            all.push_back(read_one(*this));
        }
        return all;
    }
    /// All that follow.
    Texts texts();

  private:
    std::string_view rest_;
};

// pack() of any value: of a list how many there are, then each; of what may be missing whether it is
// there, then itself. Records have theirs in generated/records.hpp.

template <typename Number>
    requires(std::is_arithmetic_v<Number> || std::is_enum_v<Number>)
void pack(Packer& to, Number number) {
    to.number(static_cast<double>(number));
}

template <typename Set>
    requires requires(const Set& set) { set.bits(); }
void pack(Packer& to, const Set& set) {
    to.number(set.bits());
}

template <typename String>
    requires std::is_convertible_v<const String&, std::string_view>
void pack(Packer& to, const String& text) {
    to.text(text);
}

inline void pack(Packer& to, const Text& text) { to.optional_text(text); }

template <typename T>
void pack(Packer& to, const std::optional<T>& value) {
    to.number(value ? 1 : 0);
    if (value) pack(to, *value);
}

template <typename List>
    requires(!std::is_convertible_v<const List&, std::string_view> &&
             requires(const List& all) { all.begin(), all.size(); })
void pack(Packer& to, const List& all) {
    to.number(static_cast<double>(all.size()));
    for (const auto& one : all) pack(to, one);
}

/// Makes the buffer `size` bytes long in which the host packs values for its next call. The address is
/// good until the next packed_buffer(); null if there is no memory.
char* packed_buffer(std::size_t size);

/// NaN stands for none.
inline std::optional<double> optional_number(double number) {
    return std::isnan(number) ? std::nullopt : std::optional(number);
}

}  // namespace tabacus::browser
