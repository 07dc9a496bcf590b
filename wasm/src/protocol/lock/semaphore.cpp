#include "tabacus/lock/semaphore.hpp"

#include "protocol/common/concat.hpp"
#include "protocol/common/record.hpp"

namespace tabacus {
namespace {

std::string entry_lock_name(const std::string& name) { return concat({"semaphore/", name}); }

/// Returns the name of a permit's lock. The number comes before the name, so that the permits of
/// two semaphores never have the same lock.
std::string permit_name(const std::string& name, int number) {
    return concat({"permit/", format_decimal(number), "/", name});
}

}  // namespace

/// One request's wait for all permits at once.
struct Semaphore::Race {
    AbortSignal stop;
    Completer<Unit> ended;
    Held won;
    std::optional<Error> failure;
    int running = 0;

    void end() {
        stop.abort();
        ended.complete({});
    }
};

Task<Held> Semaphore::acquire(std::string name, int permits, LockOptions options) {
    options.mode = LockMode::exclusive;
    options.steal = false;
    // A free permit has no waiters, because a caller that waits has requested all permits.
    if (options.if_available) {
        co_return co_await take_available(name, permits, std::move(options));
    }
    const auto began_ms = world_.clock().monotonic_ms();
    auto entry_options = options;
    entry_options.max_hold_ms = std::nullopt;
    const auto entry = co_await table_.acquire(entry_lock_name(name), std::move(entry_options));
    options.spend(world_.clock().monotonic_ms() - began_ms);
    co_return co_await race(name, permits, std::move(options));
}

Task<Held> Semaphore::take_available(const std::string& name, int permits, LockOptions options) {
    for (int number = 0; number < permits; ++number) {
        auto held = co_await table_.acquire(permit_name(name, number), options);
        if (held) co_return held;
    }
    co_return Held();
}

Task<Held> Semaphore::race(const std::string& name, int permits, LockOptions options) {
    const auto race = std::make_shared<Race>();
    race->running = permits;
    if (options.signal) options.signal->on_abort([race] { race->stop.abort(); });
    options.signal = race->stop;
    for (int number = 0; number < permits; ++number) {
        scope_.spawn(enter(race, permit_name(name, number), options));
    }
    co_await race->ended.async();
    if (!race->won) co_await fail(*race->failure);
    co_return std::move(race->won);
}

/// Waits for one permit of the race. The first permit that is granted wins; those that are granted
/// later are released at once.
Task<void> Semaphore::enter(std::shared_ptr<Race> race, std::string permit, LockOptions options) {
    auto outcome = co_await attempt(table_.acquire(std::move(permit), std::move(options)));
    --race->running;
    if (race->ended.completed()) co_return;
    if (outcome) {
        race->won = std::move(outcome.value());
    } else if (race->running == 0) {
        race->failure = outcome.error();
    } else {
        co_return;
    }
    race->end();
}

}  // namespace tabacus
