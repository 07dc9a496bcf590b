#include "tabacus/strategy/catalogue.hpp"

#include <algorithm>
#include <array>
#include <list>
#include <utility>

#include "batched.hpp"
#include "deltas.hpp"
#include "eventual.hpp"
#include "lamport.hpp"
#include "locked.hpp"
#include "log.hpp"
#include "naive.hpp"
#include "optimistic.hpp"
#include "protocol/common/concat.hpp"
#include "protocol/common/store_loss_detector.hpp"
#include "stored_counter.hpp"
#include "transactional.hpp"

namespace tabacus {
namespace {

struct StrategyEntry {
    Strategy strategy;
    std::string_view name;
};
constexpr std::array entries{
    StrategyEntry{Strategy::naive, "naive"},
    StrategyEntry{Strategy::log, "log"},
    StrategyEntry{Strategy::lamport, "lamport"},
    StrategyEntry{Strategy::eventual, "eventual"},
    StrategyEntry{Strategy::transactional, "transactional"},
    StrategyEntry{Strategy::locked, "locked"},
    StrategyEntry{Strategy::optimistic, "optimistic"},
    StrategyEntry{Strategy::deltas, "deltas"},
    StrategyEntry{Strategy::batched, "batched"},
};
constexpr std::array strategies = [] {
    std::array<Strategy, entries.size()> all{};
    std::transform(entries.begin(), entries.end(), all.begin(),
                   [](const StrategyEntry& entry) { return entry.strategy; });
    return all;
}();

bool in_database(Strategy strategy) {
    switch (strategy) {
        case Strategy::transactional:
        case Strategy::optimistic:
        case Strategy::deltas:
        case Strategy::batched:
            return true;
        case Strategy::naive:
        case Strategy::log:
        case Strategy::lamport:
        case Strategy::eventual:
        case Strategy::locked:
            break;
    }
    return false;
}

std::unique_ptr<StoredCounter> make(CounterLocation location, const CounterOptions& options) {
    const auto& times = options.times;
    switch (options.strategy) {
        case Strategy::naive:
            return std::make_unique<NaiveCounter>(std::move(location));
        case Strategy::log: {
            LogTimes log;
            log.fold_after_ms = times.fold_after.value_or(log.fold_after_ms);
            return std::make_unique<LogCounter>(std::move(location), log);
        }
        case Strategy::lamport: {
            LamportTimes lamport;
            lamport.delay_ms = times.delay.value_or(lamport.delay_ms);
            lamport.back_off_ms = times.back_off.value_or(lamport.back_off_ms);
            lamport.force_after_ms = times.force_after.value_or(lamport.force_after_ms);
            return std::make_unique<LamportCounter>(std::move(location), lamport);
        }
        case Strategy::eventual:
            return std::make_unique<EventualCounter>(std::move(location));
        case Strategy::transactional:
            return std::make_unique<TransactionalCounter>(std::move(location), options.durability);
        case Strategy::locked:
            return std::make_unique<LockedCounter>(std::move(location));
        case Strategy::optimistic: {
            OptimisticTimes optimistic;
            optimistic.back_off_ms = times.back_off.value_or(optimistic.back_off_ms);
            return std::make_unique<OptimisticCounter>(std::move(location), options.durability,
                                                       optimistic);
        }
        case Strategy::deltas: {
            DeltasTimes deltas;
            deltas.threshold_ms = times.threshold.value_or(deltas.threshold_ms);
            return std::make_unique<DeltasCounter>(std::move(location), options.durability, deltas);
        }
        case Strategy::batched:
            break;
    }
    BatchedTimes batched;
    batched.interval_ms = times.interval.value_or(batched.interval_ms);
    return std::make_unique<BatchedCounter>(std::move(location), options.durability, batched);
}

}  // namespace

struct Catalogue::Parts {
    struct Opened {
        std::string name;
        CounterOptions options;
        std::string key;  // the message that announces a change of the counter
        std::unique_ptr<StoredCounter> counter;
    };
    World& world;
    Names names;
    NoticeHandler on_notice;
    std::list<Opened> opened;
    Subscription lifecycle;
    std::unique_ptr<Channel> channel;
    bool listened = false;  // whether the channel was open when the page was hidden
    StoreLossDetector& loss_detector;

    /// Opens the channel on which the counters in a database notify each other, because a database
    /// has no events for changes.
    void open_channel() {
        if (channel) return;
        channel = world.channel(names.catalogue_channel());
        if (channel) channel->on_message([this](std::string_view key) { refresh(key); });
    }
    void refresh(std::string_view key) {
        for (const auto& one : opened) {
            if (one.key == key) one.counter->refresh();
        }
    }
    void on_lifecycle(LifecycleEvent event) {
        if (opened.empty()) return;
        for (const auto& one : opened) one.counter->on_lifecycle(event);
        // A page with an open connection may not be kept in the back/forward cache.
        if (event == LifecycleEvent::page_hide) {
            world.database().close();
            listened = channel != nullptr;
            channel.reset();
        }
        if (event == LifecycleEvent::page_show) {
            for (const auto& one : opened) one.counter->refresh();
            if (std::exchange(listened, false)) open_channel();
        }
    }
    void post(std::string_view key) const {
        if (channel) channel->post(key);
    }
};

std::string_view Catalogue::missing(Strategy strategy) const {
    auto& world = parts_->world;
    if (in_database(strategy)) return world.database().available() ? "" : "IndexedDB";
    if (!world.storage().available()) return "localStorage";
    if (strategy == Strategy::locked && !world.locks().available()) return "Web Locks";
    return {};
}

std::span<const Strategy> all_strategies() { return strategies; }

std::string_view strategy_name(Strategy strategy) {
    return entries.at(static_cast<std::size_t>(strategy)).name;
}

std::optional<Strategy> strategy_named(std::string_view name) {
    for (const auto& entry : entries) {
        if (entry.name == name) return entry.strategy;
    }
    return std::nullopt;
}

Catalogue::Catalogue(World& world, std::string_view name_space, StoreLossDetector& loss_detector,
                     NoticeHandler on_notice)
    : parts_(new Parts{.world = world,
                       .names = Names(name_space),
                       .on_notice = std::move(on_notice),
                       .opened = {},
                       .lifecycle = {},
                       .channel = nullptr,
                       .loss_detector = loss_detector}) {
    parts_->lifecycle = world.lifecycle().on_event(
        [parts = parts_.get()](LifecycleEvent event) { parts->on_lifecycle(event); });
}
Catalogue::~Catalogue() = default;

Counter& Catalogue::counter(std::string_view name, const CounterOptions& options) {
    auto& opened = parts_->opened;
    const auto found = std::find_if(opened.begin(), opened.end(), [&](const auto& other) {
        return other.name == name && other.options == options;
    });
    if (found != opened.end()) return *found->counter;
    if (const auto what = missing(options.strategy); !what.empty()) {
        raise(failure_of(
            Error(ErrorCode::unavailable,
                  concat({"the strategy ", strategy_name(options.strategy), " needs ", what}))));
    }
    CounterLocation location{parts_->world, parts_->names, std::string(name), parts_->on_notice};
    location.loss_detector = &parts_->loss_detector;
    std::string key;
    if (in_database(options.strategy)) {
        key = concat({strategy_name(options.strategy), "/", escaped(name)});
        location.notify_others = [parts = parts_.get(), key] { parts->post(key); };
        location.listen_to_others = [parts = parts_.get()] {
            parts->open_channel();
            parts->loss_detector.start();
        };
    }
    opened.push_back({std::string(name), options, key, make(std::move(location), options)});
    return *opened.back().counter;
}

Task<void> Catalogue::close() {
    parts_->lifecycle = {};
    std::optional<Error> failure;
    for (const auto& one : parts_->opened) {
        const auto flushed = co_await attempt(one.counter->flush());
        if (!flushed) failure = flushed.error();
        one.counter->on_lifecycle(LifecycleEvent::page_hide);
    }
    if (failure) co_await fail(*failure);
}

}  // namespace tabacus
