// What the explorations of shared memory's reader-writer lock, semaphore and barrier have in common.
#pragma once

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>

#include "lab/explore/search.hpp"
#include "lab/threads/model.hpp"
#include "proved_threads.hpp"
#include "seeds.hpp"
#include "tabacus/sync/combiner.hpp"
#include "tabacus/sync/rw_lock.hpp"

namespace tabacus::test {

using lab::ModelAtomic;
using lab::ModelParker;
using lab::Program;
using lab::threads_program;
using sync::Acquired;
using sync::Owner;
using sync::RwMode;

inline constexpr std::uint32_t lock_records = 5;
inline constexpr sync::Owner reporter = 7;

/// Every interleaving: a schedule is given up only in a state that was reached before.
inline constexpr lab::Bound all = {.visited = true};

/// Explores only the first schedules if a sanitizer checks the program: threads then have no state
/// by which schedules could be given up.
inline void check_lock_proved(const lab::Program& program, lab::Bound bound) {
    if (sanitized) {
        lab::Search search(program, {.preemptions = 0});
        search.explore(5'000);
        CHECK((search.failed_run() ? search.failed_run()->failure : "") == "");
        return;
    }
    check_all_pass(program, bound);
}

/// Whether thread 0 may die at any step of a run.
enum class Deaths : bool { none, one };

/// A workload in which thread 0 may die.
class MortalLocks : public lab::ThreadsWorkload {
  public:
    MortalLocks(std::size_t threads, Deaths deaths)
        : threads_(static_cast<std::uint32_t>(threads)), deaths_(deaths) {}
    bool mortal(std::uint32_t index) final { return index == 0 && deaths_ == Deaths::one; }
    void run(std::uint32_t index) final {
        if (index < threads_) return work(index);
        died_ = true;
        report_death();
    }

  protected:
    virtual void work(std::uint32_t index) = 0;
    virtual void report_death() = 0;
    [[nodiscard]] bool died() const { return died_; }
    [[nodiscard]] std::uint32_t threads() const { return threads_; }

  private:
    const std::uint32_t threads_;
    const Deaths deaths_;
    bool died_ = false;
};

}  // namespace tabacus::test
