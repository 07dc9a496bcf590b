// Fault positions, as in SQLite's own tests. Every durable operation is run again and again, and
// its first, its second, … its n-th store call fails, until it ends before any call fails. The call
// fails once, or all later calls fail as well, or one later call does. Afterwards the value is the
// one from before or from after the operation, an acknowledged value is stored, and no lock is
// left.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <optional>
#include <string>

#include "lab/explore/counting_scenario.hpp"

namespace tabacus::lab::test {
namespace {

enum class Step : std::uint8_t { open, add, close };

/// The page of one tab, which does its steps one by one: it opens, adds and flushes, reads or
/// closes.
class Life {
  public:
    Life(LabTab& world, const MakeHost& make) : host_(make(world)) {}

    void open() { run(host_->open()); }
    void add(std::int64_t n) { run(add_and_flush(n)); }
    void close() { run(host_->close()); }
    void read() { run(read_value()); }

    int running = 0;
    bool failed = false;
    std::int64_t value = 0;

  private:
    void run(Task<void> task) {
        ++running;
        failed = false;
        run_in(
            scope_, std::move(task), [this] { --running; },
            [this](const std::exception_ptr&) {
                failed = true;
                --running;
            });
    }
    Task<void> add_and_flush(std::int64_t n) {
        co_await host_->counter().add(n);
        co_await host_->counter().flush();
    }
    Task<void> read_value() { value = co_await host_->counter().read(); }

    std::unique_ptr<CounterHost> host_;
    Scope scope_;
};

constexpr std::int64_t value_before = 5;
constexpr std::int64_t added = 2;

/// An origin in which a counter has `value_before`, then a step runs under faults, and then other
/// tabs read.
class History {
  public:
    explicit History(std::string_view strategy, Durability durability)
        : make_(hosts_of(strategy, durability)), origin_({7, StorageModel::cached}) {
        make_life();
        wait([this] { life_->open(); });
        wait([this] { life_->add(value_before); });
        origin_.run();
    }
    [[nodiscard]] MemoryDatabase& database() { return origin_.database(); }

    /// Runs the step. Returns false if it does not end while the store fails.
    bool attempt(Step step) {
        if (step == Step::open) {
            origin_.kill(*tab_);
            origin_.run();
            make_life();
        }
        switch (step) {
            case Step::open:
                life_->open();
                break;
            case Step::add:
                life_->add(added);
                break;
            case Step::close:
                // An increment is left to commit.
                life_->add(added);
                life_->close();
                break;
        }
        for (int steps = 0; life_->running > 0 && steps < 2'000; ++steps) {
            if (!origin_.step()) break;
        }
        return life_->running == 0;
    }
    [[nodiscard]] bool failed() const { return life_->failed; }

    void settle() {
        database().stop_failing_operations();
        origin_.run();
    }
    [[nodiscard]] bool at_rest() const { return life_->running == 0; }

    std::int64_t read_by_another() {
        make_life();
        wait([this] { life_->open(); });
        wait([this] { life_->read(); });
        wait([this] { life_->close(); });
        origin_.run();
        return life_->value;
    }
    void end_first() {
        origin_.kill(*first_tab_);
        origin_.run();
    }
    [[nodiscard]] bool locks_left() {
        const auto snapshot = origin_.locks().snapshot();
        return !snapshot.held.empty() || !snapshot.pending.empty();
    }

  private:
    void make_life() {
        tab_ = &origin_.open_tab();
        if (first_tab_ == nullptr || !first_tab_->alive()) first_tab_ = tab_;
        life_ = &tab_->run<Life>(*tab_, make_);
    }
    template <typename Body>
    void wait(Body body) {
        body();
        origin_.run_until([this] { return life_->running == 0; });
    }

    MakeHost make_;
    Origin origin_;
    LabTab* tab_ = nullptr;
    LabTab* first_tab_ = nullptr;
    Life* life_ = nullptr;
};

/// Which calls fail: the n-th alone, all from it on, or one later call as well.
struct Positions {
    std::uint64_t nth = 0;
    bool for_ever = false;
    std::uint64_t then = 0;  // how many calls later the second one fails; 0: none does
};

/// Runs the step with these faults and checks its end. Returns false if the step ended before a
/// call failed, so that there are no more positions.
bool try_positions(std::string_view strategy, Durability durability, Step step,
                   const Positions& positions) {
    History history(strategy, durability);
    if (positions.then > 0) {
        history.database().fail_two_operations(positions.nth, positions.then);
    } else {
        history.database().fail_operation(positions.nth, positions.for_ever);
    }
    const bool ended = history.attempt(step);
    const bool acknowledged = ended && !history.failed();
    const bool reached = history.database().failed_operations();
    history.settle();
    CHECK(history.at_rest());
    if (step == Step::close) CHECK_FALSE(history.locks_left());
    history.end_first();
    CHECK_FALSE(history.locks_left());
    const auto value = history.read_by_another();
    const auto after = value_before + (step == Step::open ? 0 : added);
    CHECK((value == value_before || value == after));
    if (acknowledged && step == Step::add) CHECK(value == after);
    CHECK_FALSE(history.locks_left());
    return reached;
}

std::uint64_t try_all(std::string_view strategy, Durability durability, Step step) {
    std::uint64_t tried = 0;
    for (const bool for_ever : {false, true}) {
        for (std::uint64_t nth = 1;; ++nth) {
            CAPTURE(nth, for_ever);
            ++tried;
            if (!try_positions(strategy, durability, step, {nth, for_ever})) break;
        }
    }
    constexpr std::uint64_t pairs_max = 40;
    for (std::uint64_t nth = 1; nth <= pairs_max; ++nth) {
        bool any = false;
        for (std::uint64_t then = 1; then <= pairs_max; ++then) {
            CAPTURE(nth, then);
            ++tried;
            any = try_positions(strategy, durability, step, {nth, false, then});
            if (!any) break;
        }
        if (!any) break;
    }
    return tried;
}

}  // namespace

TEST_CASE("whichever store call fails, the value is the one before or the one after",
          "[positions]") {
    for (const auto strategy : {"transactional", "replicated"}) {
        for (const auto durability : {Durability::relaxed, Durability::strict}) {
            for (const auto step : {Step::open, Step::add, Step::close}) {
                CAPTURE(strategy, static_cast<int>(durability), static_cast<int>(step));
                CHECK(try_all(strategy, durability, step) >= 3);
            }
        }
    }
}

}  // namespace tabacus::lab::test
