// The transfer of counters: their states, their merges, and the values of all counters at once.
#include <catch2/catch_test_macros.hpp>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lab/lab_tab.hpp"
#include "lab/origin.hpp"
#include "tabacus/replica/counter_transfer.hpp"

namespace tabacus::test {
namespace {

using lab::LabTab;
using lab::Origin;
using lab::StoredValue;

using TransferredRows = std::vector<TransferredRow>;

/// A page that transfers counters.
class TransferPage {
  public:
    explicit TransferPage(LabTab& tab) : transfer(tab, "test") {}
    CounterTransfer transfer;
    Scope scope;
};

/// A database of the generation "g1" with rows of counters, and a tab beside it.
struct TransferScene {
    explicit TransferScene(const std::vector<std::pair<std::string, std::string>>& rows = {},
                           lab::Platform platform = {})
        : page(make(platform)) {
        for (const auto& [key, text] : rows) {
            origin.database().overwrite(Store::rows, key, StoredValue{text});
        }
    }
    TransferPage& make(lab::Platform platform) {
        auto& tab = origin.open_tab(platform);
        return tab.run<TransferPage>(tab);
    }
    /// Runs the task to its end. Returns its failure.
    std::optional<ErrorCode> run(Task<void> task) {
        std::optional<ErrorCode> failure;
        bool ended = false;
        run_in(
            page.scope, std::move(task), [&] { ended = true; },
            [&](const Failure& failed) {
                failure = error_of(failed).code();
                ended = true;
            });
        origin.run_until([&] { return ended; });
        return failure;
    }
    std::optional<ErrorCode> merge(TransferredRows rows) {
        return run(page.transfer.merge("c", std::move(rows)));
    }
    /// Returns the state of the counter "c", as "node record" texts.
    std::vector<std::string> state() {
        std::vector<std::string> found;
        failure = run([](CounterTransfer& of, std::vector<std::string>& texts) -> Task<void> {
            for (const auto& row : co_await of.state("c")) {
                texts.push_back(row.node + " " + row.record);
            }
        }(page.transfer, found));
        return found;
    }
    /// Returns the values of the counters whose names begin so, as "name=value" texts.
    std::vector<std::string> values(const std::string& prefix) {
        std::vector<std::string> found;
        failure = run([](CounterTransfer& of, std::string begins,
                         std::vector<std::string>& texts) -> Task<void> {
            for (const auto& one : co_await of.values(std::move(begins))) {
                texts.push_back(one.counter + "=" + std::to_string(one.value));
            }
        }(page.transfer, prefix, found));
        return found;
    }
    [[nodiscard]] std::string stored(const std::string& key) {
        const auto& rows = origin.database().rows(Store::rows);
        const auto found = rows.find(key);
        return found == rows.end() ? "" : found->second.text;
    }

    Origin origin{{.seed = 1}};
    TransferPage& page;
    std::optional<ErrorCode> failure;
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("transfer: a state has the rows of its counter that can be read") {
    TransferScene scene(
        {{"c/a/0", "1;1;3;1"}, {"c/a/1", "x"}, {"c/X/0", "1;1;9;0"}, {"d/a/0", "1;1;5;0"}});
    CHECK(scene.state() == Texts{"a/0 1;3;1"});
    CHECK_FALSE(scene.failure);
}

TEST_CASE("transfer: a merge keeps the larger totals of an epoch, and the later epoch") {
    TransferScene scene({{"c/a/0", "1;1;3;1"}, {"c/a/1", "1;2;3;0"}, {"c/a/2", "1;2;3;0"}});
    CHECK_FALSE(
        scene.merge({{"a/0", "1;2;5"}, {"a/1", "1;9;0"}, {"a/2", "3;1;0"}, {"b/0", "1;4;0"}}));
    CHECK(scene.state() == Texts{"a/0 1;3;5", "a/1 2;3;0", "a/2 3;1;0", "b/0 1;4;0"});
    // In any order, and any number of times:
    CHECK_FALSE(scene.merge({{"a/0", "1;3;5"}, {"a/0", "1;2;5"}}));
    CHECK(scene.stored("c/a/0") == "1;1;3;5");
}

TEST_CASE("transfer: a merge leaves the rows of this database to their owners") {
    TransferScene scene({{"c/g1/0", "1;1;3;0"}});
    CHECK_FALSE(scene.merge({{"g1/0", "1;9;0"}, {"g1/1", "1;9;0"}}));
    CHECK(scene.state() == Texts{"g1/0 1;3;0"});
}

TEST_CASE("transfer: a merge refuses rows that are unreadable, or not sorted, and writes none") {
    TransferScene scene({{"c/a/0", "1;1;3;0"}});
    for (const TransferredRows& rows : {TransferredRows{{"a/0", "1;9;0"}, {"a", "1;1;0"}},
                                        TransferredRows{{"a/0", "1;9;0"}, {"b/0", "x"}},
                                        TransferredRows{{"b/0", "1;9;0"}, {"a/0", "1;1;0"}}}) {
        CHECK(scene.merge(rows) == ErrorCode::invalid_argument);
        CHECK(scene.state() == Texts{"a/0 1;3;0"});
    }
}

TEST_CASE("transfer: a merge that would take the counter out of its range writes nothing") {
    TransferScene scene({{"c/a/0", "1;1;9007199254740991;0"}});
    CHECK(scene.merge({{"b/0", "1;1;0"}}) == ErrorCode::out_of_range);
    CHECK(scene.stored("c/b/0").empty());
    CHECK_FALSE(scene.merge({{"b/0", "1;1;1"}}));
}

TEST_CASE("transfer: the values of many counters are read in pages, each counter once") {
    TransferScene scene;
    Texts expected;
    for (int i = 1'000; i < 2'000; ++i) {
        const auto name = "n" + std::to_string(i);
        for (const std::string slot : {"/a/0", "/a/1", "/b/0"}) {
            scene.origin.database().overwrite(Store::rows, name + slot, StoredValue{"1;1;2;1"});
        }
        expected.push_back(name + "=3");
    }
    scene.origin.database().overwrite(Store::rows, "m/a/0", StoredValue{"1;1;5;0"});
    CHECK(scene.values("n") == expected);
    CHECK(scene.values("m") == Texts{"m=5"});
    CHECK(scene.values("").size() == 1'001);
}

TEST_CASE("transfer: what a newer version has written is no part of a value or of a state") {
    TransferScene scene({{"c/a/0", "1;1;3;0"}, {"c/a/1", "2;x"}});
    CHECK(scene.state().empty());
    CHECK(scene.failure == ErrorCode::version_mismatch);
    CHECK(scene.values("c").empty());
    CHECK(scene.failure == ErrorCode::version_mismatch);
    CHECK(scene.merge({{"b/0", "1;1;0"}}) == ErrorCode::version_mismatch);
    CHECK(scene.stored("c/a/1") == "2;x");
    CHECK(scene.stored("c/b/0").empty());
}

TEST_CASE("transfer: without IndexedDB each call fails") {
    TransferScene scene({}, {.database = false});
    (void)scene.state();
    CHECK(scene.failure == ErrorCode::unavailable);
    CHECK(scene.merge({}) == ErrorCode::unavailable);
}

}  // namespace tabacus::test
