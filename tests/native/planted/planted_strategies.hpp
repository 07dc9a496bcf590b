// Counters over tabs with one fault in each: what a hurried author writes, and the explorer finds.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "lab/explore/counting_scenario.hpp"

namespace tabacus::test {

enum class StrategyFault : std::uint8_t {
    none_locked,  // the right ones, that the others are copies of
    none_transaction,
    none_rows,
    none_optimistic,
    shares_the_lock,  // asks for it in shared mode
    lets_go_early,    // before it writes
    goes_on_without,  // ifAvailable, and it writes also when it was not
    steals_the_lock,
    reads_in_another_transaction,
    acknowledges_before_commit,
    repeats_unknown_commit,   // as if it had failed
    caches_the_value,         // and adds to what it read at first
    counts_rows_for_its_own,  // its row's number is how many there are: two may find the same
                              // number
    version_unchecked,        // optimistic, and it writes whatever the version
    pairwise_lock,   // a lock between it and the next tab: with three, two neighbours do not meet
    only_one_other,  // its own row and the largest of the others'
    tries_twice,     // the second time it writes whatever the version
};

/// A counter of which only add() and read() matter.
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
        // The lock of the edge from this tab to the next: of two tabs there is one edge, or with
        // three there are three.
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

    /// A row per tab, with its own total.
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

    /// Reads value and version in one transaction, and writes in another if the version is the one
    /// that was read. The value is its own version here: it only grows.
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
