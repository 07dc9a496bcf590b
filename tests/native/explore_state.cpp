// Is a state's number what the explorer takes it for? From equal ones the same choices must lead to
// equal ones and to the same ends. What the number leaves out of account shows where walks come to
// a state by several ways and it makes a difference to them: the order of transactions, or of a
// lock's queue, does within these.
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "lab/explore/counting.hpp"
#include "lab/explore/scenario.hpp"
#include "lab/random.hpp"

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

/// Takes the steps of `base`, in about their order, and strays from them now and then. Its own.
std::vector<std::uint64_t> walk(Run& run, std::vector<std::uint64_t> base, SeededRandom& random,
                                std::size_t stray_percent) {
    constexpr std::size_t steps_max = 500;
    constexpr std::size_t ahead = 12;
    std::vector<std::uint64_t> taken;
    while (taken.size() < steps_max) {
        const auto& choices = run.choices();
        if (choices.empty()) {
            run.finish();
            break;
        }
        auto chosen = random.below(choices.size());
        if (random.below(100) >= stray_percent) {
            const auto end =
                base.begin() + static_cast<std::ptrdiff_t>(std::min(ahead, base.size()));
            const auto possible = [&](std::uint64_t process) {
                return std::find_if(choices.begin(), choices.end(), [&](const Choice& choice) {
                    return choice.process == process;
                });
            };
            const auto next = std::find_if(base.begin(), end, [&](std::uint64_t process) {
                return possible(process) != choices.end();
            });
            // Without a base to go by, the calmest.
            chosen = next == end ? 0 : static_cast<std::size_t>(possible(*next) - choices.begin());
        }
        taken.push_back(choices[chosen].process);
        const auto passed = std::find(base.begin(), base.end(), taken.back());
        if (passed != base.end()) base.erase(passed);
        run.take(chosen, nullptr);
        if (!run.complaint().empty()) break;
    }
    return taken;
}

/// With whatever makes runs of them differ.
Scenario scenario_of(std::string_view strategy, const Faults& faults, SeededRandom& random) {
    const Counting what{.tabs = random.coin() ? 2U : 3U,
                        .adds = random.coin() ? 1U : 2U,
                        .flush_each = random.coin(),
                        .all_read = random.coin(),
                        .pause_ms = random.coin() ? 30.0 : 0,
                        .locks_bar_cache = random.coin()};
    return {.origin = {1, static_cast<StorageModel>(random.below(3))},
            .faults = faults,
            .faults_max = random.coin() ? 1U : 2U,
            .play = counting(hosts_of(strategy), what)};
}

/// Neighbours of a random walk come to the same states by other ways, from the first steps on.
/// Returns how often.
std::uint64_t check_states(const Program& program, SeededRandom& random, int neighbours) {
    Seen seen;
    const auto fresh = [&] { return std::make_unique<Compared>(program(Telling::silent), seen); };
    const auto base = walk(*fresh(), {}, random, random.coin() ? 10 : 50);
    for (int i = 0; i < neighbours; ++i) {
        walk(*fresh(), base, random, random.coin() ? 3 : 20);
    }
    CHECK(seen.differs == 0);
    return seen.other_ways;
}

}  // namespace

TEST_CASE("from equal states the same steps lead to equal ones, and to the same ends") {
    std::uint64_t other_ways = 0;
    SeededRandom random(1);
    for (const auto strategy : counting_strategies()) {
        for (std::size_t fault = 0; fault <= fault_count; ++fault) {
            CAPTURE(strategy, fault);
            const auto bits = fault == fault_count ? (1U << fault_count) - 1 : 1U << fault;
            const auto scenario = scenario_of(strategy, Faults::of_bits(bits), random);
            other_ways += check_states(program_of(scenario), random, 80);
        }
    }
    CHECK(other_ways > 50'000);
}

}  // namespace tabacus::lab::test
