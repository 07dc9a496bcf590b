// next_key: where the next part of a list of rows begins.
#pragma once

#include <string>
#include <string_view>

#include "concat.hpp"

namespace tabacus {

/// Returns the first key that may come after this one.
inline std::string next_key(std::string_view key) {
    return concat({key, std::string_view("\0", 1)});
}

}  // namespace tabacus
