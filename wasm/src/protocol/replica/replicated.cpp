#include "tabacus/replica/replicated.hpp"

#include "replica.hpp"

namespace tabacus {

ReplicatedCounter::ReplicatedCounter(Replica& replica, CounterState& state)
    : replica_(replica), state_(state) {}
ReplicatedCounter::~ReplicatedCounter() = default;

std::optional<std::int64_t> ReplicatedCounter::increment(std::int64_t n) {
    return replica_.increment(state_, n);
}

Task<std::int64_t> ReplicatedCounter::add(std::int64_t n) {
    const auto value = increment(n);
    if (!value) co_await fail(ErrorCode::out_of_range, "the counter would leave ±(2^53 − 1)");
    co_return *value;
}

Task<std::int64_t> ReplicatedCounter::read() { return replica_.read(state_); }
Task<void> ReplicatedCounter::flush() { return replica_.flush(state_); }
std::int64_t ReplicatedCounter::value() const { return state_.value.get(); }

Subscription ReplicatedCounter::on_change(Function<void()> callback) {
    follow(replica_, state_);
    return state_.value.listeners().add(std::move(callback));
}

Guarantee ReplicatedCounter::guarantee() const {
    const bool strict = state_.durability == Durability::strict;
    switch (replica_.medium) {
        case Medium::database:
            return {.strategy = "replicated",
                    .lost = "never once flushed; unflushed increments with their tab",
                    .reads_wait = "value: never; read: one transaction",
                    .accuracy = "read: every flushed increment; value: also announced ones",
                    .rows = "one per tab open at once",
                    .needs = "indexeddb, web-locks",
                    .durability = strict ? "strict" : "relaxed",
                    .losses = {.lost = in_every_model(lost_with_database(strict)),
                               .exceeded = {},
                               .before_flush = true}};
        case Medium::storage:
            return {.strategy = "replicated",
                    .lost = "flushed increments if the browser dies soon after",
                    .reads_wait = "never",
                    .accuracy = "other tabs' increments arrive late",
                    .rows = "one key per tab ever opened",
                    .needs = "storage",
                    .durability = "relaxed",
                    .losses = {.lost = {lost_with_storage, lost_with_storage, lost_with_process},
                               .exceeded = {},
                               .before_flush = true}};
        case Medium::memory:
            break;
    }
    return {.strategy = "replicated",
            .lost = "when the last tab closes, and a tab's own when it dies",
            .reads_wait = "never",
            .accuracy = "what living tabs have announced",
            .rows = "none",
            .needs = "",
            .durability = "memory",
            .losses = {.lost = in_every_model(always), .exceeded = {}, .before_flush = true}};
}

}  // namespace tabacus
