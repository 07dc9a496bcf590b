#include "key_index.hpp"

#include <algorithm>
#include <iterator>

namespace tabacus {
namespace {

/// The least number of rows that are read or removed together.
constexpr std::size_t together_min = 8;
/// Another list follows a list that has reached at least one in so many of the unlisted keys, since
/// a listed row costs a fraction of what a request for one row does. After a sparser stretch each
/// key is requested by itself, even if keys behind it are dense.
constexpr std::size_t dense = 4;

bool is_ascii(const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](unsigned char byte) { return byte < 0x80; });
}

}  // namespace

/// Lists are not used if a key is not ASCII: the database orders other texts differently from
/// std::map.
void KeyIndex::begin() {
    unlisted_ = rows_.begin();
    listing_ = rows_.size() >= together_min &&
               std::all_of(rows_.begin(), rows_.end(),
                           [](const auto& entry) { return is_ascii(entry.first); });
}

/// Lists the rows from the first unlisted key on, with the text with which all unlisted keys begin,
/// and at most as many rows as there are unlisted keys. One such request is much cheaper than a
/// request for each key. No other row lies between two rows that it returns one after the other.
Task<std::vector<Row>> KeyIndex::list() {
    const auto& first = unlisted_->first;
    const auto& last = rows_.rbegin()->first;
    const auto alike = std::mismatch(first.begin(), first.end(), last.begin(), last.end()).first;
    const auto ahead = static_cast<std::size_t>(std::distance(unlisted_, rows_.end()));
    auto listed = co_await transaction_.list(Store::jobs, std::string(first.begin(), alike),
                                             static_cast<std::uint32_t>(ahead), first);
    const auto from = unlisted_;
    // If fewer rows than requested were there, the list has reached all keys.
    unlisted_ = listed.size() < ahead ? rows_.end() : rows_.upper_bound(listed.back().key);
    const auto reached = static_cast<std::size_t>(std::distance(from, unlisted_));
    listing_ = ahead - reached >= together_min && reached * dense >= ahead;
    co_return listed;
}

Task<void> KeyIndex::read() {
    begin();
    while (listing_) {
        auto listed = co_await list();
        for (auto& row : listed) {
            if (const auto at = rows_.find(row.key); at != rows_.end()) {
                at->second = std::move(row.value);
            }
        }
    }
    // All are requested before the first answer is awaited, which is faster.
    std::vector<std::pair<std::string*, Async<std::optional<Row>>>> reads;
    for (auto at = unlisted_; at != rows_.end(); ++at) {
        reads.emplace_back(&at->second, transaction_.get(Store::jobs, at->first));
    }
    for (auto& [text, read] : reads) {
        auto row = co_await std::move(read);
        if (row) *text = std::move(row->value);
    }
}

Task<void> KeyIndex::remove() {
    begin();
    while (listing_) {
        const auto listed = co_await list();
        // Adjacent ones are removed by one request.
        for (auto row = listed.begin(); row != listed.end();) {
            const auto first = row;
            while (row != listed.end() && rows_.contains(row->key)) ++row;
            if (row == first) {
                ++row;
            } else {
                transaction_.remove_range(Store::jobs, first->key, std::prev(row)->key);
            }
        }
    }
    for (auto at = unlisted_; at != rows_.end(); ++at) transaction_.remove(Store::jobs, at->first);
}

}  // namespace tabacus
