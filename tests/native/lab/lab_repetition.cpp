// The laboratory's transactions whose connection dies: what the tab learns of each of their operations.
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "lab/lab_tab.hpp"
#include "lab/origin.hpp"

namespace tabacus::lab::test {
namespace {

constexpr Stores scope{Store::locks};

/// What a tab has learnt of a transaction that reads a row and writes a proof.
struct Learnt {
    std::optional<std::string> row;  // "no row", if the store is said to have none
    std::optional<ErrorCode> read_error;
    bool committing = false;
    bool ended = false;
    std::optional<ErrorCode> error;  // of the commit
};

/// A tab with one transaction. It commits when the row is read or, with `hurried`, before that.
class Reader {
  public:
    Reader(LabTab& tab, Learnt& learnt, bool hurried) : tab_(tab), learnt_(learnt) {
        scope_.spawn(live(hurried));
    }

  private:
    Task<void> read(Async<std::optional<Row>> reading) {
        auto row = co_await attempt(std::move(reading));
        if (row) {
            learnt_.row = row.value() ? row.value()->value : "no row";
        } else {
            learnt_.read_error = row.error().code();
        }
    }
    Task<void> live(bool hurried) {
        const auto first =
            co_await tab_.database().begin(scope, Access::write, Durability::relaxed);
        first->put(Store::locks, "l/row", "r");
        co_await first->commit();
        const auto own = co_await tab_.database().begin(scope, Access::write, Durability::relaxed);
        auto reading = read(own->get(Store::locks, "l/row"));
        if (hurried) {
            scope_.spawn(std::move(reading));
        } else {
            co_await reading;
        }
        own->put(Store::locks, "l/commit", "proof");
        learnt_.committing = true;
        const auto committed = co_await attempt(own->commit());
        if (!committed) learnt_.error = committed.error().code();
        learnt_.ended = true;
    }

    LabTab& tab_;
    Learnt& learnt_;
    Scope scope_;
};

/// Runs a Reader. Its connection dies `before` steps after it has begun to commit, and `then`
/// happens `between` steps later.
Learnt run_reader(std::uint64_t seed, bool hurried, std::uint64_t before, std::uint64_t between,
                  const std::function<void(Origin&, LabTab&)>& then = {}) {
    Learnt learnt;
    Origin::Options options{seed, StorageModel::cached};
    options.connections_die = true;
    Origin origin(options);
    auto& tab = origin.open_tab();
    tab.run<Reader>(tab, learnt, hurried);
    origin.run_until([&] { return learnt.committing; });
    for (std::uint64_t step = 0; step < before; ++step) origin.step();
    origin.kill_connection(tab);
    for (std::uint64_t step = 0; step < between; ++step) origin.step();
    if (then) then(origin, tab);
    origin.run();
    return learnt;
}

constexpr std::uint64_t steps_max = 8;

}  // namespace

TEST_CASE("repetition: a commit ends although the repeated read that it waits for fails") {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        for (std::uint64_t before = 0; before < 4; ++before) {
            for (std::uint64_t between = 0; between < steps_max; ++between) {
                CAPTURE(seed, before, between);
                const auto learnt =
                    run_reader(seed, false, before, between,
                               [](Origin& origin, LabTab& tab) { origin.close_connection(tab); });
                CHECK(learnt.ended);
                CHECK((!learnt.error || learnt.error == ErrorCode::unknown_commit));
            }
        }
    }
}

TEST_CASE(
    "repetition: a read that was not answered before the commit is not answered with no row") {
    std::uint64_t failed = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        for (std::uint64_t before = 0; before < steps_max; ++before) {
            CAPTURE(seed, before);
            const auto learnt = run_reader(seed, true, before, 0);
            CHECK(learnt.ended);
            CHECK_FALSE(learnt.error);
            if (learnt.read_error) ++failed;
            if (learnt.row) CHECK(learnt.row == "r");
            CHECK(learnt.row.has_value() != learnt.read_error.has_value());
        }
    }
    CHECK(failed > 0);
}

}  // namespace tabacus::lab::test
