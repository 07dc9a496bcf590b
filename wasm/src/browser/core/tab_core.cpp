#include "browser/core/tab_core.hpp"

namespace tabacus::browser {

TabCore::TabCore(const std::string& name_space, int program)
    : world_(program), tab_(world_, name_space, notify) {}

void TabCore::open(PromiseId promise) { settle(scope_, tab_.open(), promise); }

void TabCore::close(PromiseId promise) { settle(scope_, tab_.close(), promise); }

void TabCore::capabilities(PromiseId promise) const {
    const Capabilities it = tab_.capabilities();
    Resolve{promise}(joined({it.store, it.exclusion, it.durability, it.backup ? "mirror" : "",
                             it.channel ? "channel" : ""}));
}

ReplicatedCore* TabCore::counter(const std::string& name, bool strict) {
    auto& counter = tab_.replicated(name, strict ? Durability::strict : Durability::relaxed);
    counters_.push_back(std::make_unique<ReplicatedCore>(scope_, counter));
    return counters_.back().get();
}

}  // namespace tabacus::browser
