// What a tab learns of a queue from others, and when: by their events, and by reading the store.
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "queue_scene.hpp"
#include "time_last_chooser.hpp"

namespace tabacus::test {
namespace {

QueueScene news_scene(int concurrency, double longest_ms) {
    return QueueScene(1, {.concurrency = concurrency}, {.longest_ms = longest_ms, .effects = 0},
                      std::make_unique<TimeLastChooser>(1));
}

/// Returns when a tab received the outcomes of its `count` jobs, which another tab runs.
std::vector<double> times_of_outcomes(std::size_t count, bool hidden) {
    auto scene = news_scene(1, 10);
    const auto waiting = scene.open();
    std::vector<double> times;
    waiting.page->on_settled = [&](const std::string& /*id*/, const JobOutcome& /*outcome*/) {
        times.push_back(waiting.tab->clock().monotonic_ms());
    };
    for (std::size_t i = 0; i < count; ++i) waiting.page->enqueue(std::to_string(i));
    scene.until([&] { return scene.judge.accepted.size() == count; });
    if (hidden) scene.origin.hide(*waiting.tab);
    scene.open().page->work();
    scene.until([&] { return times.size() == count; });
    return times;
}

/// Returns the distinct times.
std::set<double> moments(const std::vector<double>& times, std::size_t from, std::size_t to) {
    const auto begin = times.begin();
    return {begin + static_cast<std::ptrdiff_t>(from), begin + static_cast<std::ptrdiff_t>(to)};
}

/// Returns how many transactions were begun in 20 s in which a tab runs long jobs, and another one,
/// if there is one, waits until the queue is idle.
std::uint64_t transactions_beside(bool waiter) {
    auto scene = news_scene(1, 600);
    auto& worker = *scene.open().page;
    for (int i = 0; i < 100; ++i) worker.enqueue(std::to_string(i));
    scene.until([&] { return scene.judge.accepted.size() == 100; });
    auto& other = *scene.open().page;
    bool idle = false;
    if (waiter) other.when_idle([&] { idle = true; });
    worker.work();
    scene.pass(1'000);
    const auto before = scene.origin.database().transactions();
    scene.pass(20'000);
    const auto begun = scene.origin.database().transactions() - before;
    CHECK_FALSE(idle);
    scene.until([&] { return scene.all_settled(); });
    scene.pass(2'500);
    CHECK(idle == waiter);
    return begun;
}

}  // namespace

TEST_CASE("queue news: a tab fetches many outcomes at intervals, and the last ones at once") {
    constexpr std::size_t count = 160;
    constexpr std::size_t at_intervals = count - 64;
    const auto times = times_of_outcomes(count, false);
    const auto seldom = moments(times, 0, at_intervals);
    CHECK(seldom.size() <= 1 + static_cast<std::size_t>((*seldom.rbegin() - *seldom.begin()) / 50));
    CHECK(moments(times, at_intervals, count).size() > 32);
}

TEST_CASE("queue news: a hidden tab, whose timers are slow, fetches each outcome at once") {
    constexpr std::size_t count = 160;
    const auto times = times_of_outcomes(count, true);
    CHECK(moments(times, 0, count).size() > 80);
}

TEST_CASE("queue news: a tab that waits for an idle queue reads nothing while events arrive") {
    const auto alone = transactions_beside(false);
    const auto beside = transactions_beside(true);
    CAPTURE(alone, beside);
    CHECK(beside <= alone + 5);
}

TEST_CASE("queue news: what the last worker of a tab has done is posted at once") {
    auto scene = news_scene(2, 0);
    auto& worker = *scene.open().page;
    auto& watcher = *scene.open().page;
    worker.work();
    scene.pass(500);
    const auto done = [&] {
        std::size_t count = 0;
        for (const auto& event : watcher.events) {
            if (event.kind == QueueEvent::Kind::done) count += event.fields.size() / 3;
        }
        return count;
    };
    for (std::size_t i = 1; i <= 5; ++i) {
        worker.enqueue(std::to_string(i));
        scene.until([&] { return scene.judge.outcomes.size() == i; });
        const auto ended_ms = scene.origin.clock().now_ms();
        scene.until([&] { return done() == i; });
        CHECK(scene.origin.clock().now_ms() - ended_ms < 25);
    }
}

}  // namespace tabacus::test
