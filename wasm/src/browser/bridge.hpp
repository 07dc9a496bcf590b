// The bridge between the core and its host (js/core/bridge.js). Only numbers cross it, and texts
// and numbers that are packed one after another. The folder bridge/ describes the calls in both
// directions, and generated/ has a function for each call. embind would add 9 KB (brotli).
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

/// The only function that the core imports from its host. `call` is the number of the call, and
/// generated/host.hpp assigns its arguments to the parameters. The host catches whatever the
/// platform throws. Only after the program has trapped does this function throw; the program's
/// frames are never resumed then.
extern "C" [[clang::import_module("env"), clang::import_name("tabacus_call")]] double tabacus_call(
    int call, int a, int b, int c, int d, double number, const char* first, size_t first_size,
    const char* second, size_t second_size);

namespace tabacus::browser {

/// The number under which JavaScript keeps the two functions that settle a promise.
using PromiseId = int;

/// A text of JavaScript, or nothing for null.
using Text = std::optional<std::string>;
using Texts = std::vector<Text>;

/// Packs values one after another. A text is packed as its length in bytes (32 bits in the
/// machine's byte order) and its UTF-8, null as the length 2^32 − 1, and a number as a double.
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

/// Reads the values that the host has packed for its call, in their order.
class Unpacker {
  public:
    Unpacker();

    /// Returns a text; the empty text for null.
    std::string text() { return optional_text().value_or(""); }
    Text optional_text();
    double number();
    /// Returns a number; nothing for NaN.
    std::optional<double> optional_number();
    /// Returns a list, whose length comes first. `read_one(unpacker)` reads each item.
    template <typename T, typename ReadOne>
    std::vector<T> list(ReadOne read_one) {
        std::vector<T> all;
        for (auto left = static_cast<std::size_t>(number()); left > 0; --left) {
            all.push_back(read_one(*this));
        }
        return all;
    }
    /// Returns all texts that follow.
    Texts texts();

  private:
    std::string_view rest_;
};

// pack() packs a value of any type: a list as its length and its items, an optional value as 1 and
// the value, or as 0. generated/records.hpp has a pack() for each record.

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

/// Returns the buffer in which the host packs values for its next call, `size` bytes long. The
/// address is valid until the next packed_buffer(). Returns null if there is no memory.
char* packed_buffer(std::size_t size);

/// Returns the number; nothing for NaN.
inline std::optional<double> optional_number(double number) {
    return std::isnan(number) ? std::nullopt : std::optional(number);
}

}  // namespace tabacus::browser
