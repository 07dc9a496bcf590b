#include "browser/browser_storage.hpp"

namespace tabacus::browser {

Async<std::vector<std::string>> BrowserStorage::keys(std::string_view prefix) {
    const auto read = [](Texts& answer) {
        std::vector<std::string> keys;
        for (auto& key : answer) keys.push_back(std::move(key).value_or(""));
        return keys;
    };
    auto [operation, answer] = operations_.begin<std::vector<std::string>>(read);
    host::storage_keys(operation, prefix);
    return std::move(answer);
}

}  // namespace tabacus::browser
