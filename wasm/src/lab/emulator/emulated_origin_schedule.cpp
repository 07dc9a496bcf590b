// EmulatedOrigin: which event of an origin happens next, by a seed or by a search, and its step.
#include "emulated_origin.hpp"

#include <algorithm>
#include <utility>

namespace tabacus::lab {
namespace {

constexpr Source clock_source{Source::Kind::clock, 0, 0};

}  // namespace

void EmulatedOrigin::run_by_seed(std::uint64_t seed, const Sampling& sampling, bool explored) {
    schedule_.reset();
    times_.restart(clock_.now_ms());
    random_choices_.emplace(seed, sampling);
    explored_ = explored;
    choices_made_ = 0;
}

void EmulatedOrigin::run_by_search(ScheduleSearch& search) {
    random_choices_.reset();
    schedule_.reset();
    times_.restart(clock_.now_ms());
    searched_.begin(search);
    explored_ = true;
}

void EmulatedOrigin::run_by(Schedule schedule) {
    random_choices_.reset();
    times_.restart(clock_.now_ms());
    schedule_ = std::move(schedule);
    explored_ = true;
    choices_made_ = 0;
}

/// Begins a step. Events that are posted from here on are younger than all earlier ones.
void EmulatedOrigin::begin_step() {
    scheduler_.begin_step(++steps_);
    clock_.begin_step(steps_);
}

/// Finds what may happen next: events, the oldest first, then the clock, then faults.
void EmulatedOrigin::find_choices(bool may_wait) {
    possible_.clear();
    choices_.clear();
    // Events with one cause are in the fixed order of their sources.
    const auto older = [](const Possible& a, const Possible& b) {
        return a.cause != b.cause ? a.cause < b.cause : a.source < b.source;
    };
    const bool by_default = !random_choices_ && !schedule_ && !searched_.under_way();
    const auto& sources = scheduler_.sources();
    for (std::size_t at = 0; at < sources.size(); ++at) {
        const auto& source = sources[at];
        if (runs_in_tab(source.kind)) {
            const auto& runner = agents_[source.tab - 1];
            if (!runner.active || runner.cached) continue;
        }
        const Possible one{source, scheduler_.cause(at)};
        if (by_default && !possible_.empty()) {
            possible_.front() = std::min(possible_.front(), one, older);
        } else {
            possible_.push_back(one);
        }
    }
    if (!by_default) std::sort(possible_.begin(), possible_.end(), older);
    const bool idle = possible_.empty();
    if (may_wait && clock_.waiting() && (idle || (explored_ && may_overtake()))) {
        possible_.push_back({clock_source, 0});
    }
    if (by_default) return;
    for (const auto& one : possible_) choices_.push_back({.process = key_of(one.source)});
    if (possible_.empty()) return;
    for (std::uint32_t fault = 0; fault < faults_; ++fault) {
        choices_.push_back({.process = fault, .fault = true});
    }
}

bool EmulatedOrigin::may_overtake() const {
    const auto due_ms = clock_.next_due_ms();
    return timer_window_ms_ > 0 &&
           std::all_of(possible_.begin(), possible_.end(), [&](const Possible& one) {
               return due_ms <= times_.at(one.cause) + timer_window_ms_;
           });
}

/// Returns nothing if the search gives the run up.
std::optional<std::size_t> EmulatedOrigin::choose() {
    if (searched_.under_way()) return searched_.choose(choices_);
    const auto made = choices_made_++;
    if (schedule_) {
        const auto wanted = made < schedule_->size() ? (*schedule_)[made] : 0;
        return wanted < choices_.size() ? wanted : 0;
    }
    if (!random_choices_) return 0;
    const auto chosen = random_choices_->choose(choices_, made);
    return chosen < choices_.size() ? chosen : 0;
}

/// Each context reads storages anew in each step of a search, so that the search knows every read.
/// The clock's event names no cause: any timer makes it possible.
void EmulatedOrigin::begin_search_step(std::size_t index) {
    if (!searched_.under_way()) return;
    ++version_;
    if (index < possible_.size()) {
        searched_.begin_step(steps_, possible_[index].cause);
    } else {
        searched_.begin_fault(steps_);
    }
}

const OriginEvent& EmulatedOrigin::step(bool may_wait) {
    event_ = {};
    find_choices(may_wait);
    if (possible_.empty()) return event_;
    const auto chosen = choose();
    if (!chosen) return event_;
    const auto index = *chosen;
    begin_step();
    begin_search_step(index);
    if (explored_) taken_.push_back(static_cast<std::uint32_t>(index));
    if (index >= possible_.size()) {
        event_.kind = OriginEvent::Kind::fault;
        event_.number = static_cast<double>(index - possible_.size());
        hash_ = SeededRandom(hash_ ^ ~index).bits();
        return event_;
    }
    perform(Source(possible_[index].source));
    return event_;
}

void EmulatedOrigin::perform(const Source& source) {
    event_.kind = OriginEvent::Kind::unseen;
    trace_.begin_step(key_of(source), false);
    if (source.kind == Source::Kind::clock) {
        searched_.note_clock();
        auto timer = clock_.take_next();
        if (explored_) times_.pass(steps_, clock_.now_ms());
        timer.callback();
    } else {
        if (runs_in_tab(source.kind) && source.kind != Source::Kind::change) {
            recorder_.note(Object::tab, agents_[source.tab - 1].process, AccessKind::write);
        }
        auto taken = scheduler_.take(source);
        if (explored_) times_.perform(steps_, taken.cause);
        taken.event();
    }
    const auto content = key_of(source) ^ static_cast<std::uint64_t>(event_.number) << 8U ^
                         std::uint64_t{event_.context} << 32U;
    hash_ = SeededRandom(hash_ ^ content).bits();
}

}  // namespace tabacus::lab
