// Is a state's number what the explorer takes it for? From equal ones the same choices must lead to
// equal ones and to the same ends, by whatever ways they were come to; whatever the number leaves
// out of account shows here as soon as it makes a difference.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "lab/explore/counting.hpp"
#include "lab/explore/search.hpp"

namespace tabacus::lab::test {
namespace {

/// What was seen of each state, in all runs of a program.
struct Seen {
    std::map<std::uint64_t, std::vector<std::uint64_t>> choices;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> steps;
    std::map<std::uint64_t, std::string> ends;
    std::map<std::uint64_t, std::uint64_t> ways;  // by which it was come to first
    std::uint64_t other_ways = 0;                 // how often a state was come to by another way
    std::uint64_t differs = 0;  // how often what had been seen was another when seen again

    template <typename Map, typename Key, typename Value>
    void compare(Map& map, const Key& key, const Value& value) {
        const auto [found, fresh] = map.try_emplace(key, value);
        if (!fresh && found->second != value) ++differs;
    }
};

/// Another run, of which all is compared.
class Compared final : public Run {
  public:
    Compared(std::unique_ptr<Run> run, Seen& seen) : run_(std::move(run)), seen_(seen) {}

    const std::vector<Choice>& choices() override {
        const auto& choices = run_->choices();
        std::vector<std::uint64_t> processes;
        processes.reserve(choices.size());
        for (const auto& choice : choices) processes.push_back(choice.process);
        // Whose turn it is decides the order, and is no part of the state.
        std::sort(processes.begin(), processes.end());
        seen_.compare(seen_.choices, run_->state().value(), processes);
        return choices;
    }
    Taken take(std::size_t index, Footprint* footprint) override {
        const auto before = run_->state().value();
        const auto process = run_->choices().at(index).process;
        const auto taken = run_->take(index, footprint);
        const auto after = run_->state().value();
        seen_.compare(seen_.steps, std::pair(before, process), after);
        way_ = digest(way_, process);
        if (seen_.ways.try_emplace(after, way_).first->second != way_) ++seen_.other_ways;
        return taken;
    }
    void finish() override {
        const auto state = run_->state().value();
        run_->finish();
        seen_.compare(seen_.ends, state, run_->complaint());
    }
    [[nodiscard]] const std::string& complaint() const override { return none_; }

  private:
    std::unique_ptr<Run> run_;
    Seen& seen_;
    std::uint64_t way_ = 0;
    std::string none_;
};

/// Runs of every strategy with each fault. Returns how often a state was come to by another way.
std::uint64_t check_states(Counting what, std::uint32_t switches, std::uint64_t runs) {
    std::uint64_t other_ways = 0;
    for (const auto strategy : counting_strategies()) {
        for (std::size_t fault = 0; fault < fault_count; ++fault) {
            const auto model = static_cast<StorageModel>(fault % 3);
            const auto of_one = Faults::of_bits(1U << fault);
            CAPTURE(strategy, fault_name(static_cast<Fault>(fault)));
            const auto program = program_of(Scenario{.origin = {1, model},
                                                     .faults = of_one,
                                                     .faults_max = 1,
                                                     .play = counting(hosts_of(strategy), what)});
            Seen seen;
            // Without reduction, so that equal states are come to by all ways.
            Search search(
                [&](Telling telling) { return std::make_unique<Compared>(program(telling), seen); },
                {.switches = switches, .steps = 500, .reduction = false});
            search.explore(runs);
            CHECK(seen.differs == 0);
            other_ways += seen.other_ways;
        }
    }
    return other_ways;
}

}  // namespace

TEST_CASE("from equal states the same steps lead to equal ones, and to the same ends") {
    CHECK(check_states({.tabs = 2, .adds = 1}, 1, 300) > 10'000);
}

}  // namespace tabacus::lab::test
