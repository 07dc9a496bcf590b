// The parts of a queue that need their tab: WorkSignal, WorkerSlots, AwaitedOutcomes, JobIntake and
// ClaimSettlement.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <utility>
#include <vector>

#include "map_transaction.hpp"
#include "protocol/queue/job_intake.hpp"
#include "protocol/queue/outcomes/awaited_outcomes.hpp"
#include "protocol/queue/work/claim_settlement.hpp"
#include "protocol/queue/work/work_signal.hpp"
#include "protocol/queue/work/worker_slots.hpp"
#include "queue_scene.hpp"

namespace tabacus::test {
namespace {

/// A tab that has opened the queue "q", without any of the queue's parts.
struct QueueTab {
    QueueTab(World& world, QueueOptions options)
        : locks(world, "test", [](const Notice& /*notice*/) {}),
          context{world, tabacus::Names("test"),          locks,
                  "a",   [](const Notice& /*notice*/) {}, AbortableTransactions(world),
                  scope},
          open{context,
               "q",
               "q",
               options,
               {.run = {},
                .lost = {},
                .settled =
                    [this](const JobOutcomes& outcomes) {
                        for (const auto& [id, outcome] : outcomes) settled.push_back(id);
                    },
                .event = {}}} {}
    QueueTab(const QueueTab&) = delete;
    QueueTab& operator=(const QueueTab&) = delete;
    QueueTab(QueueTab&&) = delete;
    QueueTab& operator=(QueueTab&&) = delete;
    ~QueueTab() = default;

    std::vector<std::string> settled;  // the ids whose outcomes the application received
    LockTable locks;
    QueueContext context;
    OpenQueue open;
    Scope scope;  // declared last: its coroutines use all members above
};

struct QueueTabScene {
    explicit QueueTabScene(QueueOptions options = {})
        : page(tab.run<QueueTab>(tab, options)), open(page.open) {}

    /// Runs the task to its end. Requires that it does not fail.
    void run(Task<void> task) {
        bool ended = false;
        run_in(page.scope, std::move(task), [&] { ended = true; }, [](const Failure&) {});
        origin.run_until([&] { return ended; });
    }
    void pass(double time_ms) {
        const Completer<Unit> over;
        page.scope.spawn([](Clock& clock, double delay_ms, Completer<Unit> end) -> Task<void> {
            co_await clock.sleep(delay_ms);
            end.complete({});
        }(tab.clock(), time_ms, over));
        origin.run_until([&] { return over.completed(); });
    }

    Origin origin{Origin::Options{}, std::make_unique<TimeLastChooser>(1)};
    LabTab& tab{origin.open_tab({})};
    QueueTab& page;
    OpenQueue& open;
};

/// Requests for slots, each of which keeps the lock that it is granted.
struct SlotRequests {
    explicit SlotRequests(QueueTabScene& of) : scene(of), slots(of.open) {}

    void request(int slot) {
        run_in(
            scene.page.scope, slots.request(slot),
            [this](Held lock) { held.push_back(std::move(lock)); },
            [this](const Failure& failure) { errors.push_back(error_of(failure).code()); });
        scene.pass(50);
    }
    QueueTabScene& scene;
    WorkerSlots slots;
    std::vector<Held> held;
    std::vector<ErrorCode> errors;
};

/// The intake of a queue within one transaction.
struct IntakeScene : QueueTabScene {
    explicit IntakeScene(QueueOptions options = {}) : QueueTabScene(options) { run(begin()); }

    Task<void> begin() { co_await rows.read_head(); }
    /// Asks for the jobs together.
    std::vector<QueueRequest> enqueue(const std::vector<JobSpec>& specs) {
        std::vector<QueueRequest> requests(specs.size());
        std::vector<QueueRequest*> all;
        for (std::size_t i = 0; i < specs.size(); ++i) {
            requests[i].spec = specs[i];
            all.push_back(&requests[i]);
        }
        run(intake.enqueue(std::move(all)));
        return requests;
    }
    /// Returns the jobs of each row that may run.
    [[nodiscard]] std::vector<std::vector<Job>> stored() const {
        std::vector<std::vector<Job>> found;
        for (const auto& text : transaction.values(Store::jobs, "q/r/")) {
            found.push_back(parse_jobs(text));
        }
        return found;
    }

    MapTransaction transaction;
    QueueChanges changes;
    QueueRows rows{open.rows(transaction, changes)};
    JobIntake intake{rows};
};

JobSpec keyed(const std::string& payload) { return {.payload = {payload, false}, .key = "k"}; }

JobSpec plain(const std::string& payload) { return {.payload = {payload, false}}; }

JobOutcomes outcomes_of(const std::vector<std::string>& ids) {
    JobOutcomes outcomes;
    for (const auto& id : ids) outcomes.emplace_back(id, JobOutcome{});
    return outcomes;
}

/// Returns the ids of the jobs whose unknown outcomes did happen, as far as the rows show.
std::vector<std::string> resolved(QueueTabScene& scene, AwaitedOutcomes& awaited,
                                  MapTransaction& transaction) {
    std::vector<std::string> ids;
    scene.run([](AwaitedOutcomes& of, Transaction& within,
                 std::vector<std::string>& found) -> Task<void> {
        const auto outcomes = co_await of.resolve_unknown(within, "b");
        for (const auto& [id, outcome] : outcomes) found.push_back(id);
    }(awaited, transaction, ids));
    return ids;
}

/// A row of a job that may run.
std::pair<std::string, std::string> row_of(const std::string& id) {
    Job job;
    job.id = id;
    return {"q/" + job.position(), format_job(job)};
}

}  // namespace

TEST_CASE("queue work signal: each wake is counted, and completes the wait of every worker") {
    QueueTabScene scene;
    WorkSignal signal(scene.page.context);
    const auto seen = signal.count();
    int woken = 0;
    for (int worker = 0; worker < 2; ++worker) {
        scene.page.scope.spawn([](WorkSignal& by, int& count) -> Task<void> {
            co_await by.next();
            ++count;
        }(signal, woken));
    }
    signal.wake();
    CHECK(woken == 2);
    signal.wake(false);
    CHECK(signal.count() == seen + 2);
    CHECK(signal.interruptions() == 1);
    CHECK(woken == 2);
}

TEST_CASE("queue work signal: workers are woken at the earliest of the times that were given") {
    QueueTabScene scene;
    WorkSignal signal(scene.page.context);
    const auto now_ms = scene.page.context.steady_ms();
    const auto seen = signal.count();
    signal.wake_at(now_ms + 100);
    signal.wake_at(now_ms + 200);
    scene.pass(90);
    CHECK(signal.count() == seen);
    scene.pass(20);
    CHECK(signal.count() == seen + 1);
    scene.pass(200);
    CHECK(signal.count() == seen + 1);
}

TEST_CASE("queue work signal: another clock wakes the workers and voids the times given before") {
    QueueTabScene scene;
    WorkSignal signal(scene.page.context);
    const auto now_ms = scene.page.context.steady_ms();
    const auto seen = signal.count();
    signal.wake_at(now_ms + 100);
    signal.clock_changed();
    CHECK(signal.count() == seen + 1);
    signal.wake_at(now_ms + 300);
    scene.pass(310);
    CHECK(signal.count() == seen + 3);  // the former timer, too, wakes the workers
}

TEST_CASE("queue worker slots: a slot has one worker until it is released, which ends waits") {
    QueueTabScene scene;
    WorkerSlots slots(scene.open);
    CHECK(slots.empty());
    CHECK(slots.occupy(1));
    CHECK_FALSE(slots.occupy(1));
    CHECK(slots.occupy(2));
    int released = 0;
    scene.page.scope.spawn([](WorkerSlots& of, int& count) -> Task<void> {
        co_await of.next_release();
        ++count;
    }(slots, released));
    slots.release(1);
    CHECK(released == 1);
    slots.release(2);
    CHECK(released == 1);
    CHECK(slots.empty());
    CHECK(slots.occupy(1));
}

TEST_CASE("queue worker slots: a stop aborts requests, also later ones, until requests start") {
    QueueTabScene scene;
    SlotRequests requests(scene);
    requests.request(0);
    REQUIRE(requests.held.size() == 1);
    CHECK_FALSE(requests.held[0].token().has_value());  // the slot's row fences
    requests.request(0);
    CHECK(requests.errors.empty());
    requests.slots.stop_requests();
    scene.pass(50);
    CHECK(requests.errors == std::vector{ErrorCode::aborted});
    CHECK(requests.held[0].held());
    requests.request(1);
    CHECK(requests.errors == std::vector{ErrorCode::aborted, ErrorCode::aborted});
    requests.slots.start_requests();
    requests.request(1);
    CHECK(requests.held.size() == 2);
}

TEST_CASE("queue awaited outcomes: an outcome is delivered once, and only if its job is awaited") {
    QueueTabScene scene;
    AwaitedOutcomes awaited(scene.open);
    awaited.expect("b-1");
    CHECK(awaited.expects("b-1"));
    awaited.deliver(outcomes_of({"b-1", "b-2"}));
    awaited.deliver(outcomes_of({"b-1"}));
    CHECK(scene.page.settled == std::vector<std::string>{"b-1"});
    CHECK(awaited.empty());
    CHECK_FALSE(awaited.any_unknown());
}

TEST_CASE("queue awaited outcomes: an outcome that overtakes the answer to its job is kept") {
    QueueTabScene scene;
    AwaitedOutcomes awaited(scene.open);
    awaited.set_answers_pending(true);
    awaited.deliver(outcomes_of({"b-1"}));
    CHECK(scene.page.settled.empty());
    CHECK(awaited.any_unknown());
    MapTransaction transaction;
    CHECK(resolved(scene, awaited, transaction).empty());
    CHECK(awaited.any_unknown());
    awaited.expect("b-1");
    awaited.set_answers_pending(false);
    CHECK(resolved(scene, awaited, transaction) == std::vector<std::string>{"b-1"});
    awaited.deliver(outcomes_of({"b-1"}));
    CHECK_FALSE(awaited.any_unknown());
}

TEST_CASE("queue awaited outcomes: a commit of unknown outcome has happened if its job is gone") {
    QueueTabScene scene;
    AwaitedOutcomes awaited(scene.open);
    for (const auto* const id : {"b-1", "b-2", "b-3", "old-1"}) awaited.expect(id);
    QueueChanges changes;
    changes.outcomes = outcomes_of({"b-1", "b-2", "b-3", "old-1", "b-9"});
    awaited.keep_unknown(changes);
    MapTransaction transaction;
    const auto [key, text] = row_of("b-1");  // still in the queue
    transaction.put(Store::jobs, key, text);
    transaction.put(Store::jobs, "q/o/a/b-2", "reported by another tab");
    CHECK(resolved(scene, awaited, transaction) == std::vector<std::string>{"b-3"});
    awaited.deliver(outcomes_of({"b-3"}));
    CHECK_FALSE(awaited.any_unknown());
    CHECK(awaited.expects("b-1"));
}

TEST_CASE("queue awaited outcomes: jobs of another incarnation of the database fail") {
    QueueTabScene scene;
    AwaitedOutcomes awaited(scene.open);
    for (const auto* const id : {"b-1", "old-1"}) awaited.expect(id);
    awaited.lose_foreign("b");
    CHECK(scene.page.settled == std::vector<std::string>{"old-1"});
    awaited.lose_foreign("");
    CHECK(scene.page.settled == std::vector<std::string>{"old-1", "b-1"});
}

TEST_CASE("queue intake: jobs without a key are counted at once, and written together") {
    IntakeScene scene;
    const auto requests = scene.enqueue({plain("a"), plain("b")});
    CHECK(requests[0].receipt.id != requests[1].receipt.id);
    CHECK(scene.rows.head.count == 2);
    CHECK(scene.stored().empty());
    scene.intake.put_fresh();
    REQUIRE(scene.stored().size() == 1);
    const auto jobs = scene.stored().front();
    REQUIRE(jobs.size() == 2);
    CHECK(jobs[0].payload.text == "a");
    CHECK(jobs[0].tabs == std::vector<std::string>{"a"});  // the tab that waits for it
}

TEST_CASE("queue intake: a request joins the job of its key, which takes the new payload") {
    IntakeScene scene;
    const auto requests = scene.enqueue({keyed("a"), keyed("b")});
    CHECK_FALSE(requests[0].receipt.joined);
    CHECK(requests[1].receipt.joined);
    CHECK(requests[0].receipt.id == requests[1].receipt.id);
    CHECK(scene.rows.head.count == 1);
    REQUIRE(scene.stored().size() == 1);
    CHECK(scene.stored().front().front().payload.text == "b");
}

TEST_CASE("queue intake: each of many requests finds the job of its key, however keys begin") {
    for (const std::string_view begins : {"page 1", "p\u00e4ge ", ""}) {
        IntakeScene scene;
        const auto some = [&](int first, int last) {
            std::vector<JobSpec> specs;
            for (int i = first; i < last; ++i) {
                specs.push_back(
                    {.payload = {"x", false}, .key = concat({begins, std::to_string(i)})});
            }
            return specs;
        };
        for (const auto& one : scene.enqueue(some(0, 30))) CHECK_FALSE(one.receipt.joined);
        const auto again = scene.enqueue(some(20, 40));
        for (std::size_t i = 0; i < again.size(); ++i) CHECK(again[i].receipt.joined == (i < 10));
        // More keys than these are between the first and the last.
        auto few = some(33, 40);
        few.push_back(some(0, 1).front());
        for (const auto& one : scene.enqueue(few)) CHECK(one.receipt.joined);
        CHECK(scene.rows.head.count == 40);
    }
}

TEST_CASE("queue key index: rows of keys are removed together, without the rows between them") {
    IntakeScene scene;
    KeyIndex removed(scene.transaction);
    for (int i = 10; i < 40; ++i) {
        const auto index = scene.rows.index_key(std::to_string(i));
        scene.transaction.put(Store::jobs, index, std::to_string(i));
        if (i != 15 && i < 20) removed.add(index);
    }
    scene.run(removed.remove());
    const auto left = scene.transaction.values(Store::jobs, "q/k/");
    REQUIRE(left.size() == 21);
    CHECK(left.front() == "15");
}

TEST_CASE("queue key index: few requests read and remove dense keys among others") {
    IntakeScene scene;
    KeyIndex read(scene.transaction);
    KeyIndex removed(scene.transaction);
    const auto among = [](int i) { return (i >= 10 && i < 30) || (i >= 40 && i < 50); };
    for (int i = 10; i < 60; ++i) {
        const auto index = scene.rows.index_key(std::to_string(i));
        scene.transaction.put(Store::jobs, index, std::to_string(i));
        if (!among(i)) continue;
        read.add(index);
        removed.add(index);
    }
    scene.transaction.single_requests = 0;
    scene.run(read.read());
    for (int i = 10; i < 60; ++i) {
        if (!among(i)) continue;
        CHECK(read.value(scene.rows.index_key(std::to_string(i))) == std::to_string(i));
    }
    scene.run(removed.remove());
    CHECK(scene.transaction.single_requests == 0);
    const auto left = scene.transaction.values(Store::jobs, "q/k/");
    REQUIRE(left.size() == 20);
    CHECK(std::none_of(left.begin(), left.end(),
                       [&](const auto& text) { return among(std::stoi(text)); }));
}

TEST_CASE(
    "queue settlement: a following job has its key, though a job of that key is done with it") {
    IntakeScene scene;
    scene.enqueue({{.payload = {"a", false}, .key = "a"}, {.payload = {"b", false}, .key = "b"}});
    HeldSlot held_slot(0);
    auto& claim = held_slot.claim;
    for (const auto& jobs : scene.stored()) {
        claim.rows.push_back({jobs.front().position(), claim.jobs.size(), 1});
        claim.jobs.push_back(jobs.front());
    }
    // After a full disk, jobs are settled in the order of their sizes.
    JobOutcome followed;
    followed.next.push_back({.payload = {"follower", false}, .key = "b"});
    held_slot.unsettled.finished = {{0, followed}, {1, {}}};
    SlotTurn turn("turn");
    ClaimSettlement settlement(scene.rows, held_slot, turn);
    scene.run([](ClaimSettlement& of) -> Task<void> { (void)co_await of.settle(); }(settlement));
    CHECK(scene.transaction.values(Store::jobs, "q/k/").size() == 1);
    const auto again = scene.enqueue({{.payload = {"again", false}, .key = "b"}});
    CHECK(again.front().receipt.joined);
    CHECK(scene.rows.head.count == 1);
}

TEST_CASE("queue intake: a job that runs keeps its payload when a request joins it") {
    IntakeScene scene;
    const auto first = scene.enqueue({keyed("a")});
    auto job = scene.stored().front().front();
    const SlotRow slot{"turn", "other", {{job.position(), job.id}}};
    scene.transaction.put(Store::jobs, "q/s/0", format_slot_row(slot));
    const auto requests = scene.enqueue({keyed("b")});
    CHECK(requests[0].receipt.joined);
    CHECK(scene.stored().front().front().payload.text == "a");
    CHECK(scene.rows.head.edits == 1);
}

TEST_CASE("queue intake: a full queue refuses a job, and still lets a request join one") {
    IntakeScene scene(QueueOptions{.limit = 1});
    const auto requests = scene.enqueue({keyed("a"), plain("b"), keyed("c")});
    CHECK_FALSE(requests[0].refusal.has_value());
    REQUIRE(requests[1].refusal.has_value());
    CHECK(requests[1].refusal->code() == ErrorCode::queue_full);
    CHECK(requests[2].receipt.joined);
    CHECK(scene.rows.head.count == 1);
}

TEST_CASE("queue intake: a delayed job is written into a row of delayed jobs, and is counted") {
    IntakeScene scene;
    auto spec = plain("a");
    spec.delay_ms = 1'000;
    scene.enqueue({spec});
    scene.intake.put_fresh();
    CHECK(scene.rows.head.delayed == 1);
    CHECK(scene.stored().empty());
    CHECK(scene.transaction.values(Store::jobs, "q/w/").size() == 1);
}

}  // namespace tabacus::test
