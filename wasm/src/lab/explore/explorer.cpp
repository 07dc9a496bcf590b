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
    if (!hosts_of(setup.strategy)) refuse("there is no strategy named " + setup.strategy);
    if (setup.counting.tabs < 1 || setup.counting.tabs > tabs_limit) {
        refuse("tabs must be 1 to " + std::to_string(tabs_limit));
    }
    if (setup.counting.adds > adds_limit) refuse("adds may be " + std::to_string(adds_limit));
    if (setup.faults_max > faults_limit) refuse("faults may be " + std::to_string(faults_limit));
}

std::string plural(std::uint64_t count, const std::string& noun, const char* ending = "s") {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : ending);
}

std::string title_of(const CountingSetup& setup) {
    constexpr std::array<const char*, 3> models = {"mutexed", "interleaved", "cached"};
    return setup.strategy + ", " + models.at(static_cast<std::size_t>(setup.model)) + ", " +
           plural(setup.counting.tabs, "tab") + " of " + plural(setup.counting.adds, "add");
}

/// More than the calmest run of any setup has.
constexpr std::uint64_t calm_steps_max = 10'000'000;
constexpr std::uint64_t times_calm_max = 20;

/// What has more steps does not come to rest.
std::uint64_t run_steps_max(std::uint64_t calm_steps) {
    if (calm_steps >= calm_steps_max) return calm_steps_max;
    return std::max(steps_max_default, times_calm_max * calm_steps);
}

constexpr const char* restless = "it does not come to rest";

std::uint64_t run_steps_max(const Program& program) {
    return run_steps_max(calm_length(program, calm_steps_max));
}

/// A run again, whatever its length says of it.
Outcome judged(const Program& program, const Schedule& schedule, std::uint64_t steps_max) {
    auto outcome = replay(program, schedule, steps_max);
    if (outcome.cut) outcome.complaint = restless;
    return outcome;
}

void describe_failure(ExploreReport& report, const CountingSetup& setup, const Program& program,
                      const Schedule& schedule, std::uint64_t steps_max) {
    auto trace = tell(program, schedule, steps_max);
    trace.complaint = report.complaint;
    report.seed = format_seed({setup, schedule});
    report.trace = trace_text(trace);
    report.svg = sequence_diagram(trace, title_of(setup) + ": " + trace.complaint);
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
    constexpr std::array<std::string_view, 4> names = {"open", "proved", "broken",
                                                       "unbroken within the bound"};
    return names.at(static_cast<std::size_t>(verdict));
}

Program program_of(const CountingSetup& setup, const MakeHost& make, FaultTally* tally) {
    // How long it waits is random.
    constexpr std::string_view waits_at_random = "optimistic";
    return program_of(Scenario{
        .origin = {1, setup.model},
        .faults = setup.faults,
        .faults_max = setup.faults.empty() ? 0U : setup.faults_max,
        .alike = !make && setup.counting.pause_ms == 0 && setup.strategy != waits_at_random,
        .rewinds = !make,  // what a test makes may keep something elsewhere
        .play = counting(make ? make : hosts_of(setup.strategy), setup.counting),
        .tally = tally});
}

/// The stages one after another, each a few searches.
struct Exploration::State {
    enum class Stage : std::uint8_t { all, switches, between, seeds, over };

    explicit State(ExploreRequest asked)
        : request(std::move(asked)),
          most_faults(request.setup.faults.empty() ? 0 : request.setup.faults_max) {
        check(request);
        report.setup = request.setup;
        if (request.faultless && most_faults > 0) levels.push_back(*request.faultless);
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
        stage = too_long ? Stage::switches : Stage::all;
        begin_search();
    }

    /// A search with exactly so many faults, since one with more never judges a run with fewer.
    void begin_search() {
        searched = 0;
        Bound bound{
            .switches = std::nullopt, .steps = request.steps_max, .reduction = request.reduction};
        if (stage != Stage::all) bound.switches = allowed;
        bound.ordered = stage == Stage::between;
        search = std::make_unique<Search>(program(faults()), bound);
    }

    std::uint64_t search_on(std::uint64_t schedules) {
        const auto before = search->tally();
        const auto runs = [](const Tally& tally) {
            return tally.schedules + tally.asleep + tally.cut;
        };
        const bool more =
            search->explore(std::min(schedules, request.schedules_max - searched), work_max());
        const auto& after = search->tally();
        const auto done = runs(after) - runs(before);
        searched += done;
        report.schedules += after.schedules - before.schedules;
        report.steps += after.steps - before.steps;
        if (search->failure()) {
            fail(*search->failure());
        } else if (!more || searched >= request.schedules_max || after.steps >= work_max()) {
            end_search(!more && search->exhausted(), after.steps);
        }
        return std::max<std::uint64_t>(done, 1);
    }

    [[nodiscard]] std::uint64_t work_max() const {
        if (stage == Stage::all) return std::min(request.work_max, request.unbounded_work_max);
        if (stage == Stage::between) return request.work_max;
        return std::min(request.work_max, request.switches_work_max);
    }

    /// Each switch more multiplies the work, by less each time. To be asked with what the search
    /// within `allowed` switches took.
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
            stage = Stage::switches;
            return begin_search();
        }
        if (exhausted) {
            (stage == Stage::switches ? level.switches : level.between) = allowed;
            const bool hope = !hopeless(steps);
            took = std::max<std::uint64_t>(steps, 1);
            if (allowed++ < request.switches_max && hope) return begin_search();
        }
        if (stage == Stage::switches && allowed <= request.switches_max) {
            stage = Stage::between;
            const auto without = std::exchange(took, 0);
            // The first switch multiplies most.
            if (allowed != 1 || without <= work_max() / 40) return begin_search();
        }
        end_level();
    }

    void end_level() {
        if (faults() < most_faults) return begin_level();
        search.reset();
        if (levels.back().all) return end(Verdict::proved, "every schedule");
        stage = Stage::seeds;
        const auto calm_steps = calm_length(program(0), calm_steps_max);
        sampling = {most_faults, calm_steps, run_steps_max(calm_steps)};
        sampled = program(most_faults);
        if (request.seeds == 0) end_seeds();
    }

    std::uint64_t sample_one() {
        const auto outcome = sample(sampled, request.first_seed + seeds, sampling);
        ++seeds;
        ++report.schedules;
        report.steps += outcome.steps;
        if (!outcome.complaint.empty()) {
            fail(outcome);
        } else if (outcome.cut) {
            auto hung = outcome;
            hung.complaint = restless;
            fail(hung);
        } else if (seeds >= request.seeds) {
            end_seeds();
        }
        return 1;
    }

    [[nodiscard]] std::string bound_of(std::size_t faults) const {
        const auto& level = levels[faults];
        if (!level.all && !level.switches && !level.between) return {};
        std::string text = "every schedule";
        if (most_faults > 0)
            text += faults == 0 ? " without faults" : " with " + plural(faults, "fault");
        if (level.all) return text;
        text += most_faults > 0 && faults > 0 ? " and" : " with";
        if (level.switches) text += " at most " + plural(*level.switches, "switch", "es");
        if (level.switches && level.between) text += ", or";
        if (!level.between) return text;
        return text + " at most " + plural(*level.between, "switch", "es") + " between tabs alone";
    }

    void end_seeds() {
        std::string bound;
        for (std::size_t faults = 0; faults < levels.size(); ++faults) {
            const auto text = bound_of(faults);
            if (!text.empty()) bound += text + "; ";
        }
        end(Verdict::unbroken_within_bound, bound + plural(seeds, "seeded schedule"));
    }

    void fail(const Outcome& failure) {
        const auto setup = request.setup;
        const auto least = program_of(setup, request.make, nullptr);
        auto shrunk = failure;
        // A search with fewer faults numbers its choices as one with more does: faults come last.
        const auto steps_max = run_steps_max(least);
        const auto again = judged(least, failure.schedule, steps_max);
        if (!again.complaint.empty() && !again.cut) shrunk = shrink(least, again);
        report.complaint = shrunk.complaint;
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
    std::uint32_t most_faults;
    ExploreReport report;
    Stage stage = Stage::all;
    std::vector<ExploredLevel> levels;  // by the number of faults
    std::uint32_t allowed = 0;          // switches, of a search within a bound of them
    std::uint64_t took = 0;             // steps of the search with one less; 0: there was none
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
    report.verdict = outcome.complaint.empty() ? Verdict::proved : Verdict::broken;
    report.complaint = outcome.complaint;
    report.schedules = 1;
    report.steps = outcome.steps;
    describe_failure(report, seed->setup, program_of(seed->setup, nullptr, nullptr), seed->schedule,
                     steps_max);
    return report;
}

}  // namespace tabacus::lab
