// Counters over tabs to which threads add. The first part explores the cells in shared memory,
// under every interleaving, with a thread that is terminated at every step. The second part
// explores the tabs that gather from the cells, under every schedule up to a bound, with a tab that
// dies at every step.
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lab/explore/scenario.hpp"
#include "lab/explore/search.hpp"
#include "lab/lab_tab.hpp"
#include "lab/threads/model.hpp"
#include "seeds.hpp"
#include "tabacus/replica/gatherer.hpp"
#include "tabacus/replica/tab.hpp"
#include "tabacus/sync/tab_cells.hpp"

namespace tabacus::test::tab_cells {
namespace {

using lab::Bound;
using lab::ModelAtomic;
using lab::ModelParker;
using lab::Search;
using lab::threads_program;
using lab::ThreadsWorkload;

/// Ends a modelled thread as if its Worker was terminated.
struct Terminated {};

/// The operation of thread 0 before which it is terminated, counted from 1; 0 for none.
std::uint32_t dies_at = 0;

/// Counts the operations of thread 0, and terminates it before the chosen one.
void survive() {
    if (dies_at == 0 || lab::model::current_thread() != 0) return;
    if (--dies_at == 0) throw Terminated();
}

template <class T>
class MortalAtomic : public ModelAtomic<T> {
  public:
    using ModelAtomic<T>::ModelAtomic;
    T load() const {
        survive();
        return ModelAtomic<T>::load();
    }
    void store(T value) {
        survive();
        ModelAtomic<T>::store(value);
    }
    T fetch_add(T value) {
        survive();
        return ModelAtomic<T>::fetch_add(value);
    }
};

struct MortalParker : ModelParker {
    template <class T>
    using Atomic = MortalAtomic<T>;
    static void unpark_all(Word& word) {
        survive();
        ModelParker::unpark_all(word);
    }
};

using Cells = sync::BasicTabCells<MortalParker, 2>;
using Bell = Cells::Bell;

/// Thread 0 adds `adds` times 1, thread 1 as often 100, and thread 2 is the page. Each of the two
/// then waits until the page has counted its adds, so that a bell that is not rung hangs all.
class Gathering final : public ThreadsWorkload {
  public:
    Gathering(std::int64_t adds, std::uint32_t dies_before) : adds_(adds), dies_(dies_before) {
        dies_at = dies_before;
    }

    void run(std::uint32_t index) override {
        if (index == 2) return serve();
        try {
            add(index == 0 ? 1 : 100);
        } catch (const Terminated&) {
            died_ = true;
        }
        if (index == 0) dies_at = 0;
        // A thread that was terminated rings no bell, unless only the page is left, which must end.
        const bool last = ended_.fetch_add(1) == 1;
        if (last || index == 1 || !died_) bell_.ring();
    }

    std::string judge() override {
        if (dies_ == 0 && counted_.peek() != adds_ * 101) return "an add is not counted once";
        if (died_ && counted_.peek() / 100 != adds_)
            return "an add of the thread that lives is lost";
        if (counted_.peek() % 100 < returned_) return "an add that returned is lost";
        if (counted_.peek() % 100 > begun_) return "an add is counted twice";
        return wrong_;
    }

  private:
    void add(std::int64_t n) {
        const auto cell = cells_.join();
        for (std::int64_t i = 1; i <= adds_; ++i) {
            if (n == 1) begun_ = i;
            cells_.add(n, cell, bell_);
            if (n == 1) returned_ = i;
            check(cells_.value(), i, n);
        }
        // The page of this test wakes the threads that wait for a gather. A real page need not,
        // because no thread waits for one.
        for (;;) {
            const auto gathered = gathered_.load();
            const auto counted = counted_.load();
            if (n == 1 ? counted % 100 >= adds_ : counted / 100 >= adds_) return;
            ModelParker::park(gathered_, gathered, sync::forever_ns);
        }
    }

    /// Checks a value that a thread reads after its `i`th add of `n`.
    void check(std::int64_t value, std::int64_t i, std::int64_t n) {
        const auto own = n == 1 ? value % 100 : value / 100;
        const auto other = n == 1 ? value / 100 : value % 100;
        if (own != i || other > adds_) wrong_ = "a thread read " + std::to_string(value);
    }

    void serve() {
        std::int64_t total = 0;
        for (;;) {
            const auto rings = bell_.rings();
            if (ended_.load() == 2) break;
            total += gather(total);
            counted_.store(total);
            gathered_.fetch_add(1);
            ModelParker::unpark_all(gathered_);
            bell_.wait(rings);
        }
        counted_.store(total + gather(total));  // as before the last commit
    }

    std::int64_t gather(std::int64_t total) {
        const auto n = cells_.begin_gather();
        cells_.take(n);
        cells_.publish(total + n);
        return n;
    }

    const std::int64_t adds_;
    const std::uint32_t dies_;
    Cells cells_;
    Bell bell_;
    ModelAtomic<std::uint32_t> ended_{0};
    ModelAtomic<std::uint32_t> gathered_{0};
    ModelAtomic<std::int64_t> counted_{0};
    std::int64_t begun_ = 0;
    std::int64_t returned_ = 0;
    bool died_ = false;
    std::string wrong_;
};

void check_cells(std::int64_t adds, std::uint32_t dies_before, std::uint32_t preemptions) {
    if (sanitized) preemptions /= 2;
    Search search(
        threads_program(3, [=] { return std::make_unique<Gathering>(adds, dies_before); }),
        Bound{.preemptions = preemptions});
    search.explore(5'000'000);
    CAPTURE(adds, dies_before, search.counts().schedules, search.counts().steps);
    CHECK((search.failed_run() ? search.failed_run()->failure : "") == "");
    CHECK(search.exhausted());
    CHECK(search.counts().schedules > 1);
}

// The tabs.

using lab::Fault;
using lab::Faults;
using lab::LabTab;
using lab::Object;
using lab::Origin;
using lab::Scenario;

/// The cells of one counter in the memory of one page, which dies with the page.
class ModelCells final : public SharedCells {
  public:
    void add(std::int64_t n) { sum_ += n; }
    [[nodiscard]] std::int64_t value() const { return base_ + sum_; }

    std::int64_t gather() override { return sum_ - taken_; }
    void take(std::int64_t n) override { taken_ += n; }
    void publish(std::int64_t value) override { base_ = value - taken_; }

  private:
    std::int64_t sum_ = 0;
    std::int64_t taken_ = 0;
    std::int64_t base_ = 0;
};

struct Sums {
    std::int64_t attempted = 0;
    std::int64_t flushed = 0;
};

/// A page with two threads. A thread adds, and asks the page to flush.
class ThreadsPage {
  public:
    ThreadsPage(LabTab& world, Sums& sums) : sums_(sums), tab_(world, "t", [](const Notice&) {}) {}

    void begin(int adds) {
        scope_.spawn([](ThreadsPage& self, int times) -> Task<void> {
            co_await self.tab_.open();
            self.counter_ = &self.tab_.replicated("c", Durability::relaxed);
            self.gatherer_ = std::make_unique<Gatherer>(*self.counter_, self.cells_);
            for (int thread = 0; thread < 2; ++thread) self.scope_.spawn(self.live(times));
        }(*this, adds));
    }
    void read() {
        scope_.spawn([](ThreadsPage& self) -> Task<void> {
            co_await self.tab_.open();
            self.last = co_await self.tab_.replicated("c", Durability::relaxed).read();
        }(*this));
    }

    int ended = 0;
    int failed = 0;
    std::int64_t last = -1;

  private:
    Task<void> live(int adds) {
        for (int i = 0; i < adds; ++i) {
            ++sums_.attempted;
            ++pending_;
            cells_.add(1);
            gatherer_->gather();
            cells_.add(1);  // this one is gathered by the flush, or before the page sleeps
            ++sums_.attempted;
            ++pending_;
            const auto asked = std::exchange(pending_, 0);
            if (co_await attempt(gatherer_->flush())) {
                sums_.flushed += asked;
            } else {
                ++failed;
            }
        }
        ++ended;
    }

    Sums& sums_;
    std::int64_t pending_ = 0;
    ModelCells cells_;
    Tab tab_;
    ReplicatedCounter* counter_ = nullptr;
    std::unique_ptr<Gatherer> gatherer_;
    Scope scope_;  // last, because its tasks use all of the above
};

class ThreadsOfTabs final : public lab::Workload {
  public:
    explicit ThreadsOfTabs(int adds) : adds_(adds) {}

    void begin(Origin& origin) override {
        for (int i = 0; i < 2; ++i) {
            auto& tab = origin.open_tab();
            auto& page = tab.run<ThreadsPage>(tab, sums_);
            pages_.push_back({&tab, &page});
            tab.post([&page, adds = adds_] { page.begin(adds); });
        }
    }

    std::string at_rest(Origin& origin) override {
        bool exact = true;
        for (const auto& [tab, page] : pages_) {
            exact = exact && tab->alive() && page->failed == 0;
            if (tab->alive() && page->ended != 2) return "a thread's flush never ends";
        }
        auto& reader = origin.open_tab();
        auto& page = reader.run<ThreadsPage>(reader, sums_);
        page.read();
        origin.run_until([&] { return page.last >= 0; });
        const auto least = exact ? sums_.attempted : sums_.flushed;
        if (page.last >= least && page.last <= sums_.attempted) return {};
        return "of " + std::to_string(sums_.attempted) + " adds, " + std::to_string(sums_.flushed) +
               " of them flushed, " + std::to_string(page.last) + " are counted";
    }

  private:
    int adds_;
    Sums sums_;
    std::vector<std::pair<LabTab*, ThreadsPage*>> pages_;
};

void check_tabs(int adds, Faults faults, std::uint32_t preemptions) {
    if (sanitized) preemptions /= 2;
    Search search(
        program_of(Scenario{.origin = {.seed = 1, .storage = lab::StorageModel::cached},
                            .faults = faults,
                            .faults_max = faults.empty() ? 0U : 1U,
                            .workload = [adds] { return std::make_unique<ThreadsOfTabs>(adds); }}),
        Bound{.preemptions = preemptions});
    search.explore(3'000'000);
    CAPTURE(adds, faults.bits(), search.counts().schedules, search.counts().steps);
    CHECK((search.failed_run() ? search.failed_run()->failure : "") == "");
    CHECK(search.exhausted());
    CHECK(search.counts().schedules > 1);
}

}  // namespace

TEST_CASE("explorer: every add of two threads is gathered once, and without another add",
          "[explorer]") {
    check_cells(1, 0, 2);
    check_cells(2, 0, 1);
}

TEST_CASE("explorer: every add of two threads is gathered once, with more preemptions",
          "[.][long]") {
    check_cells(1, 0, 3);
    check_cells(2, 0, 2);
}

TEST_CASE("explorer: a thread terminated at any step of an add loses none that returned",
          "[explorer]") {
    // Two adds and two reads of the value take 25 steps.
    for (std::uint32_t step = 1; step <= 26; step += sanitized ? 5 : 1) check_cells(2, step, 1);
}

TEST_CASE("explorer: what threads of two tabs add is counted once, and all of it once flushed",
          "[explorer]") {
    check_tabs(1, {}, 2);
    if (!sanitized) check_tabs(2, {}, 1);
    check_tabs(1, {Fault::kill}, 1);
    check_tabs(2, {Fault::kill}, 0);
    check_tabs(1, {Fault::bfcache, Fault::freeze, Fault::close_connection, Fault::quota}, 0);
}

}  // namespace tabacus::test::tab_cells
