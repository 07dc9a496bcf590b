#include "tabacus/tab.hpp"

#include <algorithm>
#include <array>
#include <list>
#include <utility>

#include "locked.hpp"
#include "naive.hpp"
#include "names.hpp"
#include "replica.hpp"
#include "tabacus/replicated.hpp"
#include "transactional.hpp"

namespace tabacus {

std::optional<Strategy> strategy_named(std::string_view name) {
    constexpr std::array<std::pair<std::string_view, Strategy>, 4> strategies{{
        {"replicated", Strategy::replicated},
        {"naive", Strategy::naive},
        {"locked", Strategy::locked},
        {"transactional", Strategy::transactional},
    }};
    for (const auto& [known, strategy] : strategies) {
        if (known == name) return strategy;
    }
    return std::nullopt;
}

struct Tab::Parts {
    struct Opened {
        std::string name;
        CounterOptions options;
        std::unique_ptr<Counter> counter;
    };

    World& world;
    Names names;
    NoticeHandler on_notice;
    Medium medium = Medium::memory;
    std::unique_ptr<Replica> replica;
    std::list<Opened> opened;
    std::string data_loss;  // what the browser said when it made the database, before open()
    Subscription database_events;

    [[nodiscard]] std::unique_ptr<Counter> make(std::string_view name,
                                                CounterOptions options) const;
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

/// A database counts as there when it opens: some browsers have one and refuse to. One that opens
/// and fails later is no reason for a weaker store: the tab would count where no other tab looks.
Task<void> Tab::open() {
    auto& world = parts_->world;
    auto& medium = parts_->medium;
    medium = world.storage().available() ? Medium::storage : Medium::memory;
    std::string refusal;
    if (world.database().available()) {
        constexpr std::array scope{Store::meta};
        const auto begun =
            co_await attempt(world.database().begin(scope, Access::read, Durability::relaxed));
        if (begun) {
            medium = Medium::database;
        } else {
            refusal = begun.error().what();
        }
    }
    if (medium != Medium::database && !refusal.empty()) {
        parts_->on_notice({Notice::Kind::warning, "degraded",
                           "IndexedDB cannot be opened; a weaker store is used.", refusal, "", 0});
    }
    parts_->replica = std::make_unique<Replica>(world, parts_->names, medium, parts_->on_notice,
                                                std::exchange(parts_->data_loss, {}));
    parts_->database_events = {};
}

Task<void> Tab::close() { return parts_->replica->close(); }

Capabilities Tab::capabilities() const {
    const auto medium = parts_->medium;
    return {.store = medium == Medium::database  ? "indexeddb"
                     : medium == Medium::storage ? "localstorage"
                                                 : "memory",
            .exclusion = parts_->world.locks().available() ? "web-locks" : "none",
            .durability = medium == Medium::database  ? "strict"
                          : medium == Medium::storage ? "relaxed"
                                                      : "memory",
            .mirror = medium == Medium::database && parts_->replica->mirrored(),
            .channel = parts_->replica->has_channel()};
}

const char* Tab::missing(Strategy strategy) const {
    auto& world = parts_->world;
    switch (strategy) {
        case Strategy::naive:
            if (!world.storage().available()) return "the strategy naive needs localStorage";
            break;
        case Strategy::locked:
            if (!world.storage().available()) return "the strategy locked needs localStorage";
            if (!world.locks().available()) return "the strategy locked needs Web Locks";
            break;
        case Strategy::transactional:
            if (parts_->medium != Medium::database) {
                return "the strategy transactional needs IndexedDB";
            }
            break;
        case Strategy::replicated:
            break;
    }
    return nullptr;
}

std::unique_ptr<Counter> Tab::Parts::make(std::string_view name, CounterOptions options) const {
    switch (options.strategy) {
        case Strategy::naive:
            return std::make_unique<NaiveCounter>(world, names.counter("naive", name), on_notice);
        case Strategy::locked:
            return std::make_unique<LockedCounter>(world, names, name, on_notice);
        case Strategy::transactional:
            return std::make_unique<TransactionalCounter>(world, name, options.durability,
                                                          on_notice);
        case Strategy::replicated:
            break;
    }
    return std::make_unique<ReplicatedCounter>(*replica,
                                               replica->counter(name, options.durability));
}

Counter& Tab::counter(std::string_view name, CounterOptions options) {
    auto& opened = parts_->opened;
    const auto found = std::find_if(opened.begin(), opened.end(), [&](const auto& other) {
        return other.name == name && other.options.strategy == options.strategy &&
               other.options.durability == options.durability;
    });
    if (found != opened.end()) return *found->counter;
    if (const char* const what = missing(options.strategy)) {
        raise(failure_of(Error(ErrorCode::unavailable, what)));
    }
    opened.push_back({std::string(name), options, parts_->make(name, options)});
    return *opened.back().counter;
}

ReplicatedCounter& Tab::replicated(std::string_view name, Durability durability) {
    return static_cast<ReplicatedCounter&>(counter(name, {Strategy::replicated, durability}));
}

bool Tab::idle() { return parts_->replica->idle(); }

}  // namespace tabacus
