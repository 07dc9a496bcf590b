#include "key_index.hpp"

#include <algorithm>
#include <iterator>

namespace tabacus {
namespace {

/// So many rows are read or removed together.
constexpr std::size_t together_min = 8;

bool is_ascii(const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](unsigned char byte) { return byte < 0x80; });
}

}  // namespace

/// Lists the rows from the first of these keys on, as far as all of them begin alike, and at most
/// twice as many: a request for each would be most of the work of a transaction. Returns nothing if
/// the keys are few. Stores order texts of ASCII as std::map does, but not all others.
Task<std::optional<std::vector<Row>>> KeyIndex::list() const {
    const bool ascii = std::all_of(rows_.begin(), rows_.end(),
                                   [](const auto& entry) { return is_ascii(entry.first); });
    if (!ascii || rows_.size() < together_min) co_return std::nullopt;
    const auto& first = rows_.begin()->first;
    const auto& last = rows_.rbegin()->first;
    const auto alike = std::mismatch(first.begin(), first.end(), last.begin(), last.end()).first;
    co_return co_await transaction_.list(Store::jobs, std::string(first.begin(), alike),
                                         2 * static_cast<std::uint32_t>(rows_.size()), first);
}

Task<void> KeyIndex::read() {
    if (const auto listed = co_await list()) {
        for (const auto& row : *listed) {
            if (const auto at = rows_.find(row.key); at != rows_.end()) at->second = row.value;
        }
        if (listed->size() < 2 * rows_.size()) co_return;  // there are no others
    }
    // They are requested together: their answers come faster than those of single requests.
    std::vector<std::pair<std::string*, Async<std::optional<Row>>>> reads;
    reads.reserve(rows_.size());
    for (auto& [key, text] : rows_) reads.emplace_back(&text, transaction_.get(Store::jobs, key));
    for (auto& [text, read] : reads) {
        auto row = co_await std::move(read);
        if (row) *text = std::move(row->value);
    }
}

Task<void> KeyIndex::remove() {
    const auto listed = (co_await list()).value_or(std::vector<Row>());
    // Adjacent ones are removed by one request.
    for (auto row = listed.begin(); row != listed.end();) {
        const auto first = row;
        while (row != listed.end() && rows_.erase(row->key) > 0) ++row;
        if (row == first) {
            ++row;
        } else {
            transaction_.remove_range(Store::jobs, first->key, std::prev(row)->key);
        }
    }
    for (const auto& [key, text] : rows_) transaction_.remove(Store::jobs, key);
}

}  // namespace tabacus
