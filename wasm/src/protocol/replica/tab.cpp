#include "tabacus/replica/tab.hpp"

#include <algorithm>
#include <list>
#include <utility>
#include <vector>

#include "protocol/common/names.hpp"
#include "replica.hpp"
#include "storage_replica.hpp"
#include "tabacus/replica/replicated.hpp"

namespace tabacus {

using namespace std::string_view_literals;

struct Tab::Parts {
    struct Opened {
        std::string name;
        Durability durability;
        std::unique_ptr<ReplicatedCounter> counter;
    };

    World& world;
    Names names;
    NoticeHandler on_notice;
    Medium medium = Medium::memory;
    std::unique_ptr<Replica> replica;
    std::list<Opened> opened;
    std::string data_loss;  // what the browser reported when it made the database, before open()
    Subscription database_events;
};

Tab::Tab(World& world, std::string name_space, NoticeHandler on_notice)
    : parts_(new Parts{.world = world,
                       .names = Names(name_space),
                       .on_notice = std::move(on_notice),
                       .replica = nullptr,
                       .opened = {},
                       .data_loss = {},
                       .database_events = {}}) {
    parts_->database_events =
        world.database().on_event([&loss = parts_->data_loss](const DatabaseEvent& event) {
            if (event.kind == DatabaseEvent::Kind::created) loss = event.data_loss;
        });
}
Tab::~Tab() = default;

/// Some browsers have a database and refuse to open it, so it is opened here before it is relied
/// on. A database that opens and fails later is no reason for a weaker store: the tab would count
/// where no other tab reads.
Task<void> Tab::open() {
    auto& world = parts_->world;
    auto& medium = parts_->medium;
    std::string refusal;
    if (world.database().available()) {
        const auto opened = co_await attempt(world.database().open());
        if (opened) {
            medium = Medium::database;
        } else {
            refusal = opened.error().what();
        }
    }
    // localStorage is touched only where it is needed: the browser may have to read its file first.
    if (medium != Medium::database && world.storage().available()) medium = Medium::storage;
    if (!refusal.empty()) {
        parts_->on_notice({Notice::Kind::warning, "degraded",
                           "IndexedDB cannot be opened; a weaker store is used.", refusal, "", 0});
    }
    auto loss = std::exchange(parts_->data_loss, {});
    if (medium == Medium::storage) {
        parts_->replica = std::make_unique<StorageReplica>(world, parts_->names, parts_->on_notice,
                                                           std::move(loss));
    } else {
        parts_->replica = std::make_unique<Replica>(world, parts_->names, medium, parts_->on_notice,
                                                    std::move(loss));
    }
    parts_->database_events = {};
}

Task<void> Tab::close() { return parts_->replica->close(); }

Capabilities Tab::capabilities() const {
    const auto medium = parts_->medium;
    return {.store = medium == Medium::database  ? "indexeddb"sv
                     : medium == Medium::storage ? "localstorage"sv
                                                 : "memory"sv,
            .exclusion = parts_->world.locks().available() ? "web-locks"sv
                         : medium == Medium::database      ? "lease"sv
                                                           : "none"sv,
            .durability = medium == Medium::database  ? "strict"sv
                          : medium == Medium::storage ? "relaxed"sv
                                                      : "memory"sv,
            .channel = parts_->world.channel(parts_->names.channel()) != nullptr};
}

ReplicatedCounter& Tab::replicated(std::string_view name, Durability durability) {
    auto& opened = parts_->opened;
    const auto found = std::find_if(opened.begin(), opened.end(), [&](const auto& other) {
        return other.name == name && other.durability == durability;
    });
    if (found != opened.end()) return *found->counter;
    auto& replica = *parts_->replica;
    opened.push_back(
        {std::string(name), durability,
         std::make_unique<ReplicatedCounter>(replica, replica.counter(name, durability))});
    return *opened.back().counter;
}

bool Tab::idle() { return parts_->replica->idle(); }

}  // namespace tabacus
