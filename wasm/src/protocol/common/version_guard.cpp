#include "version_guard.hpp"

#include "concat.hpp"
#include "record.hpp"

namespace tabacus {
namespace {

/// Whether it is the key of an outcome, "<queue>/o/…".
bool is_outcome_key(std::string_view key) {
    const auto name_end = key.find('/');
    return name_end < key.size() && key.substr(name_end).starts_with("/o/");
}

}  // namespace

bool is_newer_row(Store store, std::string_view key, std::string_view value) {
    return is_newer(value) && store != Store::data && store != Store::quarantine &&
           !key.ends_with("/commit");
}

bool bars_reader(Store store, ReadBy by, std::string_view key) {
    if (store == Store::rows || store == Store::claims) return false;
    if (by == ReadBy::get) return true;
    return store != Store::locks && (store != Store::jobs || !is_outcome_key(key));
}

Error newer_record(std::string_view key) {
    return {ErrorCode::version_mismatch,
            concat({"a newer version has written \"", key, "\": close or reload this tab"})};
}

}  // namespace tabacus
