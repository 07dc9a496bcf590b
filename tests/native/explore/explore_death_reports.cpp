// Threads that report the death of another thread at once, and may die while they do so, under every
// interleaving of their atomic operations.
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "mortal_locks.hpp"
#include "tabacus/sync/rw_lock.hpp"

namespace tabacus::test {
namespace {

/// A writer has died inside a reader-writer lock. Each thread reports that, and writes once. Thread 0
/// may die, in its report too.
class Reporting final : public MortalLocks {
  public:
    Reporting(std::uint32_t threads, Deaths deaths) : MortalLocks(threads, deaths) {
        lock_.lock(dead_writer, RwMode::exclusive);
    }
    std::span<std::byte> memory() override { return lab::memory_of(*this); }
    std::string after_step() override { return failure_ != nullptr ? failure_ : ""; }
    std::string judge() override {
        const Acquired last = lock_.try_lock(9, RwMode::exclusive);
        if (last == Acquired::busy) return "the lock stays held";
        const std::uint32_t reports = news_ + (last == Acquired::owner_died ? 1 : 0);
        if (reports == 0) return "a death was not reported";
        return reports > (died() ? 2 : 1) ? "a death was reported to two writers" : "";
    }

  protected:
    void work(std::uint32_t index) override {
        lock_.owner_died(dead_writer, index + 1);
        lock_.lock(index + 1, RwMode::exclusive);
        if (lock_.mark_consistent(index + 1)) ++news_;
        if (inside_.fetch_add(1) != 0) failure_ = "two writers were inside at once";
        if (index == 0) counted_ = true;
        inside_.fetch_sub(1);
        if (index == 0) counted_ = false;
        lock_.unlock(index + 1, RwMode::exclusive);
    }
    void report_death() override {
        if (counted_) inside_.fetch_sub(1);
        lock_.owner_died(1, reporter);
    }

  private:
    static constexpr Owner dead_writer = 8;
    sync::BasicRwLock<ModelParker, lock_records> lock_;
    ModelAtomic<std::uint32_t> inside_{0};
    std::uint32_t news_ = 0;
    bool counted_ = false;  // whether thread 0 is counted in inside_
    const char* failure_ = nullptr;
};

Program reporting(std::uint32_t threads, Deaths deaths = Deaths::none) {
    return threads_program(threads, [=] { return std::make_unique<Reporting>(threads, deaths); });
}

}  // namespace

TEST_CASE("shared locks: two threads report one death at once, and one writer is notified",
          "[threads]") {
    check_lock_proved(reporting(2), all);
    check_lock_proved(reporting(2, Deaths::one), all);
    check_lock_proved(reporting(3), {.preemptions = 1});
}

}  // namespace tabacus::test
