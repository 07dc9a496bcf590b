// The names of faults, as requests and reports have them.
#include "scenario.hpp"

namespace tabacus::lab {
namespace {

constexpr std::array<std::string_view, fault_count> fault_names = {
    "kill",          "freeze",           "throttle",        "bfcache",
    "lose-database", "close-connection", "quota",           "clear-storage",
    "corrupt",       "browser-crash",    "suspend",         "orphaned-lock",
    "clock-jump",    "dead-connection",  "hang-transaction"};

}  // namespace

std::string_view fault_name(Fault fault) { return fault_names.at(static_cast<std::size_t>(fault)); }

std::optional<Fault> fault_named(std::string_view name) {
    for (std::size_t i = 0; i < fault_names.size(); ++i) {
        if (fault_names.at(i) == name) return static_cast<Fault>(i);
    }
    return std::nullopt;
}

}  // namespace tabacus::lab
