#include "unsettled_jobs.hpp"

#include <iterator>

#include "protocol/common/concat.hpp"
#include "protocol/common/stable_sort.hpp"

namespace tabacus {
namespace {

constexpr std::string_view full_disk = "the disk is full: the result could not be stored";

/// Returns about how many bytes the settlement of the job writes.
std::size_t written_by(const Job& job, const JobOutcome& outcome) {
    const bool done = outcome.kind == JobOutcome::Kind::done;
    auto size = outcome.value.text.size() + (done ? 0 : job.payload.text.size());
    for (const auto& spec : outcome.next) size += spec.payload.text.size() + 1;
    return size;
}

}  // namespace

void UnsettledJobs::gather() {
    std::move(postponed.begin(), postponed.end(), std::back_inserter(finished));
    postponed.clear();
    unfit_ = 0;
}

void UnsettledJobs::settle_next() {
    finished.push_back(std::move(postponed.front()));
    postponed.erase(postponed.begin());
}

bool UnsettledJobs::narrow(const std::vector<Job>& jobs) {
    if (finished.size() > 1) {
        const auto size = [&](const FinishedJob& one) {
            return written_by(jobs[one.at], one.outcome);
        };
        sort_stably(finished, [&](const auto& a, const auto& b) { return size(a) < size(b); });
        postponed = std::exchange(finished, {});
        unfit_ = 0;
    } else if (finished.front().outcome.kind == JobOutcome::Kind::done) {
        // The job fails because its result and its followers do not fit.
        refuse(0, ErrorCode::quota_exceeded, full_disk);
        return true;
    } else {
        postponed.push_back(std::move(finished.front()));
        finished.clear();
        if (++unfit_ == postponed.size()) return false;
    }
    settle_next();
    return true;
}

/// Requires that `message` has no character that JSON escapes.
void UnsettledJobs::refuse(std::size_t number, ErrorCode code, std::string_view message) {
    auto text = concat({R"({"name":"TabacusError","message":")", message, R"(","code":")",
                        code_name(code), R"("})"});
    finished[number].outcome = {JobOutcome::Kind::failed, {std::move(text), false}, {}};
}

}  // namespace tabacus
