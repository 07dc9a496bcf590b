#include "browser/core/tab_core.hpp"

#include <utility>

namespace tabacus::browser {

TabCore::TabCore(std::string name_space)
    : name_space_(std::move(name_space)), tab_(world_, name_space_, notify) {}

void TabCore::open(PromiseId promise) { settle(scope_, tab_.open(), promise); }

void TabCore::close(PromiseId promise) { settle(scope_, tab_.close(), promise); }

ReplicatedCore* TabCore::counter(const std::string& name, Durability durability) {
    auto& counter = tab_.replicated(name, durability);
    counters_.push_back(std::make_unique<ReplicatedCore>(scope_, counter));
    return counters_.back().get();
}

}  // namespace tabacus::browser
