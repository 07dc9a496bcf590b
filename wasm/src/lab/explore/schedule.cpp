#include "schedule.hpp"

#include <exception>
#include <utility>

namespace tabacus::lab {
namespace {

template <typename Body>
std::string guarded(Run& run, Body body) {
    try {
        body();
    } catch (const std::exception& error) {
        return std::string("the program threw: ") + error.what();
    }
    return run.failure();
}

/// Adds a word to an FNV-1a hash.
std::uint64_t hashed(std::uint64_t hash, std::uint64_t word) {
    return (hash ^ word ^ word >> 32U) * 0x100000001b3U;
}

}  // namespace

std::string take_guarded(Run& run, std::size_t index, Footprint* footprint, Run::Taken* taken) {
    return guarded(run, [&] {
        const auto step = run.take(index, footprint);
        if (taken != nullptr) *taken = step;
    });
}

std::string finish_guarded(Run& run) {
    return guarded(run, [&] { run.finish(); });
}

Outcome run_by(const Program& program, std::uint64_t steps_max, const Choose& choose) {
    Outcome outcome;
    outcome.hash = 0xcbf29ce484222325U;
    std::size_t departed = 0;  // the number of entries up to the last that is not the default
    const auto run = program(Tracing::off);
    while (outcome.failure.empty()) {
        const auto& choices = run->choices();
        const auto index = choices.empty() ? 0 : choose(choices, outcome.steps);
        if (index >= choices.size()) {
            outcome.failure = finish_guarded(*run);
            break;
        }
        if (outcome.steps == steps_max) {
            outcome.cut = true;
            break;
        }
        outcome.schedule.push_back(static_cast<std::uint32_t>(index));
        if (index != 0 || choices[0].fault) departed = outcome.schedule.size();
        outcome.hash = hashed(outcome.hash, choices[index].process);
        ++outcome.steps;
        outcome.failure = take_guarded(*run, index, nullptr, nullptr);
    }
    run->end();
    outcome.schedule.resize(departed);
    return outcome;
}

namespace {

/// Returns the schedule's choice, or the default after its end. If that default is a fault, returns
/// the number of choices.
std::size_t entry(const Schedule& schedule, const std::vector<Choice>& choices,
                  std::uint64_t step) {
    std::size_t index = step < schedule.size() ? schedule[static_cast<std::size_t>(step)] : 0;
    if (index >= choices.size()) index = 0;
    return choices[index].fault && step >= schedule.size() ? choices.size() : index;
}

}  // namespace

Outcome replay(const Program& program, const Schedule& schedule, std::uint64_t steps_max) {
    return run_by(program, steps_max, [&](const std::vector<Choice>& choices, std::uint64_t step) {
        return entry(schedule, choices, step);
    });
}

Trace trace_of(const Program& program, const Schedule& schedule, std::uint64_t steps_max) {
    Trace trace;
    const auto run = program(Tracing::on);
    while (trace.failure.empty() && trace.steps.size() < steps_max) {
        const auto& choices = run->choices();
        const auto index = choices.empty() ? 0 : entry(schedule, choices, trace.steps.size());
        if (index >= choices.size()) {
            trace.failure = finish_guarded(*run);
            break;
        }
        Step step{choices[index].process, choices[index].fault, {}};
        trace.failure = take_guarded(*run, index, nullptr, nullptr);
        step.lines = run->lines();
        trace.steps.push_back(std::move(step));
    }
    return trace;
}

}  // namespace tabacus::lab
