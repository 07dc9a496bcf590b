// MapTransaction: a transaction over rows in memory, which answers at once and commits nothing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "empty_transaction.hpp"

namespace tabacus::test {

class MapTransaction final : public EmptyTransaction {
  public:
    Async<std::optional<Row>> get(Store store, std::string_view key) override {
        ++single_requests;
        const auto found = rows.find({store, std::string(key)});
        if (found == rows.end()) return std::optional<Row>();
        return std::optional(Row{found->first.second, found->second, false});
    }
    Async<std::vector<Row>> list(Store store, std::string_view prefix, std::uint32_t limit,
                                 std::string_view from) override {
        std::vector<Row> listed;
        for (const auto& [place, value] : rows) {
            const auto& [of, key] = place;
            if (of != store || !key.starts_with(prefix) || key < from) continue;
            if (listed.size() < limit) listed.push_back({key, value, false});
        }
        return listed;
    }
    void put(Store store, std::string_view key, std::string_view value) override {
        rows.insert_or_assign({store, std::string(key)}, std::string(value));
    }
    void remove(Store store, std::string_view key) override {
        ++single_requests;
        rows.erase({store, std::string(key)});
    }
    void remove_range(Store store, std::string_view first, std::string_view last) override {
        rows.erase(rows.lower_bound({store, std::string(first)}),
                   rows.upper_bound({store, std::string(last)}));
    }

    /// Returns the values of the rows whose keys begin with `prefix`, in the order of their keys.
    [[nodiscard]] std::vector<std::string> values(Store store, std::string_view prefix) const {
        std::vector<std::string> found;
        for (const auto& [place, value] : rows) {
            if (place.first == store && place.second.starts_with(prefix)) found.push_back(value);
        }
        return found;
    }

    std::map<std::pair<Store, std::string>, std::string> rows;
    int single_requests = 0;  // how many calls of get() and remove() there were
};

}  // namespace tabacus::test
