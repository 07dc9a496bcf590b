#include "key_index.hpp"

#include <algorithm>
#include <iterator>

namespace tabacus {
namespace {

/// The least number of rows that are read or removed together.
constexpr std::size_t together_min = 8;

bool is_ascii(const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](unsigned char byte) { return byte < 0x80; });
}

}  // namespace

/// Lists the rows from the first of the keys on, with the text with which all of the keys begin,
/// and at most twice as many rows as there are keys. One such request is much cheaper than a
/// request for each key. Returns nothing if there are few keys, or if one is not ASCII: the
/// database orders other texts differently from std::map.
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
    // All are requested before the first answer is awaited, which is faster.
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
