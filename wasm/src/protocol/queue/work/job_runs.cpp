#include "job_runs.hpp"

#include <algorithm>

namespace tabacus {
namespace {

/// The fields of a cancelled job in an event: its id, key and kind.
constexpr std::size_t fields_of_cancelled = 3;

/// Whether an event reports that the job was cancelled. An event without fields reports all jobs.
bool reports(const std::vector<std::string>& fields, const std::string& id) {
    if (fields.empty()) return true;
    for (std::size_t i = 0; i < fields.size(); i += fields_of_cancelled) {
        if (fields[i] == id) return true;
    }
    return false;
}

}  // namespace

std::shared_ptr<JobRun> JobRuns::begin(const Job& job) {
    const auto run = std::make_shared<JobRun>();
    run->number = ++last_number_;
    run->id = job.id;
    runs_.push_back(run);
    callbacks_.run(run->number, info_of(job, JobInfo::State::running));
    return run;
}

std::shared_ptr<JobRun> JobRuns::find(int number) const {
    const auto found = std::find_if(runs_.begin(), runs_.end(),
                                    [number](const auto& run) { return run->number == number; });
    return found == runs_.end() ? nullptr : *found;
}

void JobRuns::finish(int number, JobOutcome outcome) {
    const auto run = find(number);  // kept: wake() may take it off the list
    if (!run || run->ended) return;
    run->ended = true;
    run->outcome = std::move(outcome);
    run->wake();
}

void JobRuns::lose(JobRun& run, std::string_view reason) {
    if (run.ended) return;
    run.ended = run.lost = true;
    callbacks_.lost(run.number, reason);
    run.wake();
}

void JobRuns::lose_all(std::string_view reason) {
    for (const auto& run : std::vector(runs_)) lose(*run, reason);
}

void JobRuns::end(const std::shared_ptr<JobRun>& run) { std::erase(runs_, run); }

void JobRuns::report_cancelled(const std::vector<std::string>& fields) {
    for (const auto& run : std::vector(runs_)) {
        if (!run->ended && reports(fields, run->id)) callbacks_.lost(run->number, "cancelled");
    }
}

void JobRuns::wake_all() {
    for (const auto& run : std::vector(runs_)) run->wake();
}

}  // namespace tabacus
