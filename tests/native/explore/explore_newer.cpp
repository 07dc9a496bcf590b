// Counters and queues beside a tab of a later version, which rewrites what is stored in a format of
// its own, at any moment.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lab/explore/counting_scenario.hpp"
#include "lab/explore/scenario.hpp"
#include "lab/explore/search.hpp"
#include "protocol/common/record.hpp"
#include "queue/queue_scene.hpp"

namespace tabacus::test {
namespace {

using lab::Fault;
using lab::Faults;

using Rows = std::map<std::string, std::string>;

/// What the later version has committed.
struct Written {
    Rows rows;
    Rows claims;  // subjects, by holder
};

/// Converts a record into the form in which a later version writes it, and back.
std::string raised(std::string_view text) {
    return text.starts_with("1;") ? "2" + std::string(text.substr(1)) : std::string(text);
}
std::string lowered(std::string_view text) {
    return text.starts_with("2;") ? "1" + std::string(text.substr(1)) : std::string(text);
}

/// Whether a worker has claimed jobs, by these rows of the queue "q".
bool claimed(const std::vector<Row>& rows) {
    return std::ranges::any_of(rows, [](const Row& row) {
        const auto slot = row.key.starts_with("q/s/") ? parse_slot_row(row.value) : std::nullopt;
        return slot && !slot->entries.empty();
    });
}

/// A tab of the later version. It takes over the first slot with all rows that are there, in one
/// transaction. If `waits`, it first waits until no job is claimed, as docs/versioning.md has it.
class LaterTab {
  public:
    LaterTab(LabTab& world, Store store, Written& written, bool waits = false)
        : world_(world), store_(store), written_(written), waits_(waits) {}
    void raise() {
        // A dropped connection ends it.
        scope_.spawn([](LaterTab& self) -> Task<void> {
            for (int tries = 0; tries < 3; ++tries) {
                auto raised = co_await attempt(self.raise_all());
                if (!raised || raised.value()) co_return;
                co_await self.world_.clock().sleep(500);
            }
        }(*this));
    }

  private:
    Task<bool> raise_all() {
        const Stores scope = Stores{Store::claims} | Stores{store_};
        const auto transaction =
            co_await world_.database().begin(scope, Access::write, Durability::relaxed);
        const auto slot = subject_of_slot("0");
        const auto holder = co_await transaction->holder(slot);
        Written written;
        if (holder) {
            transaction->release(*holder);
            transaction->claim(slot, raised(*holder));
            written.claims[raised(*holder)] = slot;
        }
        const auto rows = co_await transaction->list(store_, "");
        if (waits_ && claimed(rows)) co_return false;
        for (const auto& row : rows) {
            if (!row.value.starts_with("1;")) continue;
            written.rows[row.key] = raised(row.value);
            transaction->put(store_, row.key, written.rows[row.key]);
        }
        co_await transaction->commit();
        written_ = std::move(written);
        co_return true;
    }

    LabTab& world_;
    Store store_;
    Written& written_;
    bool waits_;
    Scope scope_;
};

/// Returns what has become of the later version's records, or nothing if they are as it wrote them.
std::string changed(Origin& origin, Store store, const Written& written) {
    for (const auto& [in, records] :
         {std::pair(store, written.rows), std::pair(Store::claims, written.claims)}) {
        const auto& rows = origin.database().rows(in);
        for (const auto& [key, value] : records) {
            const auto found = rows.find(key);
            if (found == rows.end()) return "a record of the later version is gone: " + key;
            if (found->second.text != value) {
                return "a record of the later version was changed: " + key;
            }
        }
    }
    if (!origin.database().rows(Store::quarantine).empty()) return "a row was quarantined";
    return "";
}

/// What the counting tabs know. It outlives them.
struct Counted {
    std::int64_t attempted = 0;
    std::int64_t acknowledged = 0;
};

class CountingTab {
  public:
    CountingTab(LabTab& world, Counted& counted)
        : counted_(counted), host_(lab::hosts_of("replicated")(world)) {}
    void count() { scope_.spawn(live()); }
    bool done = false;

  private:
    Task<void> live() {
        co_await host_->open();
        for (int i = 0; i < 2; ++i) {
            ++counted_.attempted;
            (void)co_await host_->counter().add(1);
            // A dropped connection may leave it unknown whether the increment was committed.
            if (co_await attempt(host_->counter().flush())) ++counted_.acknowledged;
        }
        done = true;
    }
    Counted& counted_;
    std::unique_ptr<lab::CounterHost> host_;
    Scope scope_;
};

class CountingBesideLater final : public lab::Workload {
  public:
    void begin(Origin& origin) override {
        tab_ = &origin.open_tab();
        page_ = &tab_->run<CountingTab>(*tab_, counted_);
        tab_->post([page = page_] { page->count(); });
        auto& later = origin.open_tab();
        auto& stranger = later.run<LaterTab>(later, Store::rows, written_);
        later.post([&stranger] { stranger.raise(); });
    }
    std::string at_rest(Origin& origin) override {
        if (tab_->alive() && !page_->done) return "the tab never finishes";
        std::int64_t sum = 0;
        for (const auto& [key, value] : origin.database().rows(Store::rows)) {
            const auto record = parse_totals(lowered(value.text));
            if (record) sum += record->totals.plus - record->totals.minus;
        }
        if (sum < counted_.acknowledged) return "an acknowledged increment is lost";
        if (sum > counted_.attempted) return "an increment is counted twice";
        return changed(origin, Store::rows, written_);
    }

  private:
    Counted counted_;
    Written written_;
    LabTab* tab_ = nullptr;
    CountingTab* page_ = nullptr;
};

class QueueBesideLater final : public lab::Workload {
  public:
    void begin(Origin& origin) override {
        auto& tab = origin.open_tab();
        auto& page = tab.run<QueuePage>(tab, judge_, QueueOptions{},
                                        QueuePage::Work{.longest_ms = 0, .effects = 0});
        tab.post([this, &tab, &page] {
            for (const auto* const payload : {"a", "b"}) asked_.push_back(page.enqueue(payload));
            page.work();
            page.scope().spawn([](LabTab& world, QueuePage& self) -> Task<void> {
                co_await world.clock().sleep(1);
                self.enqueue("c");
                co_await world.clock().sleep(3'000);
                self.close();
            }(tab, page));
        });
        auto& later = origin.open_tab();
        auto& stranger = later.run<LaterTab>(later, Store::jobs, written_);
        later.post([&stranger] { stranger.raise(); });
    }
    std::string at_rest(Origin& origin) override {
        std::set<std::string> there;
        for (const auto& [key, value] : origin.database().rows(Store::jobs)) {
            for (const auto& job : parse_jobs(lowered(value.text))) there.insert(job.payload.text);
        }
        for (const auto& payload : judge_.accepted) {
            const bool ran = judge_.begun.contains(payload);
            if (!ran && !there.contains(payload)) return "an accepted job is gone: " + payload;
            if (ran && judge_.begun[payload] > 1) return "a job ran twice: " + payload;
        }
        return changed(origin, Store::jobs, written_);
    }

  private:
    QueueJudge judge_;
    std::vector<std::shared_ptr<QueuePage::Asked>> asked_;
    Written written_;
};

/// A tab of the later version that runs jobs after all other tabs have ended. It is this program,
/// for which the rows of the later version are converted.
class Successor {
  public:
    Successor(LabTab& world, QueueJudge& judge, QueueOptions options)
        : world_(world), judge_(judge), options_(options) {}
    void work_later() {
        scope_.spawn([](Successor& self) -> Task<void> {
            co_await self.world_.clock().sleep(10'000);
            self.work();
        }(*this));
    }

  private:
    void work() {
        auto& database = world_.origin().database();
        for (const auto& [key, value] : lab::StoreRows(database.rows(Store::jobs))) {
            database.overwrite(Store::jobs, key, lab::StoredValue{lowered(value.text)});
        }
        page_ =
            std::make_unique<QueuePage>(world_, judge_, options_, QueuePage::Work{.longest_ms = 0});
        page_->work();
    }

    LabTab& world_;
    QueueJudge& judge_;
    QueueOptions options_;
    std::unique_ptr<QueuePage> page_;
    Scope scope_;
};

/// The later version changes a queue while a worker runs its jobs, or waits until it has ended.
class QueueTakenOver final : public lab::Workload {
  public:
    explicit QueueTakenOver(bool waits) : waits_(waits) {}
    void begin(Origin& origin) override {
        tab_ = &origin.open_tab();
        auto& page =
            tab_->run<QueuePage>(*tab_, judge_, QueueOptions{}, QueuePage::Work{.longest_ms = 0});
        tab_->post([this, &page] {
            asked_ = {page.enqueue("a"), page.enqueue(JobSpec{.payload = {"b"}, .key = "k"})};
            page.work();
            page.scope().spawn([](QueueTakenOver& self, QueuePage& of) -> Task<void> {
                co_await self.tab_->clock().sleep(3'000);
                self.closed_at_work_ = !self.tab_->origin().locks().snapshot().held.empty();
                of.close();
            }(*this, page));
        });
        auto& later = origin.open_tab();
        auto& stranger = later.run<LaterTab>(later, Store::jobs, written_, waits_);
        later.post([&stranger] { stranger.raise(); });
        next_ = &origin.open_tab();
        auto& successor = next_->run<Successor>(*next_, judge_, QueueOptions{});
        next_->post([&successor] { successor.work_later(); });
    }
    std::string at_rest(Origin& origin) override {
        std::map<std::string, int> effects;
        bool settles = next_->alive();  // whether the successor could read all rows
        for (const auto& [key, value] : origin.database().rows(Store::jobs)) {
            if (lowered(value.text) != value.text) settles = false;
            if (!key.starts_with("q/r/effect/")) continue;
            for (const auto& job : parse_jobs(lowered(value.text))) ++effects[job.payload.text];
        }
        for (const auto& payload : judge_.accepted) {
            // A job whose worker is lost begins once more.
            const bool lost = closed_at_work_ || !tab_->alive();
            if (judge_.begun[payload] > (lost ? 2 : 1)) return "a job ran again: " + payload;
            if (effects[payload] > 1) return "a job was settled twice: " + payload;
            if (effects[payload] == 0 && settles) return "a job is not settled: " + payload;
        }
        const bool keyed = !settles || keys_lead_to_jobs(origin);
        return keyed ? "" : "the row of a key does not name its job";
    }

  private:
    bool waits_;
    bool closed_at_work_ = false;
    QueueJudge judge_;
    std::vector<std::shared_ptr<QueuePage::Asked>> asked_;
    Written written_;
    LabTab* tab_ = nullptr;
    LabTab* next_ = nullptr;
};

template <typename Workload, typename... Arguments>
std::string failure_of(const Faults& faults, std::uint32_t preemptions, Arguments... arguments) {
    const auto workload = [=] { return std::make_unique<Workload>(arguments...); };
    lab::Search search(lab::program_of({.origin = {1, StorageModel::cached},
                                        .faults = faults,
                                        .faults_max = faults.empty() ? 0U : 1U,
                                        .workload = workload}),
                       {.preemptions = preemptions});
    search.explore(5'000'000);
    UNSCOPED_INFO("schedules " << search.counts().schedules << " cut " << search.counts().cut
                               << " diverged " << search.diverged());
    CHECK(search.counts().schedules > 1);
    if (search.failed_run()) return search.failed_run()->failure;
    CHECK(search.exhausted());
    return "";
}

template <typename Workload, typename... Arguments>
void check(const Faults& faults, std::uint32_t preemptions, Arguments... arguments) {
    INFO("faults " << faults.bits() << " preemptions " << preemptions);
    CHECK(failure_of<Workload>(faults, preemptions, arguments...) == "");
}

}  // namespace

TEST_CASE("beside a later version: a counter leaves its rows alone, and loses no increment") {
    check<CountingBesideLater>({}, 2);
    check<CountingBesideLater>({Fault::kill}, 1);
    check<CountingBesideLater>({Fault::close_connection}, 1);
}

TEST_CASE("beside a later version: a queue leaves its rows alone, and loses no job") {
    check<QueueBesideLater>({}, 2);
    check<QueueBesideLater>({Fault::kill}, 1);
}

TEST_CASE("beside a later version: no job runs again if that version waits for claimed jobs") {
    check<QueueTakenOver>({}, 2, true);
    check<QueueTakenOver>({Fault::kill}, 1, true);
    check<QueueTakenOver>({Fault::close_connection}, 1, true);
    CHECK(failure_of<QueueTakenOver>({}, 1, false).starts_with("a job ran again"));
}

}  // namespace tabacus::test
