// Queues of several slots: the workers of a tab make few transactions and messages for each other
// and for other tabs.
#include <catch2/catch_test_macros.hpp>

#include "protocol/queue/claim_tracker.hpp"
#include "queue_scene.hpp"

namespace tabacus::test {
namespace {

QueueScene scene_of_slots(int concurrency, double longest_ms) {
    QueueOptions options;
    options.concurrency = concurrency;
    return QueueScene(1, options, {.longest_ms = longest_ms, .effects = 0},
                      std::make_unique<TimeLastChooser>(1));
}

void enqueue_some(QueueScene& scene, QueuePage& page, int count) {
    const auto before = scene.judge.accepted.size();
    for (int i = 0; i < count; ++i) page.enqueue(std::to_string(i));
    scene.until(
        [&] { return scene.judge.accepted.size() == before + static_cast<std::size_t>(count); });
}

std::size_t fields_of(const QueuePage& page, QueueEvent::Kind kind) {
    std::size_t count = 0;
    for (const auto& event : page.events) count += event.kind == kind ? event.fields.size() : 0;
    return count;
}

std::size_t events_of(const QueuePage& page, QueueEvent::Kind kind) {
    std::size_t count = 0;
    for (const auto& event : page.events) count += event.kind == kind ? 1 : 0;
    return count;
}

}  // namespace

TEST_CASE(
    "queue: the workers of a tab gather what they have done, and other tabs learn all of it") {
    constexpr int count = 300;
    auto scene = scene_of_slots(4, 3);
    auto& worker = *scene.open().page;
    auto& watcher = *scene.open().page;
    worker.enqueue("slow");
    scene.until([&] { return scene.judge.accepted.size() == 1; });
    enqueue_some(scene, watcher, count);
    watcher.events.clear();
    worker.work();
    scene.until([&] { return scene.judge.order.size() > count && watcher.queue().count() == 1; });
    scene.pass(200);
    REQUIRE(scene.judge.running.size() == 1);  // the slow job
    ClaimTracker tracker(4);
    for (const auto& event : watcher.events) tracker.receive(event);
    const auto state = tracker.state();
    CHECK(state.done == count);
    REQUIRE(state.running.size() == 1);
    CHECK(worker.names[state.running.front().id] == "slow");
    CHECK(events_of(watcher, QueueEvent::Kind::done) < 20);
    const auto posted = events_of(watcher, QueueEvent::Kind::running);
    const auto claims = events_of(worker, QueueEvent::Kind::running);
    CAPTURE(claims);
    CHECK(posted * 3 < claims);
}

TEST_CASE("queue: a worker that gives back a job does not make other workers give back theirs") {
    auto scene = scene_of_slots(4, 8);
    auto& worker = *scene.open().page;
    enqueue_some(scene, worker, 400);
    worker.work();
    scene.until([&] { return scene.all_settled(); });
    CHECK(fields_of(worker, QueueEvent::Kind::returned) < 400);
}

TEST_CASE("queue: a slot whose row names jobs gets a turn, though its tab has just found nothing") {
    constexpr int slots = 8;
    for (int kept = 0; kept < slots; ++kept) {
        CAPTURE(kept);
        auto scene = scene_of_slots(slots, 3);
        const auto former = scene.open();
        auto& other = *scene.open().page;
        for (int i = 0; i <= slots; ++i) {
            other.enqueue(
                {.payload = {"slow", false}, .key = std::to_string(i), .at_most_once = true});
        }
        former.page->work();
        scene.until([&] { return scene.judge.running.size() == slots; });
        other.queue().handle({"another kind"});
        // A job that was cancelled leaves its claim without an event.
        std::set<std::string> cancelled;
        for (int i = 0; i < slots; ++i) {
            if (i != kept) other.cancel(std::to_string(i), cancelled);
        }
        scene.until([&] { return cancelled.size() == slots - 1; });
        scene.pass(100);
        scene.origin.kill(*former.tab);
        scene.pass(100);
        CHECK(scene.dead()["slow"] == 1);
    }
}

TEST_CASE(
    "queue: the slots that one tab releases cost another tab fewer turns than there are slots") {
    auto scene = scene_of_slots(16, 3);
    auto& worker = *scene.open().page;
    auto& other = *scene.open().page;
    worker.work();
    other.work();
    scene.pass(10);
    const auto before = scene.origin.database().transactions();
    enqueue_some(scene, worker, 1);
    scene.pass(100);
    REQUIRE(scene.all_settled());
    const auto begun = scene.origin.database().transactions() - before;
    CAPTURE(begun);
    CHECK(begun < 24);
}

TEST_CASE("queue: a tab that found no job runs a later one, once the worker of that is lost") {
    auto scene = scene_of_slots(1, 3);
    std::vector tabs{scene.open(), scene.open()};
    for (const auto& one : tabs) one.page->work();
    scene.pass(50);
    tabs.front().page->enqueue("slow");
    scene.until([&] { return scene.judge.running.size() == 1; });
    const bool first = scene.judge.running.front().page == tabs.front().page;
    scene.origin.kill(*tabs[first ? 0 : 1].tab);
    scene.pass(500);
    CHECK(scene.judge.begun["slow"] == 2);
}

}  // namespace tabacus::test
