#include "key_pages.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "protocol/common/concat.hpp"
#include "protocol/common/names.hpp"
#include "protocol/common/record.hpp"
#include "queue_record.hpp"

namespace tabacus {
namespace {

/// The bound of the last page: behind all names.
constexpr std::string_view last_bound = "\x7f";
/// So many keys of each page are close to each other.
constexpr std::size_t close_keys_min = 8;
/// How many pages are read first, and the most that are read by one request.
constexpr std::uint32_t first_read = 4;
constexpr std::uint32_t read_max = 256;
/// So many pages tell whether names are far apart.
constexpr std::size_t read_before_giving_up = 16;

/// Returns the key as pages spell it: all of it is ASCII, which stores and C++ order alike.
std::string name_of(std::string_view key) {
    constexpr std::string_view hex = "0123456789ABCDEF";
    std::string name;
    for (const char c : escaped(key)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x7f) {
            name += c;
        } else {
            ((name += '%') += hex[byte >> 4U]) += hex[byte & 15U];
        }
    }
    return name;
}

/// Returns the positions by name, or nothing if the text cannot be read.
std::optional<std::map<std::string, std::string>> parse_page(std::string_view text) {
    constexpr std::size_t fields_max = 1 + 2 * page_keys_max;
    const auto fields = fields_of(text, fields_max);
    if (fields.front() != record_version || fields.size() % 2 == 0) return std::nullopt;
    if (fields.size() > fields_max) return std::nullopt;
    std::map<std::string, std::string> positions;
    for (std::size_t i = 1; i < fields.size(); i += 2) {
        const auto position = fields[i + 1];
        const bool paged = position.starts_with(runnable_parts[1]) &&
                           position.size() > order_digits && is_order(order_of(position));
        if (!paged) return std::nullopt;
        positions.emplace(fields[i], position);
    }
    return positions;
}

}  // namespace

KeyPages::KeyPages(Transaction& transaction, const std::string& queue)
    : transaction_(transaction), prefix_(concat({queue, "/i/"})) {}

std::string KeyPages::find(std::string_view key) const {
    const auto name = name_of(key);
    const auto changed = changes_.find(name);
    if (changed != changes_.end()) return changed->second;
    const auto page = pages_.lower_bound(name);
    if (page == pages_.end()) return {};
    const auto found = page->second.positions.find(name);
    return found == page->second.positions.end() ? std::string() : found->second;
}

bool KeyPages::are_close(const std::set<std::string>& keys) const {
    std::set<std::string_view> bounds;
    for (const auto& key : keys) {
        const auto page = pages_.lower_bound(name_of(key));
        if (page != pages_.end()) bounds.insert(page->first);
    }
    return bounds.size() < 2 || keys.size() >= close_keys_min * bounds.size();
}

void KeyPages::set(std::string_view key, std::string position) {
    changes_.insert_or_assign(name_of(key), std::move(position));
}

void KeyPages::clear() {
    cleared_ = true;
    pages_.clear();
    changes_.clear();
    transaction_.remove_range(Store::jobs, prefix_, concat({prefix_, last_bound}));
}

Task<void> KeyPages::read(std::vector<std::string> keys) {
    std::set<std::string> names;
    for (const auto& key : keys) names.insert(name_of(key));
    co_await read_pages(std::move(names));
}

/// Reads pages one after another while they have at least a name each. If the names are farther
/// apart, each is requested by itself, all at once.
Task<void> KeyPages::read_pages(std::set<std::string> names) {
    auto known = [this](const std::string& name) { return page_of(name) != pages_.end(); };
    std::erase_if(names, known);
    std::size_t pages = 0;
    std::size_t found = 0;
    for (auto limit = first_read; !names.empty();) {
        const auto from = *names.begin();
        const auto rows = co_await request(from, limit);
        admit(from, rows, rows.size() < limit);
        const auto found_here = std::erase_if(names, known);
        limit = found_here < rows.size() ? first_read : std::min(4 * limit, read_max);
        pages += rows.size();
        found += found_here;
        if (pages >= read_before_giving_up && found < pages) break;
    }
    std::vector<std::pair<std::string, Async<std::vector<Row>>>> reads;
    for (const auto& name : names) reads.emplace_back(name, request(name, 1));
    for (auto& [name, read] : reads) {
        const auto rows = co_await std::move(read);
        admit(name, rows, rows.empty());
    }
}

Async<std::vector<Row>> KeyPages::request(std::string_view from, std::uint32_t limit) {
    return transaction_.list(Store::jobs, prefix_, limit, concat({prefix_, from}));
}

/// Takes in the pages from that name on. `last`: no page follows.
void KeyPages::admit(std::string from, const std::vector<Row>& rows, bool last) {
    for (const auto& row : rows) {
        auto bound = row.key.substr(prefix_.size());
        auto [page, is_new] = pages_.try_emplace(bound, Page{from, {}});
        page->second.from = std::min(page->second.from, from);
        from = behind(bound);
        if (!is_new) continue;
        auto positions = parse_page(row.value);
        if (!positions) unreadable_.push_back(row);
        page->second.positions =
            std::move(positions).value_or(std::map<std::string, std::string>());
    }
    if (!last) return;
    auto& page = pages_.try_emplace(std::string(last_bound), Page{from, {}}).first->second;
    page.from = std::min(page.from, from);
}

KeyPages::Pages::iterator KeyPages::page_of(const std::string& name) {
    const auto page = pages_.lower_bound(name);
    return page != pages_.end() && page->second.from <= name ? page : pages_.end();
}

Task<void> KeyPages::write() {
    std::set<std::string> names;
    for (const auto& [name, position] : changes_) names.insert(name);
    co_await read_pages(std::move(names));
    std::set<std::string> changed;
    for (auto& [name, position] : changes_) {
        auto& [bound, page] = *page_of(name);
        const auto found = page.positions.find(name);
        if (position.empty() && found == page.positions.end()) continue;
        if (position.empty()) page.positions.erase(found);
        if (!position.empty()) page.positions.insert_or_assign(name, std::move(position));
        changed.insert(bound);
    }
    for (const auto& bound : changed) put(bound, pages_[bound]);
}

/// Writes the page as one row or more, each of about the same size.
void KeyPages::put(const std::string& bound, const Page& page) {
    const auto& positions = page.positions;
    if (positions.empty()) transaction_.remove(Store::jobs, concat({prefix_, bound}));
    auto rows = (positions.size() + page_keys_max - 1) / page_keys_max;
    auto next = positions.begin();
    for (auto left = positions.size(); rows > 0; --rows) {
        const auto count = (left + rows - 1) / rows;
        std::string text(record_version);
        std::string_view name;
        for (std::size_t i = 0; i < count; ++i, ++next) {
            name = next->first;
            text += concat({";", name, ";", next->second});
        }
        left -= count;
        transaction_.put(Store::jobs, concat({prefix_, rows > 1 ? name : bound}), text);
    }
}

}  // namespace tabacus
