#include <algorithm>
#include <array>

#include "names.hpp"
#include "record.hpp"
#include "tabacus/once.hpp"

namespace tabacus {
namespace {

/// Not an application's: js/lock/options.js refuses names of stores that begin so.
constexpr std::string_view store = "tabacus/once";
constexpr std::string_view success = "1;s;";
constexpr std::string_view failure = "1;f;";

std::string lock_name(std::string_view key) { return "once/" + std::string(key); }

}  // namespace

/// "1;s or f;flight;finished;text".
std::optional<Once::Finished> Once::parse(std::string_view text) {
    const bool succeeded = text.starts_with(success);
    if (!succeeded && !text.starts_with(failure)) return std::nullopt;
    text.remove_prefix(success.size());
    const auto flight_end = text.find(';');
    if (flight_end == std::string_view::npos) return std::nullopt;
    const auto finished_end = text.find(';', flight_end + 1);
    if (finished_end == std::string_view::npos) return std::nullopt;
    const auto flight = parse_value(text.substr(0, flight_end));
    const auto finished = parse_value(text.substr(flight_end + 1, finished_end - flight_end - 1));
    if (!flight || !finished) return std::nullopt;
    return Finished{*flight,
                    static_cast<double>(*finished),
                    {succeeded, std::string(text.substr(finished_end + 1))}};
}

Task<std::optional<Once::Finished>> Once::look(std::string key) {
    constexpr std::array scope{Store::data};
    const auto transaction =
        co_await world_.database().begin(scope, Access::read, Durability::relaxed);
    const auto row = co_await transaction->get(Store::data, escaped(store) + "/" + key);
    co_return row ? parse(row->value) : std::nullopt;
}

Task<OnceTurn> Once::enter(std::string key, LockOptions options, double ttl_ms) {
    const auto before = co_await look(key);
    if (before && before->outcome.succeeded) {
        const auto age_ms = world_.clock().now_ms() - before->finished_ms;
        if (age_ms >= 0 && age_ms < ttl_ms) co_return OnceTurn{before->outcome, Held()};
    }
    auto held = co_await table_.acquire(lock_name(key), std::move(options));
    std::optional<Finished> finished;
    {
        // Under the fence: a later run cannot have settled unseen.
        auto transaction = co_await held.begin();
        const auto text = co_await transaction.get(std::string(store), key);
        if (text) finished = parse(*text);
    }
    if (finished && (!before || finished->flight != before->flight)) {
        co_return OnceTurn{finished->outcome, Held()};
    }
    co_return OnceTurn{std::nullopt, std::move(held)};
}

Task<void> Once::settle(std::string key, Held held, OnceOutcome outcome) {
    auto own = std::move(held);  // a parameter would live as long as the frame
    auto transaction = co_await own.begin();
    const auto now_ms = static_cast<std::int64_t>(std::max(world_.clock().now_ms(), 0.0));
    transaction.put(store, key,
                    std::string(outcome.succeeded ? success : failure) +
                        std::to_string(own.token().value_or(0)) + ";" + std::to_string(now_ms) +
                        ";" + outcome.text);
    co_await transaction.commit();
}

}  // namespace tabacus
