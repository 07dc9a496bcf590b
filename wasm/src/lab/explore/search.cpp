#include "search.hpp"

#include <algorithm>
#include <utility>

namespace tabacus::lab {
namespace {

/// A set of numbers of steps.
class Steps {
  public:
    void clear() { words_.clear(); }
    void insert(std::size_t step) {
        if (words_.size() <= step / 64) words_.resize(step / 64 + 1);
        words_[step / 64] |= std::uint64_t{1} << step % 64;
    }
    void insert(const Steps& others) {
        if (words_.size() < others.words_.size()) words_.resize(others.words_.size());
        for (std::size_t i = 0; i < others.words_.size(); ++i) words_[i] |= others.words_[i];
    }
    [[nodiscard]] bool intersects(const Steps& others) const {
        const auto words = std::min(words_.size(), others.words_.size());
        for (std::size_t i = 0; i < words; ++i) {
            if ((words_[i] & others.words_[i]) != 0) return true;
        }
        return false;
    }
    [[nodiscard]] bool contains(std::size_t step) const {
        return step / 64 < words_.size() && (words_[step / 64] >> step % 64 & 1U) != 0;
    }

  private:
    std::vector<std::uint64_t> words_;
};

/// A step that was explored from an earlier state, and that commutes with all steps since then.
struct Sleeper {
    std::uint64_t process;
    Footprint footprint;
    std::uint64_t event;  // the number that it adds to a point
};

enum class Plan : std::uint8_t { not_needed, to_do, done };

}  // namespace

/// A state on the path, its choices, and the step that was chosen.
struct Search::Frame {
    std::vector<Choice> choices;
    std::vector<Plan> plans;     // one for each choice
    std::vector<Sleeper> sleep;  // steps that are explored elsewhere, and those explored from here.
                                 // Within a preemption bound they may have to be explored again
    std::uint32_t preemptions = 0;  // of the path up to here

    std::size_t chosen = 0;
    Footprint footprint;
    Steps enabled_by;  // steps that must come before the chosen one whatever it touches
    Steps past;        // all steps that the chosen one depends on

    std::uint64_t point = 0;  // the hash of the state, or of the trace up to here
    std::uint64_t event = 0;  // the number that the chosen step adds to it
    TraceHash::Changes changes;

    [[nodiscard]] std::uint64_t process() const { return choices[chosen].process; }
    [[nodiscard]] bool sleeps(std::uint64_t process) const {
        return std::any_of(sleep.begin(), sleep.end(),
                           [&](const Sleeper& sleeper) { return sleeper.process == process; });
    }
    [[nodiscard]] std::optional<std::size_t> find(std::uint64_t process) const {
        for (std::size_t i = 0; i < choices.size(); ++i) {
            if (choices[i].process == process) return i;
        }
        return std::nullopt;
    }
    /// Puts the chosen step to sleep, because it is explored.
    void slept() {
        std::erase_if(sleep, [&](const Sleeper& one) { return one.process == process(); });
        sleep.push_back({process(), footprint, event});
    }
    void plan(std::size_t choice) {
        if (plans[choice] == Plan::not_needed) plans[choice] = Plan::to_do;
    }
};

Search::Search(Program program, Bound bound)
    : program_(std::move(program)),
      runs_(program_, bound.rewinding),
      bound_(bound),
      dynamic_(bound.reduction && !bound.preemptions && !bound.visited),
      caching_(bound.reduction && !dynamic_) {}
Search::~Search() = default;

bool Search::explore(std::uint64_t runs, std::uint64_t steps_max) {
    for (; runs > 0 && !done_ && counts_.steps < steps_max; --runs) {
        run_once();
        if (failed_run_ || !backtrack()) done_ = true;
    }
    runs_.end();
    return !done_;
}

/// Runs one schedule: the fixed choices, then new ones. All fixed choices except the last have been
/// taken before without a failure.
void Search::run_once() {
    const auto repeated = std::max<std::size_t>(fixed_, 1) - 1;
    auto& run = runs_.begin(repeated);
    counts_.steps += runs_.passed();
    for (auto step = runs_.passed(); step < repeated; ++step) {
        run.choices();
        ++counts_.steps;
        const auto failure = take_guarded(run, path_[step]->chosen, nullptr, nullptr);
        if (!failure.empty()) return fail(failure);
    }
    depth_ = fixed_;
    if (fixed_ == 0 && caching_) initial_ = run.state().value_or(0);
    if (fixed_ > 0) {
        run.choices();
        if (!take(run, fixed_ - 1)) return;
    }
    while (descend(run)) {
    }
}

/// Takes the step that is chosen at `depth`. Returns false if the run ends there.
bool Search::take(Run& run, std::size_t depth) {
    auto& frame = *path_[depth];
    frame.footprint.clear();
    Run::Taken taken;
    ++counts_.steps;
    const bool note = dynamic_ || caching_;
    auto failure = take_guarded(run, frame.chosen, note ? &frame.footprint : nullptr, &taken);
    if (!failure.empty()) {
        fail(std::move(failure));
        return false;
    }
    if (dynamic_) note_step(depth, taken.cause);
    if (!caching_ || remember(run, depth, taken.cause)) return true;
    ++counts_.asleep;
    return false;
}

/// Chooses a step and takes it. Returns false at the end of the run.
bool Search::descend(Run& run) {
    runs_.reached(depth_);
    const auto& choices = run.choices();
    if (depth_ > 0 && dynamic_) wake_disabled(*path_[depth_ - 1], choices);
    if (choices.empty()) {
        ++counts_.schedules;
        if (auto failure = finish_guarded(run); !failure.empty()) fail(std::move(failure));
        return false;
    }
    return enter(choices) && take(run, depth_ - 1);
}

/// Adds a state to the path and chooses its step. Returns false if the run is given up there.
bool Search::enter(const std::vector<Choice>& choices) {
    if (depth_ == bound_.steps) {
        ++counts_.cut;
        return false;
    }
    push_frame(choices);
    auto& frame = *path_[depth_ - 1];
    const auto choice = pick(frame);
    if (choice == frame.choices.size()) {
        --depth_;
        ++counts_.asleep;
        return false;
    }
    frame.chosen = choice;
    frame.plans[choice] = Plan::done;
    return true;
}

void Search::push_frame(const std::vector<Choice>& choices) {
    if (path_.size() == depth_) path_.push_back(std::make_unique<Frame>());
    auto& frame = *path_[depth_];
    frame.choices = choices;
    frame.plans.assign(choices.size(), dynamic_ ? Plan::not_needed : Plan::to_do);
    frame.sleep.clear();
    frame.footprint.clear();
    frame.preemptions = 0;
    frame.point = initial_;
    if (depth_ > 0) {
        const auto& before = *path_[depth_ - 1];
        frame.point = before.point + before.event;
        frame.preemptions =
            before.preemptions + (before.choices[before.chosen].preempts ? std::uint32_t{1} : 0);
        for (const auto& sleeper : before.sleep) {
            if (sleeper.process == before.process()) continue;
            if (find_conflict(sleeper.footprint, before.footprint) == Conflict::none) {
                frame.sleep.push_back(sleeper);
            }
        }
    }
    const bool used_up = bound_.preemptions && frame.preemptions >= *bound_.preemptions;
    for (std::size_t i = 0; i < choices.size(); ++i) {
        const auto& choice = choices[i];
        const bool out_of_bound =
            (used_up && choice.preempts) || (bound_.ordered && choice.reorders);
        if (out_of_bound || (caching_ && choice.twin)) frame.plans[i] = Plan::not_needed;
    }
    ++depth_;
}

/// Returns the first choice that is not explored elsewhere, or the number of choices if there is
/// none. Within a preemption bound faults come first: later on, the state after a fault that
/// commutes with the steps since then is predicted, so that the fault need not be taken again.
std::size_t Search::pick(const Frame& frame) const {
    const auto count = frame.choices.size();
    std::size_t found = count;
    for (std::size_t i = 0; i < count; ++i) {
        const bool fault = caching_ && frame.choices[i].fault;
        if (found != count && !fault) continue;
        const bool wanted = dynamic_ ? !frame.sleeps(frame.choices[i].process)
                                     : frame.plans[i] == Plan::to_do && !foreseen(frame, i);
        if (!wanted) continue;
        found = i;
        if (fault || !caching_) break;
    }
    return found;
}

/// Finds the earlier steps that the step depends on, and plans the choices that reverse its races.
void Search::note_step(std::size_t depth, std::uint32_t cause) {
    auto& frame = *path_[depth];
    frame.enabled_by.clear();
    const auto after = [&](std::size_t step) {
        frame.enabled_by.insert(path_[step]->past);
        frame.enabled_by.insert(step);
    };
    if (cause > 0) after(cause - 1);
    for (std::size_t step = depth; step > 0; --step) {
        if (path_[step - 1]->process() != frame.process()) continue;
        after(step - 1);
        break;
    }
    find_races(depth);
}

void Search::find_races(std::size_t depth) {
    auto& frame = *path_[depth];
    frame.past = frame.enabled_by;
    std::vector<std::size_t> races;
    // The steps before the races that were found. Exploring a race the other way also reverses the
    // races with the steps before it. These steps are in `frame.past` already.
    Steps covered;
    for (std::size_t step = depth; step-- > 0;) {
        const auto& earlier = *path_[step];
        if (frame.enabled_by.contains(step) || covered.contains(step)) continue;
        const auto conflict = find_conflict(earlier.footprint, frame.footprint);
        if (conflict == Conflict::none) continue;
        frame.past.insert(earlier.past);
        frame.past.insert(step);
        if (conflict != Conflict::race) continue;
        races.push_back(step);
        covered.insert(earlier.past);
    }
    for (const auto step : races) add_backtrack(step, depth);
}

/// Plans, in the state where step `at` was chosen, a choice that leads to step `later` without
/// `at`.
void Search::add_backtrack(std::size_t at, std::size_t later) {
    auto& frame = *path_[at];
    const auto& target = *path_[later];
    std::vector<std::size_t> initials;
    Steps between;
    for (std::size_t step = at + 1; step <= later; ++step) {
        const auto& candidate = *path_[step];
        if (step < later && (!target.past.contains(step) || candidate.past.contains(at))) continue;
        const bool first = !candidate.past.intersects(between);
        between.insert(step);
        if (!first) continue;
        if (const auto choice = frame.find(candidate.process())) initials.push_back(*choice);
    }
    if (initials.empty()) {
        for (std::size_t i = 0; i < frame.choices.size(); ++i) frame.plan(i);
        return;
    }
    const bool planned = std::any_of(initials.begin(), initials.end(), [&](std::size_t choice) {
        return frame.plans[choice] != Plan::not_needed;
    });
    if (!planned) frame.plan(initials.front());
}

/// Plans the choices that the last step has disabled, because they must be tried before it. Wakes
/// them, too: a race with a disabled step is found only where it is taken, which is never below
/// this step.
void Search::wake_disabled(const Frame& before, const std::vector<Choice>& after) {
    auto& frame = *path_[depth_ - 1];
    for (std::size_t i = 0; i < before.choices.size(); ++i) {
        if (i == before.chosen) continue;
        const auto process = before.choices[i].process;
        const bool still = std::any_of(after.begin(), after.end(), [&](const Choice& choice) {
            return choice.process == process;
        });
        if (still) continue;
        frame.plan(i);
        std::erase_if(frame.sleep, [&](const Sleeper& one) { return one.process == process; });
    }
}

std::uint32_t Search::preemptions_left(const Frame& frame, std::size_t choice) const {
    if (!bound_.preemptions) return 0;
    return *bound_.preemptions - frame.preemptions - (frame.choices[choice].preempts ? 1U : 0U);
}

/// Returns the process that has the turn after the choice, if it makes a difference.
std::uint64_t Search::turn_after(const Choice& choice) const {
    return bound_.preemptions ? choice.turn_after() : 0;
}

/// Whether the predicted state after the choice is already explored, so that it need not be taken.
bool Search::foreseen(const Frame& frame, std::size_t choice) const {
    if (!caching_) return false;
    const auto& to = frame.choices[choice];
    return std::any_of(frame.sleep.begin(), frame.sleep.end(), [&](const Sleeper& one) {
        return one.process == to.process && visited_.covers(frame.point + one.event, turn_after(to),
                                                            preemptions_left(frame, choice));
    });
}

/// Records the state after the step. Returns false if that state was already explored.
bool Search::remember(const Run& run, std::size_t depth, std::uint32_t cause) {
    auto& frame = *path_[depth];
    if (const auto state = run.state()) {
        frame.event = *state - frame.point;
    } else {
        frame.event = traces_.add(frame.process(), cause > 0 ? path_[cause - 1]->event : 0,
                                  frame.footprint, frame.changes);
    }
    const auto point = frame.point + frame.event;
    const auto turn = turn_after(frame.choices[frame.chosen]);
    const auto left = preemptions_left(frame, frame.chosen);
    if (visited_.covers(point, turn, left)) return false;
    visited_.insert(point, turn, left);
    return true;
}

/// Goes back to the deepest state with a choice to try. Returns false if there is none.
bool Search::backtrack() {
    for (; depth_ > 0; --depth_) {
        auto& frame = *path_[depth_ - 1];
        traces_.undo(frame.changes);
        if (dynamic_ || caching_) frame.slept();
        while (const auto next = next_planned(frame)) {
            frame.plans[*next] = Plan::done;
            if (dynamic_ && frame.sleeps(frame.choices[*next].process)) continue;
            if (foreseen(frame, *next)) continue;
            frame.chosen = *next;
            fixed_ = depth_;
            return true;
        }
    }
    return false;
}

/// Returns the next planned choice, in the order of pick().
std::optional<std::size_t> Search::next_planned(const Frame& frame) const {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < frame.choices.size(); ++i) {
        if (frame.plans[i] != Plan::to_do) continue;
        if (caching_ && frame.choices[i].fault) return i;
        if (!found) found = i;
    }
    return found;
}

// --- For a program that runs outside -------------------------------------------------------------

Search::Search(Bound bound) : Search(Program(), bound) {}

bool Search::begin_run() {
    if (std::exchange(begun_, true) && !done_) done_ = !backtrack();
    depth_ = fixed_;
    taken_ = 0;
    return !done_;
}

void Search::restart_run() {
    if (taken_ > 0) fixed_ = depth_;
    taken_ = 0;
}

std::optional<std::size_t> Search::choose(const std::vector<Choice>& choices) {
    if (taken_ < fixed_) {
        const auto& frame = *path_[taken_];
        const bool equal =
            std::equal(choices.begin(), choices.end(), frame.choices.begin(), frame.choices.end(),
                       [](const Choice& a, const Choice& b) { return a.process == b.process; });
        if (equal) return frame.chosen;
        diverged_ = done_ = true;
        return std::nullopt;
    }
    if (depth_ > 0 && dynamic_) wake_disabled(*path_[depth_ - 1], choices);
    if (!enter(choices)) return std::nullopt;
    return path_[depth_ - 1]->chosen;
}

void Search::note_taken(std::uint32_t cause, const Footprint& footprint) {
    ++counts_.steps;
    const auto step = taken_++;
    auto& frame = *path_[step];
    if (step + 1 < fixed_) {
        if (dynamic_ && frame.footprint != footprint) diverged_ = done_ = true;
        return;
    }
    if (!dynamic_) return;
    frame.footprint = footprint;
    note_step(step, cause);
}

void Search::end_run() {
    if (taken_ < fixed_) {
        diverged_ = done_ = true;
        return;
    }
    if (depth_ > 0 && dynamic_) wake_disabled(*path_[depth_ - 1], {});
    ++counts_.schedules;
}

std::uint64_t Search::planned() const {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < depth_; ++i) {
        const auto& frame = *path_[i];
        for (std::size_t choice = 0; choice < frame.choices.size(); ++choice) {
            const bool asleep = dynamic_ && frame.sleeps(frame.choices[choice].process);
            if (frame.plans[choice] == Plan::to_do && !asleep) ++count;
        }
    }
    return count;
}

void Search::fail(std::string failure) {
    Schedule schedule;
    for (std::size_t i = 0; i < std::max(depth_, fixed_); ++i) {
        schedule.push_back(static_cast<std::uint32_t>(path_[i]->chosen));
    }
    failed_run_ = replay(program_, schedule);
    if (failed_run_->failure.empty()) failed_run_->failure = std::move(failure);
}

}  // namespace tabacus::lab
