#include "browser/bridge.hpp"

#include <cstdlib>
#include <cstring>

namespace tabacus::browser {

namespace {

constexpr std::uint32_t null_size = 0xffff'ffff;

// The module has one buffer. The host packs values right before the call that takes them, and a tab
// has only one thread.
struct Packed {
    char* data = nullptr;
    std::size_t size = 0;
    std::size_t capacity = 0;
};
Packed packed;

/// The longest buffer that is kept. A longer one is freed as soon as a call needs at most this.
constexpr std::size_t kept_bytes_max = 65'536;

/// NOLINTBEGIN(cppcoreguidelines-no-malloc)
void release() {
    std::free(packed.data);
    packed = {};
}

/// Makes a longer buffer. Returns false if there is no memory. A string would end the program then,
/// so the buffer comes from malloc().
bool grow(std::size_t size) {
    release();
    packed.data = static_cast<char*>(std::malloc(size));
    if (packed.data == nullptr) return false;
    packed.capacity = size;
    // An Unpacker copies the texts with operator new, so there must be memory for a copy, too. The
    // pointer is volatile, because the compiler would otherwise remove malloc() and free().
    void* volatile copy = std::malloc(size);
    std::free(copy);
    return copy != nullptr;
}
/// NOLINTEND(cppcoreguidelines-no-malloc)

template <typename T>
T take(std::string_view& from) {
    T value{};
    std::memcpy(&value, from.data(), sizeof value);
    from.remove_prefix(sizeof value);
    return value;
}

}  // namespace

char* packed_buffer(std::size_t size) {
    if (packed.capacity > kept_bytes_max && size <= kept_bytes_max) release();
    if (size > packed.capacity && !grow(size)) {
        release();
        return nullptr;
    }
    packed.size = size;
    return packed.data;
}

Unpacker::Unpacker() : rest_(packed.data, packed.size) {}

Text Unpacker::optional_text() {
    const auto size = take<std::uint32_t>(rest_);
    if (size == null_size) return std::nullopt;
    std::string text(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return text;
}

double Unpacker::number() { return take<double>(rest_); }

std::optional<double> Unpacker::optional_number() { return browser::optional_number(number()); }

Texts Unpacker::texts() {
    Texts all;
    while (!rest_.empty()) all.push_back(optional_text());
    return all;
}

void Packer::size(std::uint32_t size) {
    bytes_.append(reinterpret_cast<const char*>(&size), sizeof size);
}

void Packer::text(std::string_view text) {
    size(static_cast<std::uint32_t>(text.size()));
    bytes_ += text;
}

void Packer::optional_text(const Text& text) {
    if (text) {
        this->text(*text);
    } else {
        size(null_size);
    }
}

void Packer::number(double number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
}

}  // namespace tabacus::browser
