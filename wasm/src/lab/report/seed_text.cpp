#include "seed_text.hpp"

#include <utility>
#include <vector>

namespace tabacus::lab {
namespace {

constexpr std::string_view prefix = "tabacus-1-";
constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::size_t checksum_bytes = 4;
constexpr std::size_t strategy_bytes_max = 32;

using Bytes = std::vector<std::uint8_t>;

std::uint32_t checksum(const Bytes& bytes) {
    std::uint32_t hash = 0x811c9dc5U;  // FNV-1a
    for (const auto byte : bytes) hash = (hash ^ byte) * 0x01000193U;
    return hash;
}

/// Returns the bytes in base64url (RFC 4648 §5), without padding.
std::string base64url(const Bytes& bytes) {
    std::string text;
    std::uint32_t bits = 0;
    int count = 0;
    for (const auto byte : bytes) {
        bits = bits << 8U | byte;
        for (count += 8; count >= 6; count -= 6) text += alphabet[bits >> (count - 6) & 63U];
        bits &= 0xffU;
    }
    if (count > 0) text += alphabet[bits << (6 - count) & 63U];
    return text;
}

std::optional<Bytes> from_base64url(std::string_view text) {
    Bytes bytes;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : text) {
        const auto digit = alphabet.find(c);
        if (digit == std::string_view::npos) return std::nullopt;
        bits = (bits << 6U | static_cast<std::uint32_t>(digit)) & 0xffffU;
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes.push_back(static_cast<std::uint8_t>(bits >> count));
    }
    // The bits that are left must be fewer than a digit has, and 0, as the writer pads them.
    if (count >= 6 || (bits & ((1U << count) - 1)) != 0) return std::nullopt;
    return bytes;
}

/// Appends a number in LEB128.
void put(Bytes& bytes, std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) bytes.push_back(static_cast<std::uint8_t>(value | 0x80U));
    bytes.push_back(static_cast<std::uint8_t>(value));
}

/// Reads what put() wrote, and notes anything else as an error.
class Reader {
  public:
    Reader(const Bytes& bytes, std::size_t size) : bytes_(bytes), size_(size) {}

    /// Reads a number. Notes an error and returns 0 if it is larger than `most`, or not in its
    /// shortest form.
    std::uint32_t number(std::uint32_t most) {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 35; shift += 7) {
            const auto byte = next();
            value |= std::uint64_t{byte & 0x7fU} << shift;
            if ((byte & 0x80U) != 0) continue;
            if (value > most || (shift > 0 && byte == 0)) break;
            return static_cast<std::uint32_t>(value);
        }
        ok_ = false;
        return 0;
    }
    std::string text(std::size_t bytes_max) {
        std::string read(number(static_cast<std::uint32_t>(bytes_max)), ' ');
        for (auto& c : read) c = static_cast<char>(next());
        return read;
    }
    [[nodiscard]] bool ended() const { return at_ == size_; }
    [[nodiscard]] bool ok() const { return ok_; }

  private:
    std::uint8_t next() {
        if (at_ < size_) return bytes_[at_++];
        ok_ = false;
        return 0;
    }
    const Bytes& bytes_;
    std::size_t size_;
    std::size_t at_ = 0;
    bool ok_ = true;
};

/// Appends a schedule: its length, and each entry that is not 0 after the number of zeros before
/// it. The length is needed because a fault may be a last 0.
void put(Bytes& bytes, const Schedule& schedule) {
    put(bytes, schedule.size());
    std::uint64_t zeros = 0;
    for (const auto entry : schedule) {
        if (entry == 0) {
            ++zeros;
            continue;
        }
        put(bytes, std::exchange(zeros, 0));
        put(bytes, entry);
    }
}

std::optional<Schedule> read_schedule(Reader& reader) {
    Schedule schedule(reader.number(schedule_limit));
    std::size_t at = 0;
    while (reader.ok() && !reader.ended()) {
        at += reader.number(schedule_limit);
        const auto entry = reader.number(UINT32_MAX);
        if (at >= schedule.size() || entry == 0) return std::nullopt;
        schedule[at++] = entry;
    }
    return schedule;
}

std::optional<CountingSetup> read_setup(Reader& reader) {
    CountingSetup setup;
    setup.strategy = reader.text(strategy_bytes_max);
    setup.model = static_cast<StorageModel>(reader.number(2));
    setup.counting.tabs = reader.number(tabs_limit);
    setup.counting.adds = reader.number(adds_limit);
    const auto flags = reader.number(7);
    setup.counting.flush_each = (flags & 1U) != 0;
    setup.counting.all_read = (flags & 2U) != 0;
    setup.counting.may_lose = (flags & 4U) != 0;
    setup.faults = Faults::of_bits(reader.number((1U << fault_count) - 1));
    setup.faults_max = reader.number(faults_limit);
    const bool sensible = hosts_of(setup.strategy) != nullptr && setup.counting.tabs > 0;
    return sensible ? std::optional(setup) : std::nullopt;
}

}  // namespace

std::string format_seed(const SeedText& seed) {
    const auto& [setup, schedule] = seed;
    Bytes bytes;
    put(bytes, setup.strategy.size());
    for (const char c : setup.strategy) bytes.push_back(static_cast<std::uint8_t>(c));
    put(bytes, static_cast<std::uint64_t>(setup.model));
    put(bytes, setup.counting.tabs);
    put(bytes, setup.counting.adds);
    put(bytes, (setup.counting.flush_each ? 1U : 0U) | (setup.counting.all_read ? 2U : 0U) |
                   (setup.counting.may_lose ? 4U : 0U));
    put(bytes, setup.faults.bits());
    put(bytes, setup.faults_max);
    put(bytes, schedule);
    const auto sum = checksum(bytes);
    for (std::size_t i = 0; i < checksum_bytes; ++i) {
        bytes.push_back(static_cast<std::uint8_t>(sum >> 8 * i));
    }
    return std::string(prefix) + base64url(bytes);
}

std::optional<SeedText> parse_seed(std::string_view text) {
    if (!text.starts_with(prefix)) return std::nullopt;
    auto bytes = from_base64url(text.substr(prefix.size()));
    if (!bytes || bytes->size() < checksum_bytes) return std::nullopt;
    std::uint32_t sum = 0;
    for (std::size_t i = checksum_bytes; i > 0; --i) {
        sum |= std::uint32_t{bytes->back()} << 8 * (i - 1);
        bytes->pop_back();
    }
    if (sum != checksum(*bytes)) return std::nullopt;
    Reader reader(*bytes, bytes->size());
    auto setup = read_setup(reader);
    if (!setup || !reader.ok()) return std::nullopt;
    auto schedule = read_schedule(reader);
    if (!schedule || !reader.ok()) return std::nullopt;
    return SeedText{std::move(*setup), std::move(*schedule)};
}

}  // namespace tabacus::lab
