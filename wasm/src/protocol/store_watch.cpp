#include "store_watch.hpp"

#include <array>
#include <utility>

#include "record.hpp"

namespace tabacus {
namespace {

constexpr std::string_view meta_key = "catalogue";

}  // namespace

void StoreWatch::start() {
    if (std::exchange(started_, true)) return;
    events_ = world_.database().on_event([this](const DatabaseEvent&) { look_again(); });
    look_again();
}

void StoreWatch::look_again() {
    stale_ = true;
    if (started_ && !std::exchange(looking_, true)) scope_.spawn(look());
}

/// A store that fails now is met again by add() and read(), which tell.
Task<void> StoreWatch::look() {
    while (std::exchange(stale_, false)) static_cast<void>(co_await attempt(compare()));
    looking_ = false;
}

Task<void> StoreWatch::compare() {
    constexpr std::array scope{Store::meta};
    const auto transaction =
        co_await world_.database().begin(scope, Access::write, Durability::relaxed);
    const auto row = co_await transaction->get(Store::meta, meta_key);
    const bool readable = row && !row->foreign && is_identifier(row->value);
    const auto found = readable ? row->value : identifier_of(world_.random().bits());
    if (!readable) transaction->put(Store::meta, meta_key, found);
    co_await transaction->commit();

    const bool remembers = world_.storage().available();
    if (known_.empty() && remembers) {
        known_ = (co_await world_.storage().get(names_.catalogue_generation())).value_or("");
    }
    const auto previous = std::exchange(known_, found);
    if (previous == found) co_return;
    if (remembers) {
        static_cast<void>(
            co_await attempt(world_.storage().set(names_.catalogue_generation(), found)));
    }
    if (previous.empty()) co_return;
    on_notice_({Notice::Kind::store_lost, "generation-changed",
                "The database vanished; what it held of the catalogue's counters is gone.", found,
                previous, 0});
}

}  // namespace tabacus
