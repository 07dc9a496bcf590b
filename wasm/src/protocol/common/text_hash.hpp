#pragma once

#include <cstdint>
#include <string_view>

namespace tabacus {

/// Returns a hash for buckets of short texts. Another script can choose texts that share one bucket,
/// which makes a lookup slow, and no more.
inline std::uint32_t text_hash(std::string_view text) {
    constexpr std::uint32_t factor = 31;
    std::uint32_t hash = 0;
    for (const char unit : text) hash = hash * factor + static_cast<unsigned char>(unit);
    return hash;
}

}  // namespace tabacus
