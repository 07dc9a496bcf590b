// The parts of a queue that need no store. Each is tested by itself.
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <utility>
#include <vector>

#include "protocol/queue/outcomes/idle_waiters.hpp"
#include "protocol/queue/queue_status.hpp"
#include "protocol/queue/rows.hpp"
#include "protocol/queue/work/claim_size.hpp"
#include "protocol/queue/work/job_runs.hpp"
#include "protocol/queue/work/unsettled_jobs.hpp"

namespace tabacus::test {
namespace {

/// What JobRuns reports to the application.
struct Application {
    std::vector<std::string> begun;
    std::vector<std::string> lost;
    QueueCallbacks callbacks() {
        QueueCallbacks made;
        made.run = [this](int run, const JobInfo& job) {
            begun.push_back(std::to_string(run) + " " + job.id);
        };
        made.lost = [this](int run, std::string_view reason) {
            lost.push_back(std::to_string(run) + " " + std::string(reason));
        };
        return made;
    }
};

Job job_of_id(const std::string& id) {
    Job job;
    job.id = id;
    return job;
}

JobOutcome outcome_of(JobOutcome::Kind kind, const std::string& text) {
    return {kind, {text, false}, {}};
}

std::vector<Job> jobs_of_sizes(std::initializer_list<std::size_t> sizes) {
    std::vector<Job> jobs;
    for (const auto size : sizes) {
        jobs.emplace_back();
        jobs.back().payload.text = std::string(size, 'x');
    }
    return jobs;
}

std::vector<std::size_t> places_of(const std::vector<FinishedJob>& jobs) {
    std::vector<std::size_t> places;
    places.reserve(jobs.size());
    for (const auto& job : jobs) places.push_back(job.at);
    return places;
}

using Places = std::vector<std::size_t>;
using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("queue status: older news changes nothing, and news of the same version counts") {
    QueueStatus status;
    CHECK(status.learn(7, 3));
    CHECK_FALSE(status.learn(6, 9));
    CHECK(status.count == 3);
    CHECK(status.version == 7);
    CHECK(status.learn(7, 2));
    CHECK(status.count == 2);
}

TEST_CASE("queue claim size: quick claims grow fourfold up to the most, slow ones shrink to one") {
    using Pace = ClaimSize::Pace;
    ClaimSize size;
    CHECK(size.jobs() == 1);
    size.adapt(Pace::quick, 1, 0);
    CHECK(size.jobs() == 4);
    for (int i = 0; i < 10; ++i) size.adapt(Pace::quick, size.jobs(), 0.1);
    CHECK(size.jobs() == ahead_max);
    size.adapt(Pace::slow, 5, 12);
    CHECK(size.jobs() == 4);
    size.adapt(Pace::slow, 1, 12);
    CHECK(size.jobs() == 1);
    size.adapt(Pace::slow, 0, 12);
    CHECK(size.jobs() == 1);
}

TEST_CASE("queue claim size: quick claims grow to what ends within ahead_ms") {
    using Pace = ClaimSize::Pace;
    ClaimSize size;
    size.adapt(Pace::quick, 1, 4);
    CHECK(size.jobs() == 2);
    size.adapt(Pace::quick, 2, 9);
    CHECK(size.jobs() == 2);
    size.adapt(Pace::quick, 2, 1);
    CHECK(size.jobs() == 8);
    size.adapt(Pace::quick, 8, 5);
    CHECK(size.jobs() == 16);
    size.adapt(Pace::quick, 1, 9.5);
    CHECK(size.jobs() == 1);
}

TEST_CASE(
    "queue claim size: an interrupted claim takes twice what was begun, and no more than before") {
    using Pace = ClaimSize::Pace;
    ClaimSize size;
    size.adapt(Pace::quick, 1, 0);
    size.adapt(Pace::quick, 4, 0);
    size.adapt(Pace::interrupted, 3, 5);
    CHECK(size.jobs() == 6);
    size.adapt(Pace::interrupted, 5, 5);
    CHECK(size.jobs() == 6);
    size.adapt(Pace::overtaken, 2, 5);
    CHECK(size.jobs() == 2);
}

TEST_CASE(
    "queue claim size: rows are read by how many jobs and bytes the rows of the last claim had") {
    using Pace = ClaimSize::Pace;
    ClaimSize size;
    for (int i = 0; i < 10; ++i) size.adapt(Pace::quick, 1, 0);
    CHECK(size.rows() == ahead_max);
    Claim claim;
    claim.jobs = jobs_of_sizes({1, 1, 1, 1});
    claim.rows.resize(2);
    size.learn(claim);
    CHECK(size.rows() == ahead_max / 2);
    claim.jobs = jobs_of_sizes({1'000'000, 1'000'000});
    size.learn(claim);
    CHECK(size.rows() == 2);
    claim.jobs = jobs_of_sizes({3'000'000, 3'000'000});
    size.learn(claim);
    CHECK(size.rows() == 1);
    claim.rows.clear();
    size.learn(claim);  // no row teaches nothing
    CHECK(size.rows() == 1);
}

TEST_CASE("queue unsettled jobs: on a full disk the job that writes least is settled first") {
    const auto jobs = jobs_of_sizes({0, 50, 0});
    UnsettledJobs unsettled;
    unsettled.finished = {{0, outcome_of(JobOutcome::Kind::done, std::string(30, 'r'))},
                          {1, outcome_of(JobOutcome::Kind::failed, "e")},
                          {2, outcome_of(JobOutcome::Kind::done, "r")}};
    CHECK(unsettled.narrow(jobs));
    CHECK(places_of(unsettled.finished) == Places{2});
    CHECK(places_of(unsettled.postponed) == Places{0, 1});
    unsettled.finished.clear();
    unsettled.settle_next();
    CHECK(places_of(unsettled.finished) == Places{0});
    unsettled.gather();
    CHECK(places_of(unsettled.finished) == Places{0, 1});
    CHECK(unsettled.postponed.empty());
}

TEST_CASE(
    "queue unsettled jobs: a result that does not fit alone is a failure, which is tried again") {
    const auto jobs = jobs_of_sizes({0});
    UnsettledJobs unsettled;
    unsettled.finished = {{0, outcome_of(JobOutcome::Kind::done, "r")}};
    CHECK(unsettled.narrow(jobs));
    REQUIRE(unsettled.finished.size() == 1);
    CHECK(unsettled.finished.front().outcome.kind == JobOutcome::Kind::failed);
    CHECK(unsettled.finished.front().outcome.value.text.ends_with(R"("code":"quota-exceeded"})"));
    CHECK_FALSE(unsettled.narrow(jobs));  // and nothing else is left that may fit
    CHECK(places_of(unsettled.postponed) == Places{0});
}

TEST_CASE(
    "queue unsettled jobs: each failure is tried once, and again when another job was settled") {
    const auto jobs = jobs_of_sizes({1, 2, 3});
    UnsettledJobs unsettled;
    for (std::size_t at = 0; at < jobs.size(); ++at) {
        unsettled.finished.push_back({at, outcome_of(JobOutcome::Kind::failed, "e")});
    }
    CHECK(unsettled.narrow(jobs));
    CHECK(places_of(unsettled.finished) == Places{0});
    CHECK(unsettled.narrow(jobs));
    CHECK(places_of(unsettled.finished) == Places{1});
    unsettled.finished.clear();  // settled
    unsettled.forget_unfit();
    unsettled.settle_next();
    CHECK(places_of(unsettled.finished) == Places{2});
    CHECK(unsettled.narrow(jobs));
    CHECK(places_of(unsettled.finished) == Places{0});
    CHECK_FALSE(unsettled.narrow(jobs));
    CHECK(places_of(unsettled.postponed) == Places{2, 0});
}

TEST_CASE("queue unsettled jobs: a refused job fails with the reason") {
    UnsettledJobs unsettled;
    unsettled.finished = {{0, outcome_of(JobOutcome::Kind::done, "r")},
                          {1, outcome_of(JobOutcome::Kind::done, "r")}};
    unsettled.refuse(1, ErrorCode::queue_full, "the queue is full");
    CHECK(unsettled.finished[0].outcome.kind == JobOutcome::Kind::done);
    CHECK(unsettled.finished[1].outcome.kind == JobOutcome::Kind::failed);
    CHECK(unsettled.finished[1].outcome.value.text ==
          R"({"name":"TabacusError","message":"the queue is full","code":"queue-full"})");
}

TEST_CASE("queue runs: a run ends once, with the first outcome or the loss of its claim") {
    Application application;
    const auto callbacks = application.callbacks();
    JobRuns runs(callbacks);
    const auto first = runs.begin(job_of_id("a"));
    const auto second = runs.begin(job_of_id("b"));
    CHECK(application.begun == Texts{"1 a", "2 b"});
    runs.finish(1, outcome_of(JobOutcome::Kind::done, "r"));
    runs.finish(1, outcome_of(JobOutcome::Kind::failed, "e"));
    runs.lose(*first, "stolen");
    CHECK(first->ended);
    CHECK_FALSE(first->lost);
    CHECK(first->outcome.value.text == "r");
    runs.lose(*second, "stolen");
    runs.lose(*second, "frozen");
    runs.finish(2, outcome_of(JobOutcome::Kind::done, "r"));
    CHECK(second->lost);
    CHECK(second->outcome.value.text.empty());
    CHECK(application.lost == Texts{"2 stolen"});
}

TEST_CASE("queue runs: each change of a run wakes its worker, also one that it has slept through") {
    Application application;
    const auto callbacks = application.callbacks();
    JobRuns runs(callbacks);
    const auto run = runs.begin(job_of_id("a"));
    const auto slept = run->wake_signal;
    runs.wake_all();
    CHECK(slept.completed());
    const auto next = run->wake_signal;
    CHECK_FALSE(next.completed());
    runs.finish(run->number, {});
    CHECK(next.completed());
    runs.end(run);
    CHECK(runs.empty());
    CHECK(runs.find(run->number) == nullptr);
}

TEST_CASE(
    "queue runs: a cancelled job is reported to its run alone, and all jobs if none is named") {
    Application application;
    const auto callbacks = application.callbacks();
    JobRuns runs(callbacks);
    const auto ended = runs.begin(job_of_id("a"));
    runs.begin(job_of_id("b"));
    runs.begin(job_of_id("c"));
    runs.finish(ended->number, {});
    runs.report_cancelled({"x", "b", "", "c", "", ""});  // "b" is the key of another job here
    CHECK(application.lost == Texts{"3 cancelled"});
    runs.report_cancelled({});
    CHECK(application.lost == Texts{"3 cancelled", "2 cancelled", "3 cancelled"});
    runs.lose_all("closed");
    CHECK(application.lost.size() == 5);
}

TEST_CASE("queue idle waiters: a wait ends when the queue is empty and nothing runs here") {
    Application application;
    const auto callbacks = application.callbacks();
    JobRuns runs(callbacks);
    QueueStatus status;
    IdleWaiters idle(status, runs);
    const Completer<Unit> caller;
    idle.add(caller);
    status.learn(1, 1);
    idle.settle();
    CHECK_FALSE(caller.completed());
    const auto run = runs.begin(job_of_id("a"));
    status.learn(2, 0);
    idle.settle();
    CHECK_FALSE(caller.completed());
    runs.end(run);
    idle.settle();
    CHECK(caller.completed());
    CHECK(idle.empty());
}

}  // namespace tabacus::test
