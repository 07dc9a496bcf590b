// Tasks of one thread that use a semaphore or a barrier of shared memory at the same time, under
// every interleaving of their atomic operations with those of other threads.
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <string>

#include "lab/threads/model.hpp"
#include "proved_threads.hpp"
#include "tabacus/sync/barrier.hpp"
#include "tabacus/sync/counting_semaphore.hpp"

namespace tabacus::test::tasks {
namespace {

using lab::ModelParker;
using lab::Program;
using lab::threads_program;
using lab::ThreadsWorkload;
using sync::Acquired;

constexpr std::uint32_t task_records = 5;

/// Thread 0 has two tasks, each of which requests a permit before either knows the outcome. The one
/// permit goes to both, and to the other threads.
class TasksAcquiring final : public ThreadsWorkload {
  public:
    TasksAcquiring() { semaphore_.begin(1); }
    void run(std::uint32_t index) override {
        if (index != 0) {
            semaphore_.acquire(index + 1);
            semaphore_.release(index + 1);
            return;
        }
        auto* first = semaphore_.request(1);
        auto* second = semaphore_.request(1);
        finish(*first);
        finish(*second);
    }
    std::string judge() override {
        if (failed_) return "a task has got no permit";
        return semaphore_.available() == 1 ? "" : "a permit was lost or invented";
    }

  private:
    struct Semaphore : sync::BasicSemaphore<ModelParker, task_records> {
        using BasicSemaphore::await;
    };
    void finish(sync::Record<ModelParker>& record) {
        auto clock = [] { return std::int64_t{0}; };
        semaphore_.await(record, sync::forever_ns, clock);
        failed_ |= semaphore_.settle(1, record, sync::GiveUp::at_once) != Acquired::acquired;
        semaphore_.release(1);
    }

    Semaphore semaphore_;
    bool failed_ = false;
};

/// Thread 0 has two tasks. One takes its arrival back, and the other one arrives before the first
/// one knows the outcome. The arrival of the second one stays.
class TasksMeeting final : public ThreadsWorkload {
  public:
    TasksMeeting() { barrier_.begin(2); }
    void run(std::uint32_t index) override {
        if (index != 0) {
            barrier_.arrive_and_wait(index + 1);
            return;
        }
        auto* first = barrier_.arrive(1);
        take_back(*first);
        auto* second = barrier_.arrive(1);
        if (Barrier::leave(*first)) {
            take_back(*second);
            failed_ = Barrier::leave(*second);
            return;
        }
        const std::uint32_t phase = second->ticket.load();
        while (barrier_.waiting(*second))
            ModelParker::park(barrier_.phase(), phase, sync::forever_ns);
        failed_ = !Barrier::leave(*second);
    }
    std::string judge() override {
        return failed_ ? "a task was notified of another's arrival" : "";
    }

  private:
    struct Barrier : sync::BasicBarrier<ModelParker, task_records> {
        using BasicBarrier::await;
    };
    void take_back(sync::Record<ModelParker>& record) {
        auto clock = [] { return std::int64_t{0}; };
        barrier_.take_back(1, record);
        barrier_.await(record, sync::forever_ns, clock);
    }

    Barrier barrier_;
    bool failed_ = false;
};

template <class Workload>
Program with_tasks(std::uint32_t threads) {
    return threads_program(threads, [] { return std::make_unique<Workload>(); });
}

}  // namespace

TEST_CASE("shared locks: each task of a thread gets the outcome of its own request", "[threads]") {
    check_all_pass(with_tasks<TasksAcquiring>(1));
    check_all_pass(with_tasks<TasksAcquiring>(2), {.preemptions = 2});
    check_all_pass(with_tasks<TasksAcquiring>(3), {.preemptions = 0});
    check_all_pass(with_tasks<TasksMeeting>(2), {.preemptions = 3});
}

}  // namespace tabacus::test::tasks
