// The strategies under every schedule up to a bound: the explorer proves those that hold, and
// breaks the others.
#include <catch2/catch_test_macros.hpp>

#include <array>
#include <set>
#include <utility>

#include "lab/explore/counting_scenario.hpp"
#include "lab/explore/explorer.hpp"
#include "lab/explore/search.hpp"

namespace tabacus::lab::test {
namespace {

struct Case {
    std::string_view strategy = "naive";
    StorageModel model = StorageModel::mutexed;
    CountingScenario counting{};
    Faults faults;
    Bound bound{};
};

Scenario scenario_of(const Case& one) {
    return {.origin = {1, one.model},
            .faults = one.faults,
            .faults_max = one.faults.empty() ? 0U : 1U,
            .workload = counting_workload(hosts_of(one.strategy), one.counting)};
}

struct Judged {
    bool proved;
    std::string failure;
    SearchCounts counts;
};

Judged judged(const Case& one) {
    Search search(program_of(scenario_of(one)), one.bound);
    search.explore(3'000'000);
    UNSCOPED_INFO("schedules " << search.counts().schedules << " asleep " << search.counts().asleep
                               << " cut " << search.counts().cut << " steps "
                               << search.counts().steps);
    return {search.exhausted(), search.failed_run() ? search.failed_run()->failure : "",
            search.counts()};
}

}  // namespace

TEST_CASE("naive is exact where a turn is atomic, and loses updates elsewhere") {
    const auto exact = judged({});
    CHECK(exact.proved);
    CHECK(exact.failure.empty());
    for (const auto model : {StorageModel::interleaved, StorageModel::cached}) {
        const auto lost = judged({.model = model, .faults = {}});
        CHECK(lost.failure.find("lost") != std::string::npos);
    }
}

TEST_CASE("replicated counts exactly where an idle replica releases its slot") {
    const auto check = [](const Faults& faults, std::uint32_t preemptions) {
        // The replica rests after 25 to 50 ms without work, and then another tab may take its slot.
        const auto result =
            judged({.strategy = "replicated",
                    .model = StorageModel::cached,
                    .counting = {.adds = 2, .pause_ms = 60, .locks_bar_cache = true},
                    .faults = faults,
                    .bound = {.preemptions = preemptions}});
        CHECK(result.failure.empty());
        CHECK(result.proved);
    };
    check({}, 2);
    check({Fault::kill}, 0);
    check({Fault::bfcache}, 0);
}

TEST_CASE("replicated counts exactly when a connection dies, or does not answer, at any moment") {
    for (const auto fault : {Fault::dead_connection, Fault::hang_transaction}) {
        CAPTURE(fault_name(fault));
        const auto result = judged({.strategy = "replicated",
                                    .model = StorageModel::cached,
                                    .counting = {.adds = 2, .flush_each = true},
                                    .faults = {fault},
                                    .bound = {.preemptions = 1}});
        CHECK(result.failure.empty());
        CHECK(result.proved);
    }
}

namespace {

/// A workload that records how each of its runs ends, and fails none.
class Remembered final : public Workload {
  public:
    Remembered(std::unique_ptr<Workload> workload, std::set<std::string>& ends, bool has_state)
        : workload_(std::move(workload)), ends_(ends), has_state_(has_state) {}
    [[nodiscard]] std::optional<std::uint64_t> state() const override {
        return has_state_ ? workload_->state() : std::nullopt;
    }
    void begin(Origin& origin) override { workload_->begin(origin); }
    std::string at_rest(Origin& origin) override {
        std::string end;
        for (const auto& [key, value] : origin.storage().values()) {
            end.append(key).append("=").append(value).append(" ");
        }
        for (std::size_t store = 0; store < store_count; ++store) {
            for (const auto& [key, value] : origin.database().rows(static_cast<Store>(store))) {
                end.append(key).append("=").append(value.text).append(" ");
            }
        }
        ends_.insert(end + workload_->at_rest(origin));
        return {};
    }

  private:
    std::unique_ptr<Workload> workload_;
    std::set<std::string>& ends_;
    bool has_state_;
};

struct Reached {
    std::set<std::string> all;
    std::uint64_t steps = 0;  // that the search took
};

struct Declared {
    bool state = true;
    bool alike = false;
};

Reached ends_of(const Case& one, Declared declared) {
    Reached ends;
    auto scenario = scenario_of(one);
    scenario.alike = declared.alike;
    scenario.workload = [&ends, state = declared.state, workload = scenario.workload] {
        return std::make_unique<Remembered>(workload(), ends.all, state);
    };
    Search search(program_of(scenario), one.bound);
    search.explore(UINT64_MAX);
    CHECK(search.exhausted());
    ends.steps = search.counts().steps;
    return ends;
}

}  // namespace

TEST_CASE("with and without reduction the tabs' schedules have the same ends", "[.][long]") {
    constexpr std::array cases = {
        Case{.strategy = "naive", .model = StorageModel::mutexed, .faults = {Fault::kill}},
        Case{.strategy = "naive",
             .model = StorageModel::interleaved,
             .counting = {.adds = 1},
             .faults = {Fault::kill, Fault::freeze}},
        Case{.strategy = "naive",
             .model = StorageModel::cached,
             .counting = {.adds = 1},
             .faults = {Fault::kill}},
        Case{.strategy = "naive",
             .model = StorageModel::mutexed,
             .counting = {.adds = 1},
             .faults = {Fault::clear_storage, Fault::corrupt, Fault::bfcache, Fault::throttle}},
        Case{.strategy = "locked",
             .model = StorageModel::mutexed,
             .counting = {.adds = 1},
             .faults = {}},
        Case{.strategy = "transactional",
             .counting = {.adds = 1},
             .faults = {Fault::lose_database, Fault::close_connection}},
        Case{.strategy = "transactional",
             .counting = {.adds = 1},
             .faults = {Fault::kill, Fault::freeze, Fault::bfcache, Fault::quota}},
    };
    for (auto one : cases) {
        using Bound = std::optional<std::uint32_t>;
        for (const auto& [preemptions, ordered] :
             {std::pair{Bound(), false}, {Bound(1U), false}, {Bound(2U), true}}) {
            CAPTURE(one.strategy, static_cast<int>(one.model), one.faults.bits(),
                    preemptions.value_or(99));
            one.bound = {.preemptions = preemptions, .ordered = ordered};
            const auto by_state = ends_of(one, {}).all;
            const auto by_trace = ends_of(one, {.state = false}).all;
            one.bound.reduction = false;
            const auto all = ends_of(one, {}).all;
            CHECK(by_state == all);
            CHECK(by_trace == all);
        }
    }
}

TEST_CASE("the order in which equal tabs begin changes no end", "[.][long]") {
    // The tabs' names do not occur in the ends of these workloads.
    constexpr std::array cases = {
        Case{.strategy = "naive", .model = StorageModel::mutexed, .faults = {Fault::kill}},
        Case{.strategy = "naive",
             .model = StorageModel::cached,
             .faults = {Fault::kill, Fault::freeze}},
        Case{.strategy = "locked", .model = StorageModel::cached, .faults = {Fault::kill}},
    };
    for (auto one : cases) {
        one.counting = {.tabs = 3, .adds = 2, .flush_each = true};
        for (std::uint32_t preemptions = 0; preemptions <= 1; ++preemptions) {
            CAPTURE(one.strategy, static_cast<int>(one.model), preemptions);
            one.bound = {.preemptions = preemptions};
            const auto [all, steps] = ends_of(one, {});
            const auto [of_the_first, fewer] = ends_of(one, {.alike = true});
            CHECK(of_the_first == all);
            CHECK(fewer * 3 < steps * 2);
        }
    }
}

TEST_CASE("beyond the bound of all preemptions, preemptions between tabs alone are explored") {
    Exploration exploration({.setup = {.strategy = "replicated",
                                       .model = StorageModel::cached,
                                       .counting = {.tabs = 2, .adds = 1},
                                       .faults = {Fault::kill},
                                       .faults_max = 1},
                             .schedules_max = 20'000,
                             .work_max = 2'000'000,
                             .unbounded_work_max = 10'000,
                             .preemptions_work_max = 60'000,
                             .seeds = 1});
    while (exploration.explore(1'000)) {
    }
    const auto report = exploration.report();
    CHECK(report.failure.empty());
    CHECK(report.bound ==
          "every schedule without faults with at most 1 preemption, or at most 3 preemptions "
          "between tabs "
          "alone; every schedule with 1 fault and at most 0 preemptions, or at most 3 preemptions "
          "between "
          "tabs alone; 1 seeded schedule");
}

}  // namespace tabacus::lab::test
