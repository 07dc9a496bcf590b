#include "browser/storage.hpp"

#include "browser/operations.hpp"

namespace tabacus::browser {

using emscripten::val;

std::optional<std::string> optional_string(const val& value) {
    if (value.isNull()) return std::nullopt;
    return value.as<std::string>();
}

std::vector<std::string> strings(const val& array) {
    std::vector<std::string> result(array["length"].as<unsigned>());
    for (unsigned i = 0; i < result.size(); ++i) result[i] = array[i].as<std::string>();
    return result;
}

bool BrowserStorage::available() const {
    return host_["available"].as<bool>();
}

Async<std::optional<std::string>> BrowserStorage::get(std::string_view key) {
    return optional_string(host_.call<val>("get", std::string(key)));
}

Async<Unit> BrowserStorage::set(std::string_view key, std::string_view value) {
    const auto failure = host_.call<val>("set", std::string(key), std::string(value));
    if (failure.isNull()) return Unit{};
    return Async<Unit>::failed(failure_from(failure));
}

Async<Unit> BrowserStorage::remove(std::string_view key) {
    host_.call<void>("remove", std::string(key));
    return Unit{};
}

Async<std::vector<std::string>> BrowserStorage::keys(std::string_view prefix) {
    return strings(host_.call<val>("keys", std::string(prefix)));
}

Subscription BrowserStorage::on_change(std::function<void(const StorageChange&)> callback) {
    return listeners_.add(std::move(callback));
}

}  // namespace tabacus::browser
