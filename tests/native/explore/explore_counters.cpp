// The strategies under every schedule: what holds is proved up to a bound, what does not is broken.
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
    Counting counting{};
    Faults faults;
    Bound bound{};
};

Scenario scenario_of(const Case& one) {
    return {.origin = {1, one.model},
            .faults = one.faults,
            .faults_max = one.faults.empty() ? 0U : 1U,
            .play = counting(hosts_of(one.strategy), one.counting)};
}

struct Judged {
    bool proved;
    std::string complaint;
    Tally tally;
};

Judged judged(const Case& one) {
    Search search(program_of(scenario_of(one)), one.bound);
    search.explore(3'000'000);
    UNSCOPED_INFO("schedules " << search.tally().schedules << " asleep " << search.tally().asleep
                               << " cut " << search.tally().cut << " steps "
                               << search.tally().steps);
    return {search.exhausted(), search.failure() ? search.failure()->complaint : "",
            search.tally()};
}

}  // namespace

TEST_CASE("naive is exact where a turn is atomic, and loses updates elsewhere") {
    const auto exact = judged({});
    CHECK(exact.proved);
    CHECK(exact.complaint.empty());
    for (const auto model : {StorageModel::interleaved, StorageModel::cached}) {
        const auto lost = judged({.model = model, .faults = {}});
        CHECK(lost.complaint.find("lost") != std::string::npos);
    }
}

TEST_CASE("replicated counts exactly where an idle replica lets its slot go") {
    const auto check = [](const Faults& faults, std::uint32_t switches) {
        // It rests after 25 to 50 ms, and comes back to a slot that may be another's.
        const auto result =
            judged({.strategy = "replicated",
                    .model = StorageModel::cached,
                    .counting = {.adds = 2, .pause_ms = 60, .locks_bar_cache = true},
                    .faults = faults,
                    .bound = {.switches = switches}});
        CHECK(result.complaint.empty());
        CHECK(result.proved);
    };
    check({}, 2);
    check({Fault::kill}, 0);
    check({Fault::bfcache}, 0);
}

namespace {

/// Another play, of which every end is remembered and none is complained of.
class Remembered final : public Play {
  public:
    Remembered(std::unique_ptr<Play> play, std::set<std::string>& ends, bool tells_state)
        : play_(std::move(play)), ends_(ends), tells_state_(tells_state) {}
    [[nodiscard]] std::optional<std::uint64_t> state() const override {
        return tells_state_ ? play_->state() : std::nullopt;
    }
    void begin(Origin& origin) override { play_->begin(origin); }
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
        ends_.insert(end + play_->at_rest(origin));
        return {};
    }

  private:
    std::unique_ptr<Play> play_;
    std::set<std::string>& ends_;
    bool tells_state_;
};

struct Reached {
    std::set<std::string> all;
    std::uint64_t steps = 0;  // that it took
};

struct Says {
    bool state = true;
    bool alike = false;
};

Reached ends_of(const Case& one, Says shown) {
    Reached ends;
    auto scenario = scenario_of(one);
    scenario.alike = shown.alike;
    scenario.play = [&ends, state = shown.state, play = scenario.play] {
        return std::make_unique<Remembered>(play(), ends.all, state);
    };
    Search search(program_of(scenario), one.bound);
    search.explore(UINT64_MAX);
    CHECK(search.exhausted());
    ends.steps = search.tally().steps;
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
        using Switches = std::optional<std::uint32_t>;
        for (const auto& [switches, ordered] :
             {std::pair{Switches(), false}, {Switches(1U), false}, {Switches(2U), true}}) {
            CAPTURE(one.strategy, static_cast<int>(one.model), one.faults.bits(),
                    switches.value_or(99));
            one.bound = {.switches = switches, .ordered = ordered};
            const auto by_state = ends_of(one, {}).all;
            const auto by_trace = ends_of(one, {.state = false}).all;
            one.bound.reduction = false;
            const auto all = ends_of(one, {}).all;
            CHECK(by_state == all);
            CHECK(by_trace == all);
        }
    }
}

TEST_CASE("who begins first among tabs that begin alike changes no end", "[.][long]") {
    // Nothing in these ends tells of a name.
    constexpr std::array cases = {
        Case{.strategy = "naive", .model = StorageModel::mutexed, .faults = {Fault::kill}},
        Case{.strategy = "naive",
             .model = StorageModel::cached,
             .faults = {Fault::kill, Fault::freeze}},
        Case{.strategy = "locked", .model = StorageModel::cached, .faults = {Fault::kill}},
    };
    for (auto one : cases) {
        one.counting = {.tabs = 3, .adds = 2, .flush_each = true};
        for (std::uint32_t switches = 0; switches <= 1; ++switches) {
            CAPTURE(one.strategy, static_cast<int>(one.model), switches);
            one.bound = {.switches = switches};
            const auto [all, steps] = ends_of(one, {});
            const auto [of_the_first, fewer] = ends_of(one, {.alike = true});
            CHECK(of_the_first == all);
            CHECK(fewer * 3 < steps * 2);
        }
    }
}

TEST_CASE("beyond what all switches allow, those between tabs alone are explored") {
    Exploration exploration({.setup = {.strategy = "replicated",
                                       .model = StorageModel::cached,
                                       .counting = {.tabs = 2, .adds = 1},
                                       .faults = {Fault::kill},
                                       .faults_max = 1},
                             .schedules_max = 20'000,
                             .work_max = 2'000'000,
                             .unbounded_work_max = 10'000,
                             .switches_work_max = 60'000,
                             .seeds = 1});
    while (exploration.explore(1'000)) {
    }
    const auto report = exploration.report();
    CHECK(report.complaint.empty());
    CHECK(
        report.bound ==
        "every schedule without faults with at most 1 switch, or at most 3 switches between tabs "
        "alone; every schedule with 1 fault and at most 0 switches, or at most 2 switches between "
        "tabs alone; 1 seeded schedule");
}

}  // namespace tabacus::lab::test
