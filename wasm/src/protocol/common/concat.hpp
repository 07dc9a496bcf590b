// concat: joins texts.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace tabacus {

/// Returns the parts as one text. Never inlined, because each `+` between strings takes ten times
/// the code of a call.
[[gnu::noinline]] inline std::string concat(std::initializer_list<std::string_view> parts) {
    std::string text;
    for (const auto part : parts) text += part;
    return text;
}

}  // namespace tabacus
