// Counters over tabs with one fault in each, of kinds that authors often make. The explorer must
// find each of them.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "lab/explore/counting_scenario.hpp"

namespace tabacus::test {

enum class StrategyFault : std::uint8_t {
    none_locked,  // this one and the next three are correct; the others are faulty copies of them
    none_transaction,
    none_rows,
    none_optimistic,
    shares_the_lock,  // asks for the lock in shared mode
    lets_go_early,    // releases the lock before it writes
    goes_on_without,  // asks with ifAvailable, and writes even without the lock
    steals_the_lock,
    reads_in_another_transaction,
    acknowledges_before_commit,
    repeats_unknown_commit,   // commits again after an unknown outcome, as after a failure
    caches_the_value,         // adds to the value that it read first
    counts_rows_for_its_own,  // numbers its row by how many rows there are: two tabs may find the
                              // same number
    version_unchecked,        // is optimistic, and writes whatever the version is
    pairwise_lock,   // takes a lock of itself and the next tab: of three tabs no two take the same
    only_one_other,  // reads its own row and the largest of the other rows
    tries_twice,     // the second time it writes whatever the version is
};

/// A counter with one fault. The explorer uses only add() and read().
class PlantedStrategy final : public Counter {
  public:
    PlantedStrategy(lab::LabTab& world, StrategyFault fault) : world_(world), fault_(fault) {}

    Task<std::int64_t> add(std::int64_t n) override {
        using enum StrategyFault;
        switch (fault_) {
            case none_locked:
            case shares_the_lock:
            case lets_go_early:
            case goes_on_without:
            case steals_the_lock:
            case pairwise_lock:
                return add_locked(n);
            case none_optimistic:
            case version_unchecked:
            case tries_twice:
                return add_optimistic(n);
            case none_rows:
            case counts_rows_for_its_own:
            case only_one_other:
                return add_to_row(n);
            default:
                return add_in_transaction(n);
        }
    }

    Task<std::int64_t> read() override {
        constexpr Stores scope{Store::rows};
        if (locked()) co_return number(co_await world_.storage().get("n"));
        const auto transaction =
            co_await world_.database().begin(scope, Access::read, Durability::relaxed);
        std::int64_t sum = 0;
        std::int64_t largest = 0;
        for (const auto& row : co_await transaction->list(Store::rows, "")) {
            const auto value = number(row.value);
            if (row.key == "row/1") {
                sum += value;
            } else {
                largest = std::max(largest, value);
                if (fault_ != StrategyFault::only_one_other) sum += value;
            }
        }
        co_return fault_ == StrategyFault::only_one_other ? sum + largest : sum;
    }

    Task<void> flush() override { co_return; }
    [[nodiscard]] std::int64_t value() const override { return 0; }
    Subscription on_change(Function<void()> /*callback*/) override { return {}; }
    [[nodiscard]] Guarantee guarantee() const override { return {}; }

  private:
    static std::int64_t number(const std::optional<std::string>& text) {
        return text ? std::stoll(*text) : 0;
    }
    [[nodiscard]] bool locked() const {
        using enum StrategyFault;
        return fault_ == none_locked || fault_ == shares_the_lock || fault_ == lets_go_early ||
               fault_ == goes_on_without || fault_ == steals_the_lock || fault_ == pairwise_lock;
    }

    Task<std::int64_t> add_locked(std::int64_t n) {
        using enum StrategyFault;
        LockRequest request{.name = "lock"};
        if (fault_ == shares_the_lock) request.mode = LockMode::shared;
        if (fault_ == goes_on_without) request.if_available = true;
        if (fault_ == steals_the_lock) request.steal = true;
        // The name of the lock stands for this tab and the next: two tabs share one lock, and three
        // tabs have three locks.
        if (fault_ == pairwise_lock) {
            const auto tabs = static_cast<lab::TabId>(world_.origin().tab_count());
            const auto next = world_.id() % tabs + 1;
            request.name += std::to_string(std::min(world_.id(), next)) + "-" +
                            std::to_string(std::max(world_.id(), next));
        }
        auto held = co_await world_.locks().request(std::move(request));
        const auto next = number(co_await world_.storage().get("n")) + n;
        if (fault_ == lets_go_early) held.reset();
        co_await world_.storage().set("n", std::to_string(next));
        co_return next;
    }

    Task<std::int64_t> add_in_transaction(std::int64_t n) {
        using enum StrategyFault;
        constexpr Stores scope{Store::rows};
        auto& database = world_.database();
        for (;;) {
            auto transaction = co_await database.begin(scope, Access::write, Durability::relaxed);
            std::int64_t before = cached_;
            if (fault_ != caches_the_value || !std::exchange(has_cached_, true)) {
                const auto row = co_await transaction->get(Store::rows, "n");
                before = row ? number(row->value) : 0;
            }
            if (fault_ == reads_in_another_transaction) {
                transaction.reset();
                transaction = co_await database.begin(scope, Access::write, Durability::relaxed);
            }
            cached_ = before + n;
            transaction->put(Store::rows, "n", std::to_string(cached_));
            if (fault_ == acknowledges_before_commit) {
                run_in(
                    scope_, commit(std::move(transaction)), [] {},
                    [](const std::exception_ptr&) {});
                co_return cached_;
            }
            bool again = false;
            try {
                co_await transaction->commit();
            } catch (const Error&) {
                if (fault_ != repeats_unknown_commit) throw;
                again = true;
            }
            if (!again) co_return cached_;
            co_await world_.clock().sleep(1);
        }
    }
    static Task<void> commit(std::unique_ptr<Transaction> transaction) {
        co_await transaction->commit();
    }

    /// Adds to this tab's total, and stores it in a row of the tab's own.
    Task<std::int64_t> add_to_row(std::int64_t n) {
        constexpr Stores scope{Store::rows};
        auto number_of_row = world_.id();
        if (fault_ == StrategyFault::counts_rows_for_its_own) {
            auto reading =
                co_await world_.database().begin(scope, Access::read, Durability::relaxed);
            const auto rows = co_await reading->list(Store::rows, "");
            reading.reset();
            if (row_ == 0) row_ = static_cast<lab::TabId>(rows.size()) + 1;
            number_of_row = row_;
        }
        const auto transaction =
            co_await world_.database().begin(scope, Access::write, Durability::relaxed);
        own_ += n;
        transaction->put(Store::rows, "row/" + std::to_string(number_of_row), std::to_string(own_));
        co_await transaction->commit();
        co_return own_;
    }

    /// Reads the value and its version in one transaction, and writes in another if the version is
    /// still the same. The value serves as its own version, since it only grows.
    Task<std::int64_t> add_optimistic(std::int64_t n) {
        constexpr Stores scope{Store::rows};
        auto& database = world_.database();
        for (int attempt = 1;; ++attempt) {
            auto reading = co_await database.begin(scope, Access::read, Durability::relaxed);
            const auto row = co_await reading->get(Store::rows, "n");
            const auto version = row ? number(row->value) : 0;
            reading.reset();
            const auto writing = co_await database.begin(scope, Access::write, Durability::relaxed);
            const auto now = co_await writing->get(Store::rows, "n");
            const bool same = (now ? number(now->value) : 0) == version;
            const bool anyway = fault_ == StrategyFault::version_unchecked ||
                                (fault_ == StrategyFault::tries_twice && attempt == 2);
            if (!same && !anyway) continue;
            writing->put(Store::rows, "n", std::to_string(version + n));
            co_await writing->commit();
            co_return version + n;
        }
    }

    lab::LabTab& world_;
    StrategyFault fault_;
    std::int64_t cached_ = 0;
    bool has_cached_ = false;
    std::int64_t own_ = 0;
    lab::TabId row_ = 0;
    Scope scope_;
};

class PlantedHost final : public lab::CounterHost {
  public:
    PlantedHost(lab::LabTab& world, StrategyFault fault) : counter_(world, fault) {}
    Task<void> open() override { co_return; }
    Counter& counter() override { return counter_; }

  private:
    PlantedStrategy counter_;
};

inline lab::MakeHost planted_hosts(StrategyFault fault) {
    return [fault](lab::LabTab& tab) { return std::make_unique<PlantedHost>(tab, fault); };
}

}  // namespace tabacus::test
