// Measures how many steps the explorer makes in a second. Prints a line of JSON for each kind of work:
//   tabacus_bench [seconds per row]
// A second is one of this process on one core, so that other processes do not distort the figures.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "lab/explore/explorer.hpp"
#include "lab/explore/sampling.hpp"

namespace {

using namespace tabacus::lab;

template <typename Work>
void row(const char* name, double seconds_min, Work work) {
    const auto begin = std::clock();
    std::uint64_t steps = 0;
    std::uint64_t schedules = 0;
    double seconds = 0;
    while (seconds < seconds_min) {
        work(steps, schedules);
        seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    }
    std::printf("{\"row\":\"%s\",\"steps\":%llu,\"schedules\":%llu,\"stepsPerSecond\":%.0f}\n",
                name, static_cast<unsigned long long>(steps),
                static_cast<unsigned long long>(schedules), static_cast<double>(steps) / seconds);
}

CountingSetup setup_for(const char* strategy, std::uint32_t tabs, Faults faults) {
    return {.strategy = strategy,
            .model = StorageModel::cached,
            .counting = {.tabs = tabs, .adds = 2},
            .faults = faults,
            .faults_max = faults.empty() ? 0U : 1U};
}

void search_row(const char* name, double seconds, const CountingSetup& setup, bool reduction) {
    row(name, seconds, [&](std::uint64_t& steps, std::uint64_t& schedules) {
        Bound bound;
        bound.reduction = reduction;
        Search search(program_of(setup, nullptr, nullptr), bound);
        search.explore(20'000);
        steps += search.counts().steps;
        schedules += search.counts().schedules;
    });
}

void sampling_row(const char* name, double seconds, const CountingSetup& setup) {
    const auto program = program_of(setup, nullptr, nullptr);
    const Sampling sampling{.faults_max = setup.faults_max,
                            .length = default_schedule_length(program)};
    std::uint64_t seed = 0;
    row(name, seconds, [&](std::uint64_t& steps, std::uint64_t& schedules) {
        steps += sample(program, ++seed, sampling).steps;
        ++schedules;
    });
}

}  // namespace

int main(int count, char** arguments) {
    const double seconds = count > 1 ? std::strtod(arguments[1], nullptr) : 2;
    const auto transactional = setup_for("transactional", 2, {Fault::kill});
    search_row("search, transactional, every schedule", seconds, transactional, false);
    search_row("search, transactional, reduced", seconds, transactional, true);
    search_row("search, replicated, reduced", seconds, setup_for("replicated", 2, {Fault::kill}),
               true);
    sampling_row("seeds, replicated, 8 tabs", seconds, setup_for("replicated", 8, {Fault::kill}));
    sampling_row("seeds, locked, 3 tabs", seconds, setup_for("locked", 3, {}));
    return 0;
}
