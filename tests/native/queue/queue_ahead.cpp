// Jobs that a tab claims ahead of their turn: how far ahead, what passes before them, and what a newer
// request changes in them.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>

#include "queue_workload.hpp"

namespace tabacus::test {
namespace {

/// How many fields an event has for each job that was done, returned or queued.
constexpr std::size_t fields_of_job = 3;

std::ptrdiff_t position_of(const QueueScene& scene, const std::string& payload) {
    const auto& order = scene.judge.order;
    return std::find(order.begin(), order.end(), payload) - order.begin();
}

}  // namespace

TEST_CASE("queue: jobs claimed together are removed together, and none that runs between them") {
    for (std::uint64_t seed = 0; seed < queue_seeds; ++seed) {
        CAPTURE(seed);
        QueueScene scene(seed, {.concurrency = 2}, {.longest_ms = 0},
                         std::make_unique<TimeLastChooser>(seed));
        const auto member = scene.open();
        auto& page = *member.page;
        page.enqueue({.payload = {"first", false}, .delay_ms = 5});
        page.enqueue("slow");
        page.work();
        scene.until([&] { return scene.judge.begun.contains("slow"); });
        page.pause(true);
        for (int number = 0; number < 9; ++number) {
            page.enqueue({.payload = {name(number), false}, .priority = number < 6 ? 1 : 0});
        }
        const auto began_ms = member.tab->clock().now_ms();
        scene.until([&] {
            return scene.judge.accepted.size() == 11 && member.tab->clock().now_ms() > began_ms + 9;
        });
        page.pause(false);
        scene.until([&] { return scene.effects().size() == 10 || scene.all_settled(); });
        scene.origin.kill(*member.tab);
        finish(scene);
    }
}

TEST_CASE("queue: once pause() has resolved, nothing that was claimed ahead begins") {
    for (std::uint64_t seed = 0; seed < queue_seeds; ++seed) {
        CAPTURE(seed);
        QueueScene scene(seed, {}, {.longest_ms = 1}, std::make_unique<TimeLastChooser>(seed));
        const auto member = scene.open();
        for (int number = 0; number < 60; ++number) member.page->enqueue(name(number));
        scene.until([&] { return scene.judge.accepted.size() == 60; });
        member.page->work();
        scene.until([&] { return scene.judge.order.size() >= 8; });
        const auto paused = member.page->pause(true);
        scene.until([&] { return *paused; });
        const auto begun = scene.judge.order.size();
        scene.steps(500);
        CHECK(scene.judge.order.size() == begun);
        CHECK(begun < 60);
    }
}

TEST_CASE(
    "queue: a following job runs before jobs claimed ahead, if its position is before theirs") {
    for (std::uint64_t seed = 0; seed < queue_seeds; ++seed) {
        CAPTURE(seed);
        const bool lifo = seed % 3 == 1;
        QueueScene scene(seed, {.lifo = lifo}, {.longest_ms = 0, .effects = 0},
                         std::make_unique<TimeLastChooser>(seed));
        auto& page = with_jobs(scene, 50);
        page.on_done = [&](const JobInfo& job, JobOutcome& outcome) {
            if (job.payload.text != "job25") return;
            JobSpec next{.payload = {"next", false}};
            if (seed % 3 == 0) next.priority = 1;
            if (seed % 3 == 2) next.key = "job40";
            outcome.next.push_back(next);
        };
        page.work();
        scene.until([&] { return scene.all_settled(); });
        CHECK(position_of(scene, "next") == position_of(scene, "job25") + 1);
        CHECK(scene.judge.begun.contains("job40") == (seed % 3 != 2));
    }
}

TEST_CASE("queue: jobs that leave no turn for timers are not claimed longer ahead than others") {
    for (std::uint64_t seed = 0; seed < queue_seeds; ++seed) {
        CAPTURE(seed);
        QueueScene scene(seed, {}, {.effects = 0, .blocking = true},
                         std::make_unique<TimeLastChooser>(seed));
        auto& page = with_jobs(scene, 100);
        page.on_done = [&](const JobInfo& job, JobOutcome&) {
            if (std::stoi(job.payload.text.substr(3)) >= 50) scene.origin.clock().jump(4);
        };
        page.work();
        scene.until([&] { return scene.judge.outcomes.size() == 100; });
        bool slow = false;
        for (const auto& event : page.events) {
            if (event.kind != QueueEvent::Kind::done) continue;
            if (slow) CHECK(event.fields.size() <= 3 * fields_of_job);
            const auto& last = event.fields[event.fields.size() - fields_of_job];
            slow = slow || std::stoi(page.names[last].substr(3)) >= 50;
        }
        CHECK(slow);
    }
}

TEST_CASE("queue: a job that is claimed ahead takes a newer payload, and moves to the front") {
    for (std::uint64_t seed = 0; seed < queue_seeds; ++seed) {
        CAPTURE(seed);
        QueueScene scene(seed, {}, {.longest_ms = 0.5}, std::make_unique<TimeLastChooser>(seed));
        auto& page = with_jobs(scene, 30);
        std::shared_ptr<QueuePage::Asked> again;
        page.on_done = [&](const JobInfo& job, JobOutcome&) {
            if (job.payload.text != "job7") return;
            again = page.enqueue({.payload = {"newer", false}, .key = "job18"});
        };
        page.work();
        scene.until([&] { return scene.all_settled(); });
        CHECK(again->joined);
        CHECK_FALSE(scene.judge.begun.contains("job18"));
        CHECK(position_of(scene, "newer") < position_of(scene, "job17"));
        CHECK(scene.effects().size() == 30);
    }
}

TEST_CASE(
    "queue: a job that is asked for again while others run it takes effect with one payload") {
    int newer = 0;
    for (std::uint64_t seed = 0; seed < queue_seeds * 4; ++seed) {
        CAPTURE(seed);
        QueueScene scene(seed, {.concurrency = 1 + static_cast<int>(seed % 2)}, {.longest_ms = 1});
        auto& page = with_jobs(scene, 24);
        auto& other = *scene.open().page;
        page.work();
        if (seed % 3 == 0) other.work();
        for (int number = 0; number < 24; number += 3) {
            scene.steps(scene.random.below(30));
            other.enqueue({.payload = {name(number) + "+", false}, .key = name(number)});
        }
        scene.until([&] { return scene.judge.accepted.size() == 32 && scene.all_settled(); });
        const auto effects = scene.effects();
        for (int number = 0; number < 24; ++number) {
            CAPTURE(number);
            const auto count = [&](const std::string& payload) {
                const auto found = effects.find(payload);
                return found == effects.end() ? 0 : found->second;
            };
            // A request that comes when the job is done makes another job.
            CHECK(count(name(number)) <= 1);
            CHECK(count(name(number) + "+") <= 1);
            CHECK(count(name(number)) + count(name(number) + "+") >= 1);
            newer += count(name(number)) == 0 ? 1 : 0;
        }
        CHECK(static_cast<int>(scene.judge.most_running) <= scene.options.concurrency);
    }
    CHECK(newer > 0);
}

TEST_CASE(
    "queue: a running job that is asked for twice again takes effect with the newest payload") {
    for (std::uint64_t seed = 0; seed < queue_seeds; ++seed) {
        CAPTURE(seed);
        QueueScene scene(seed, {}, {.longest_ms = 0}, std::make_unique<TimeLastChooser>(seed));
        auto& page = with_jobs(scene, 12);
        auto& other = *scene.open().page;
        page.enqueue({.payload = {"slow", false}, .key = "slow"});
        for (int number = 12; number < 40; ++number) page.enqueue(name(number));
        scene.until([&] { return scene.judge.accepted.size() == 41; });
        page.work();
        auto& running = scene.judge.running;
        const auto runs = [&] { return !running.empty() && running.front().payload == "slow"; };
        scene.until(runs);
        const auto ask = [&](const std::string& payload) {
            const auto asked = other.enqueue({.payload = {payload, false}, .key = "slow"});
            scene.until([&] { return asked->ended; });
            CHECK(asked->joined);
            CHECK(runs());
        };
        // The job was claimed ahead, so it moves, and its present run will count for nothing.
        // Meanwhile its slot still names its old position.
        ask("newer");
        auto& clock = scene.members[0].tab->clock();
        const auto later_ms = clock.now_ms() + 15;
        scene.until([&] { return clock.now_ms() >= later_ms; });
        ask("newest");
        scene.until([&] { return scene.all_settled(); });
        CHECK_FALSE(scene.effects().contains("slow"));
        CHECK(scene.judge.begun.contains("newest"));
        CHECK_FALSE(scene.judge.begun.contains("newer"));
    }
}

}  // namespace tabacus::test
