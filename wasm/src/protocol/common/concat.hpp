// One text of several.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace tabacus {

/// Never inlined: each `+` between strings is ten times the code of a call.
[[gnu::noinline]] inline std::string concat(std::initializer_list<std::string_view> parts) {
    std::string text;
    for (const auto part : parts) text += part;
    return text;
}

}  // namespace tabacus
