#include "explorer.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <vector>

#include "lab/report/sequence_diagram.hpp"
#include "sampling.hpp"
#include "shrink.hpp"
#include "tabacus/common/error.hpp"

namespace tabacus::lab {
namespace {

void check(const ExploreRequest& request) {
    const auto& setup = request.setup;
    const auto refuse = [](const std::string& text) {
        throw Error(ErrorCode::invalid_argument, text);
    };
    if (!hosts_of(setup.strategy)) refuse("unknown strategy \"" + setup.strategy + "\"");
    if (setup.counting.tabs < 1 || setup.counting.tabs > tabs_limit) {
        refuse("tabs must be 1 to " + std::to_string(tabs_limit));
    }
    if (setup.counting.adds > adds_limit) refuse("adds must be 0 to " + std::to_string(adds_limit));
    if (setup.faults_max > faults_limit)
        refuse("faults must be 0 to " + std::to_string(faults_limit));
}

std::string plural(std::uint64_t count, const std::string& noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string title_of(const CountingSetup& setup) {
    constexpr std::array<const char*, 3> models = {"mutexed", "interleaved", "cached"};
    return setup.strategy + ", " + models.at(static_cast<std::size_t>(setup.model)) + ", " +
           plural(setup.counting.tabs, "tab") + " of " + plural(setup.counting.adds, "add");
}

/// The longest default schedule that is measured. It is longer than that of any setup.
constexpr std::uint64_t default_steps_max = 10'000'000;
constexpr std::uint64_t times_default_max = 20;

/// Returns the number of steps after which a run counts as endless.
std::uint64_t run_steps_max(std::uint64_t default_steps) {
    if (default_steps >= default_steps_max) return default_steps_max;
    return std::max(steps_max_default, times_default_max * default_steps);
}

constexpr const char* never_ends = "the run does not end";

std::uint64_t run_steps_max(const Program& program) {
    return run_steps_max(default_schedule_length(program, default_steps_max));
}

/// Repeats a run. A run that is too long fails.
Outcome judged(const Program& program, const Schedule& schedule, std::uint64_t steps_max) {
    auto outcome = replay(program, schedule, steps_max);
    if (outcome.cut) outcome.failure = never_ends;
    return outcome;
}

void describe_failure(ExploreReport& report, const CountingSetup& setup, const Program& program,
                      const Schedule& schedule, std::uint64_t steps_max) {
    auto trace = trace_of(program, schedule, steps_max);
    trace.failure = report.failure;
    report.seed = format_seed({setup, schedule});
    report.trace = trace_text(trace);
    report.svg = sequence_diagram(trace, title_of(setup) + ": " + trace.failure);
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
    constexpr std::array<std::string_view, 4> names = {"open", "proved", "broken",
                                                       "unbroken within the bound"};
    return names.at(static_cast<std::size_t>(verdict));
}

Program program_of(const CountingSetup& setup, const MakeHost& make, FaultCounts* fault_counts) {
    // The strategy whose pauses have random lengths.
    constexpr std::string_view waits_at_random = "optimistic";
    return program_of(Scenario{
        .origin = {1, setup.model},
        .faults = setup.faults,
        .faults_max = setup.faults.empty() ? 0U : setup.faults_max,
        .alike = !make && setup.counting.pause_ms == 0 && setup.strategy != waits_at_random,
        .rewinds = !make,  // hosts of a test may keep something outside of the run
        .workload = counting_workload(make ? make : hosts_of(setup.strategy), setup.counting),
        .fault_counts = fault_counts});
}

/// Takes the stages one after another. Each stage consists of a few searches.
struct Exploration::State {
    enum class Stage : std::uint8_t { all, preemptions, between, seeds, over };

    explicit State(ExploreRequest asked)
        : request(std::move(asked)),
          faults_max(request.setup.faults.empty() ? 0 : request.setup.faults_max) {
        check(request);
        report.setup = request.setup;
        if (request.faultless && faults_max > 0) levels.push_back(*request.faultless);
        begin_level();
    }

    [[nodiscard]] Program program(std::uint32_t faults) {
        auto setup = request.setup;
        setup.faults_max = faults;
        return program_of(setup, request.make, &report.faults);
    }
    [[nodiscard]] std::uint32_t faults() const {
        return static_cast<std::uint32_t>(levels.size()) - 1;
    }

    void begin_level() {
        const bool too_long = !levels.empty() && !levels.back().all;
        levels.emplace_back();
        allowed = 0;
        took = 0;
        stage = too_long ? Stage::preemptions : Stage::all;
        begin_search();
    }

    /// Begins a search with exactly faults() faults, because a search with more faults never judges
    /// a run with fewer.
    void begin_search() {
        searched = 0;
        Bound bound{.preemptions = std::nullopt,
                    .steps = request.steps_max,
                    .reduction = request.reduction};
        if (stage != Stage::all) bound.preemptions = allowed;
        bound.ordered = stage == Stage::between;
        search = std::make_unique<Search>(program(faults()), bound);
    }

    std::uint64_t search_on(std::uint64_t schedules) {
        const auto before = search->counts();
        const auto runs = [](const SearchCounts& counts) {
            return counts.schedules + counts.asleep + counts.cut;
        };
        const bool more =
            search->explore(std::min(schedules, request.schedules_max - searched), work_max());
        const auto& after = search->counts();
        const auto done = runs(after) - runs(before);
        searched += done;
        report.schedules += after.schedules - before.schedules;
        report.steps += after.steps - before.steps;
        if (search->failed_run()) {
            fail(*search->failed_run());
        } else if (!more || searched >= request.schedules_max || after.steps >= work_max()) {
            end_search(!more && search->exhausted(), after.steps);
        }
        return std::max<std::uint64_t>(done, 1);
    }

    [[nodiscard]] std::uint64_t work_max() const {
        if (stage == Stage::all) return std::min(request.work_max, request.unbounded_work_max);
        if (stage == Stage::between) return request.work_max;
        return std::min(request.work_max, request.preemptions_work_max);
    }

    /// Whether a search with one preemption more would take too long. Each preemption multiplies
    /// the work, by a factor that falls. `steps` is the number of steps of the search within
    /// `allowed` preemptions.
    [[nodiscard]] bool hopeless(std::uint64_t steps) const {
        const std::uint64_t first_growth = stage == Stage::between ? 6 : 48;
        const auto growth = took == 0 ? first_growth : steps / took;
        return growth > 0 && steps / 2 > work_max() / growth;
    }

    void end_search(bool exhausted, std::uint64_t steps) {
        auto& level = levels.back();
        report.exhausted = report.exhausted || exhausted;
        if (stage == Stage::all) {
            level.all = exhausted;
            if (exhausted) return end_level();
            stage = Stage::preemptions;
            return begin_search();
        }
        if (exhausted) {
            (stage == Stage::preemptions ? level.preemptions : level.between) = allowed;
            const bool hope = !hopeless(steps);
            took = std::max<std::uint64_t>(steps, 1);
            if (allowed++ < request.preemptions_max && hope) return begin_search();
        }
        if (stage == Stage::preemptions && allowed <= request.preemptions_max) {
            stage = Stage::between;
            const auto without = std::exchange(took, 0);
            // The first preemption multiplies the work by the largest factor.
            if (allowed != 1 || without <= work_max() / 40) return begin_search();
        }
        end_level();
    }

    void end_level() {
        if (faults() < faults_max) return begin_level();
        search.reset();
        if (levels.back().all) return end(Verdict::proved, "every schedule");
        stage = Stage::seeds;
        const auto default_steps = default_schedule_length(program(0), default_steps_max);
        sampling = {faults_max, default_steps, run_steps_max(default_steps)};
        sampled = program(faults_max);
        if (request.seeds == 0) end_seeds();
    }

    std::uint64_t sample_one() {
        const auto outcome = sample(sampled, request.first_seed + seeds, sampling);
        ++seeds;
        ++report.schedules;
        report.steps += outcome.steps;
        if (!outcome.failure.empty()) {
            fail(outcome);
        } else if (outcome.cut) {
            auto hung = outcome;
            hung.failure = never_ends;
            fail(hung);
        } else if (seeds >= request.seeds) {
            end_seeds();
        }
        return 1;
    }

    [[nodiscard]] std::string bound_of(std::size_t faults) const {
        const auto& level = levels[faults];
        if (!level.all && !level.preemptions && !level.between) return {};
        std::string text = "every schedule";
        if (faults_max > 0)
            text += faults == 0 ? " without faults" : " with " + plural(faults, "fault");
        if (level.all) return text;
        text += faults_max > 0 && faults > 0 ? " and" : " with";
        if (level.preemptions) text += " at most " + plural(*level.preemptions, "preemption");
        if (level.preemptions && level.between) text += ", or";
        if (!level.between) return text;
        return text + " at most " + plural(*level.between, "preemption") + " between tabs alone";
    }

    void end_seeds() {
        std::string bound;
        for (std::size_t faults = 0; faults < levels.size(); ++faults) {
            const auto text = bound_of(faults);
            if (!text.empty()) bound += text + "; ";
        }
        end(Verdict::unbroken_within_bound, bound + plural(seeds, "seeded schedule"));
    }

    void fail(const Outcome& failed) {
        const auto setup = request.setup;
        const auto least = program_of(setup, request.make, nullptr);
        auto shrunk = failed;
        // Faults come last among the choices, so a schedule of a search with fewer faults has the
        // same meaning in a program with more faults.
        const auto steps_max = run_steps_max(least);
        const auto again = judged(least, failed.schedule, steps_max);
        if (!again.failure.empty() && !again.cut) shrunk = shrink(least, again);
        report.failure = shrunk.failure;
        describe_failure(report, setup, least, shrunk.schedule, steps_max);
        end(Verdict::broken, "");
    }

    void end(Verdict verdict, std::string bound) {
        report.verdict = verdict;
        report.levels = levels;
        report.bound = std::move(bound);
        stage = Stage::over;
        search.reset();
    }

    ExploreRequest request;
    std::uint32_t faults_max;
    ExploreReport report;
    Stage stage = Stage::all;
    std::vector<ExploredLevel> levels;  // by the number of faults
    std::uint32_t allowed = 0;          // the preemption bound of the current search
    std::uint64_t took = 0;             // the steps of the search with one less; 0 if none
    std::uint64_t searched = 0;
    std::uint64_t seeds = 0;
    std::unique_ptr<Search> search;
    Sampling sampling;
    Program sampled;
};

Exploration::Exploration(ExploreRequest request)
    : state_(std::make_unique<State>(std::move(request))) {}
Exploration::~Exploration() = default;

bool Exploration::explore(std::uint64_t schedules) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    for (std::uint64_t done = 0; done < schedules && state_->stage != State::Stage::over;) {
        done += state_->stage == State::Stage::seeds ? state_->sample_one()
                                                     : state_->search_on(schedules - done);
    }
    state_->report.seconds += std::chrono::duration<double>(Clock::now() - begin).count();
    return state_->stage != State::Stage::over;
}

ExploreReport Exploration::report() const { return state_->report; }

std::optional<ExploreReport> replay_seed(std::string_view text) {
    const auto seed = parse_seed(text);
    if (!seed) return std::nullopt;
    ExploreReport report;
    report.setup = seed->setup;
    const auto program = program_of(seed->setup, nullptr, &report.faults);
    const auto steps_max = run_steps_max(program);
    const auto outcome = judged(program, seed->schedule, steps_max);
    report.verdict = outcome.failure.empty() ? Verdict::proved : Verdict::broken;
    report.failure = outcome.failure;
    report.schedules = 1;
    report.steps = outcome.steps;
    describe_failure(report, seed->setup, program_of(seed->setup, nullptr, nullptr), seed->schedule,
                     steps_max);
    return report;
}

}  // namespace tabacus::lab
