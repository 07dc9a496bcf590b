#include "tabacus/replica/tab.hpp"

#include <utility>

#include "protocol/common/names.hpp"
#include "replica.hpp"
#include "storage_replica.hpp"
#include "tabacus/replica/replicated.hpp"

namespace tabacus {

using namespace std::string_view_literals;

struct Tab::Parts {
    World& world;
    Names names;
    NoticeHandler on_notice;
    Medium medium = Medium::memory;
    std::unique_ptr<Replica> replica;
    std::string data_loss;  // what the browser reported when it made the database, before open()
    Subscription database_events;
};

Tab::Tab(World& world, std::string name_space, NoticeHandler on_notice)
    : parts_(new Parts{.world = world,
                       .names = Names(name_space),
                       .on_notice = std::move(on_notice),
                       .replica = nullptr,
                       .data_loss = {},
                       .database_events = {}}) {
    parts_->database_events =
        world.database().on_event([&loss = parts_->data_loss](const DatabaseEvent& event) {
            if (event.kind == DatabaseEvent::Kind::created) loss = event.data_loss;
        });
}
Tab::~Tab() = default;

/// Opens the database, because some browsers have one but refuse to open it; then the tab uses a
/// weaker store. If the database opens and fails later, the tab does not change to a weaker store,
/// which other tabs would not read.
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
    auto& replica = *parts_->replica;
    auto& state = replica.counter(name, durability);
    if (!state.handle) state.handle = std::make_unique<ReplicatedCounter>(replica, state);
    return static_cast<ReplicatedCounter&>(*state.handle);
}

bool Tab::idle() { return parts_->replica->idle(); }

}  // namespace tabacus
