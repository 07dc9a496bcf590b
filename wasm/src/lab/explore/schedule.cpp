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
        return std::string("it threw: ") + error.what();
    }
    return run.complaint();
}

/// FNV-1a, by words.
std::uint64_t hashed(std::uint64_t hash, std::uint64_t word) {
    return (hash ^ word ^ word >> 32U) * 0x100000001b3U;
}

}  // namespace

std::string take_guarded(Run& run, std::size_t index, Footprint* footprint, Run::Taken* taken) {
    return guarded(run, [&] {
        const auto told = run.take(index, footprint);
        if (taken != nullptr) *taken = told;
    });
}

std::string finish_guarded(Run& run) {
    return guarded(run, [&] { run.finish(); });
}

Outcome replay(const Program& program, const Schedule& schedule, std::uint64_t steps_max) {
    Outcome outcome;
    outcome.hash = 0xcbf29ce484222325U;
    const auto run = program(Telling::silent);
    while (outcome.complaint.empty()) {
        const auto& choices = run->choices();
        if (choices.empty()) {
            outcome.complaint = finish_guarded(*run);
            break;
        }
        if (outcome.steps == steps_max) {
            outcome.cut = true;
            break;
        }
        std::uint32_t index = outcome.steps < schedule.size() ? schedule[outcome.steps] : 0;
        if (index >= choices.size()) index = 0;
        outcome.schedule.push_back(index);
        outcome.hash = hashed(outcome.hash, choices[index].process);
        ++outcome.steps;
        outcome.complaint = take_guarded(*run, index, nullptr, nullptr);
    }
    while (!outcome.schedule.empty() && outcome.schedule.back() == 0) outcome.schedule.pop_back();
    return outcome;
}

Trace tell(const Program& program, const Schedule& schedule, std::uint64_t steps_max) {
    Trace trace;
    const auto run = program(Telling::aloud);
    std::string complaint;
    while (complaint.empty() && trace.size() < steps_max) {
        const auto& choices = run->choices();
        if (choices.empty()) {
            finish_guarded(*run);
            break;
        }
        std::uint32_t index = trace.size() < schedule.size() ? schedule[trace.size()] : 0;
        if (index >= choices.size()) index = 0;
        Step step{choices[index].process, choices[index].fault, {}};
        complaint = take_guarded(*run, index, nullptr, nullptr);
        step.lines = run->lines();
        trace.push_back(std::move(step));
    }
    return trace;
}

}  // namespace tabacus::lab
