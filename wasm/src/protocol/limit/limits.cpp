#include "tabacus/limit/limits.hpp"

#include <map>
#include <set>
#include <utility>

#include "limit_record.hpp"
#include "limit_store.hpp"
#include "protocol/common/concat.hpp"
#include "protocol/common/names.hpp"
#include "protocol/common/record.hpp"

namespace tabacus {

struct Limits::Parts {
    Parts(World& of, std::string_view name_space, NoticeHandler on_notice)
        : world(of),
          names(name_space),
          store(of, names, std::move(on_notice)),
          tab(identifier_of(of.random().bits())) {}

    void open_channel();
    void on_message(std::string_view text);
    void on_lifecycle(LifecycleEvent event);
    void suspend();
    void resume();
    void broadcast(LimitMessage::Kind kind, const std::string& key, std::int64_t detail) const {
        if (channel) channel->post(format_limit_message({kind, key, detail, tab}));
    }
    Task<void> hold_liveness();
    Task<std::optional<std::set<std::string>>> live_tabs();

    /// Calls `use` with the object of that key, if there is one.
    template <typename Objects, typename Use>
    static void with(Objects& objects, const std::string& key, Use use) {
        const auto found = objects.find(key);
        if (found != objects.end()) use(*found->second);
    }

    World& world;
    Names names;
    LimitStore store;
    std::string tab;
    std::unique_ptr<Channel> channel;
    std::unique_ptr<HeldLock> liveness;
    // Each map is keyed by the keys of the rows; the key of a sequence is followed by its options.
    std::map<std::string, std::unique_ptr<Sequence>> sequences;
    std::map<std::string, std::unique_ptr<Budget>> budgets;
    std::map<std::string, std::unique_ptr<RateLimit>> rates;
    Subscription lifecycle;
    bool closed = false;
};

void Limits::Parts::open_channel() {
    channel = world.channel(names.limits_channel());
    if (channel) channel->on_message([this](std::string_view text) { on_message(text); });
}

void Limits::Parts::on_message(std::string_view text) {
    if (closed) return;
    const auto message = parse_limit_message(text);
    if (!message) {
        // A tab of a newer version may be asking for the time, and this one cannot answer. If it
        // went on being a witness, that tab could not learn the time while this tab lives.
        if (is_newer(text)) {
            for (const auto& [key, rate] : rates) rate->suspend();
        }
        return;
    }
    with(budgets, message->key, [&](Budget& budget) { budget.note_alive(message->tab); });
    switch (message->kind) {
        case LimitMessage::Kind::changed:
            with(budgets, message->key, [&](Budget& budget) { budget.changed(message->detail); });
            with(rates, message->key, [](RateLimit& rate) { rate.changed(); });
            break;
        case LimitMessage::Kind::recall:
            with(budgets, message->key, [](Budget& budget) { budget.recalled(); });
            break;
        case LimitMessage::Kind::ask:
            with(rates, message->key, [](RateLimit& rate) { rate.asked(); });
            break;
    }
}

void Limits::Parts::on_lifecycle(LifecycleEvent event) {
    if (closed) return;
    switch (event) {
        case LifecycleEvent::frozen:
            suspend();
            break;
        case LifecycleEvent::page_hide:
            suspend();
            channel.reset();
            world.database().close();
            break;
        case LifecycleEvent::page_show:
        case LifecycleEvent::resumed:
            resume();
            break;
        case LifecycleEvent::hidden:
        case LifecycleEvent::visible:
            break;
    }
}

void Limits::Parts::suspend() {
    if (store.suspended()) return;
    for (const auto& [key, budget] : budgets) budget->suspend();
    for (const auto& [key, rate] : rates) rate->suspend();
    liveness.reset();
    store.suspend();
}

void Limits::Parts::resume() {
    if (!store.suspended()) return;
    if (!channel) open_channel();
    store.resume();
    for (const auto& [key, budget] : budgets) budget->resume();
}

/// Acquires the liveness lock. While a tab holds it, no other tab removes its rows of rights.
Task<void> Limits::Parts::hold_liveness() {
    if (liveness || !world.locks().available()) co_return;
    auto held = co_await world.locks().request({.name = names.holder(tab), .if_available = true});
    if (!store.suspended()) liveness = std::move(held);
}

Task<std::optional<std::set<std::string>>> Limits::Parts::live_tabs() {
    if (!world.locks().available()) co_return std::nullopt;
    const auto prefix = names.holder("");
    std::set<std::string> found;
    const auto snapshot = co_await world.locks().query({});
    for (const auto& lock : snapshot.held) {
        if (lock.name.starts_with(prefix)) found.insert(lock.name.substr(prefix.size()));
    }
    co_return found;
}

Limits::Limits(World& world, std::string_view name_space, NoticeHandler on_notice)
    : parts_(std::make_unique<Parts>(world, name_space, std::move(on_notice))) {
    parts_->open_channel();
    parts_->lifecycle = world.lifecycle().on_event(
        [parts = parts_.get()](LifecycleEvent event) { parts->on_lifecycle(event); });
}

Limits::~Limits() = default;

bool Limits::durable() const { return parts_->store.durable(); }

Sequence& Limits::sequence(std::string_view name, SequenceOptions options) {
    auto key = concat({"sequence/", escaped(name)});
    auto& sequence = parts_->sequences[concat(
        {key, ";", options.gapless ? "gapless" : format_decimal(options.block)})];
    if (!sequence) {
        sequence =
            std::make_unique<Sequence>(parts_->world, parts_->store, std::move(key), options);
    }
    return *sequence;
}

Budget& Limits::budget(std::string_view name, std::int64_t limit) {
    auto* const parts = parts_.get();
    const auto key = concat({"budget/", escaped(name)});
    auto& budget = parts->budgets[key];
    if (budget) {
        budget->set_limit(limit);
    } else {
        BudgetOwner owner{parts->world,
                          parts->store,
                          parts->tab,
                          [parts] { return parts->hold_liveness(); },
                          [parts] { return parts->live_tabs(); },
                          [parts, key](bool recall, std::int64_t used) {
                              parts->broadcast(
                                  recall ? LimitMessage::Kind::recall : LimitMessage::Kind::changed,
                                  key, used);
                          }};
        budget = std::make_unique<Budget>(std::move(owner), key, limit);
    }
    return *budget;
}

RateLimit& Limits::rate_limit(std::string_view name, std::int64_t limit, std::int64_t interval_ms) {
    auto* const parts = parts_.get();
    const auto key = concat({"rate/", escaped(name)});
    auto& rate = parts->rates[key];
    if (rate) {
        rate->set_limit(limit, interval_ms);
    } else {
        RateOwner owner{
            parts->world, parts->store, parts->names.witness(key), [parts, key](bool ask) {
                parts->broadcast(ask ? LimitMessage::Kind::ask : LimitMessage::Kind::changed, key,
                                 0);
            }};
        rate = std::make_unique<RateLimit>(std::move(owner), key, limit, interval_ms);
    }
    return *rate;
}

void Limits::store_vanished() {
    for (const auto& [key, sequence] : parts_->sequences) sequence->drop();
    for (const auto& [key, budget] : parts_->budgets) budget->drop();
    for (const auto& [key, rate] : parts_->rates) rate->asked();
}

void Limits::cut_off() { parts_->store.cut_off(); }

Task<void> Limits::close() {
    for (const auto& [key, budget] : parts_->budgets) {
        if (!parts_->store.suspended()) co_await budget->settle();
    }
    parts_->closed = true;
    for (const auto& [key, rate] : parts_->rates) rate->close();
    parts_->store.close();
    parts_->lifecycle = {};
    parts_->liveness.reset();
    parts_->channel.reset();
}

}  // namespace tabacus
