// libFuzzer: no text makes a parser crash, and what a parser accepts its formatter writes again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "protocol/record.hpp"

namespace {

void check(bool holds) {
    if (!holds) std::abort();
}

template <typename Parse, typename Format>
void round_trip(std::string_view text, Parse parse, Format format) {
    if (const auto record = parse(text)) check(format(*record) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    round_trip(text, tabacus::parse_totals, tabacus::format_totals);
    round_trip(text, tabacus::parse_holder, tabacus::format_holder);
    round_trip(text, tabacus::parse_message, tabacus::format_message);
    round_trip(text, tabacus::parse_value, tabacus::format_value);
    if (const auto totals = tabacus::parse_totals(text)) {
        check(totals->totals.plus >= 0 && totals->totals.minus >= 0 && totals->epoch >= 0);
        check(totals->totals.plus <= tabacus::total_max && totals->epoch <= tabacus::epoch_max);
    }
    return 0;
}
