// Workers of a queue that exit, cleanly or not, and what becomes of their jobs.
#include <catch2/catch_test_macros.hpp>

#include "protocol/queue/rows.hpp"
#include "queue_scene.hpp"
#include "seeds.hpp"

namespace tabacus::test {
namespace {

constexpr std::uint64_t leaving_seeds = sanitized ? 2 : 6;

std::unique_ptr<lab::Chooser> leaving_chooser(std::uint64_t seed) {
    return std::make_unique<TimeLastChooser>(seed);
}

/// Enqueues a job that takes long and `others` behind it, and steps until the first one runs.
void begin_slow_one(QueueScene& scene, QueuePage& page, int others) {
    page.enqueue("slow");
    for (int i = 0; i < others; ++i) page.enqueue(std::to_string(i));
    const auto all = static_cast<std::size_t>(others) + 1;
    scene.until([&] { return scene.judge.accepted.size() == all; });
    page.work();
    scene.until([&] { return !scene.judge.running.empty(); });
}

}  // namespace

TEST_CASE("queue: a worker that exits cleanly is not counted as lost, however often it does") {
    enum class How : std::uint8_t { freezes, sleeps, is_cached, navigates, closes };
    for (const auto how :
         {How::freezes, How::sleeps, How::is_cached, How::navigates, How::closes}) {
        for (std::uint64_t seed = 0; seed < leaving_seeds; ++seed) {
            CAPTURE(static_cast<int>(how), seed);
            QueueScene scene(seed, {}, {}, leaving_chooser(seed));
            auto member = scene.open();
            begin_slow_one(scene, *member.page, 0);
            for (int times = 0; times < 2 * lost_workers_max; ++times) {
                const auto begun = scene.judge.order.size();
                const auto former = member;
                if (how == How::freezes) scene.origin.freeze(*former.tab);
                if (how == How::is_cached) REQUIRE(scene.origin.page_hide(*former.tab));
                if (how == How::navigates && scene.origin.page_hide(*former.tab)) {
                    scene.origin.run();
                    scene.origin.kill(*former.tab);
                }
                if (how == How::closes) {
                    bool left = false;
                    former.page->leave([&left] { left = true; });
                    scene.until([&] { return left; });
                    former.page->close();
                }
                if (how == How::sleeps) {
                    scene.origin.freeze(*former.tab);
                    scene.origin.thaw(*former.tab);
                } else {
                    scene.origin.run();  // its recorded exit reaches every process
                    member = scene.open();
                    member.page->work();
                }
                scene.until([&] { return scene.judge.order.size() > begun; });
                CHECK(member.page->newest.lost_workers == 0);
                if (former.tab->alive() && former.tab != member.tab) {
                    former.page->close();
                    scene.origin.kill(*former.tab);
                }
            }
            scene.until([&] { return scene.all_settled(); });
            CHECK(scene.effects() == std::map<std::string, int>{{"slow", 1}});
        }
    }
}

TEST_CASE("queue: a killed worker counts as lost, and a job that lost too many is a dead letter") {
    for (std::uint64_t seed = 0; seed < leaving_seeds; ++seed) {
        CAPTURE(seed);
        QueueScene scene(seed, {}, {}, leaving_chooser(seed));
        auto member = scene.open();
        begin_slow_one(scene, *member.page, 0);
        for (int times = 1; times < lost_workers_max; ++times) {
            scene.origin.kill(*member.tab);
            member = scene.open();
            member.page->work();
            scene.until([&] { return !scene.judge.running.empty(); });
            CHECK(member.page->newest.lost_workers == times);
        }
        scene.origin.kill(*member.tab);
        scene.open().page->work();
        scene.until([&] { return scene.dead().contains("slow"); });
        CHECK(scene.effects().empty());
    }
}

TEST_CASE("queue: jobs that a killed tab had not begun are again claimed many at a time") {
    for (std::uint64_t seed = 0; seed < leaving_seeds; ++seed) {
        CAPTURE(seed);
        QueueScene scene(seed, {}, {.longest_ms = 1, .slow_one_in = 20}, leaving_chooser(seed));
        auto member = scene.open();
        for (int i = 0; i < 600; ++i) member.page->enqueue(std::to_string(i));
        scene.until([&] { return scene.judge.accepted.size() == 600; });
        member.page->work();
        scene.until([&] { return scene.judge.order.size() >= 100; });
        scene.origin.kill(*member.tab);
        auto& next = *scene.open().page;
        next.work();
        scene.until([&] { return scene.all_settled(); });
        std::size_t claims = 0;
        for (const auto& event : next.events) claims += event.kind == QueueEvent::Kind::running;
        CHECK(claims < 40);
        CHECK(scene.effects().size() == 600);
    }
}

TEST_CASE("queue: the jobs beside one that kills its workers are done") {
    QueueScene scene(1, {}, {.longest_ms = 0}, leaving_chooser(1));
    int suspected = 0;  // the most lost workers that any other job was charged with
    const auto open = [&] {
        const auto opened = scene.open();
        opened.page->on_done = [&suspected](const JobInfo& job, JobOutcome&) {
            if (job.payload.text != "slow") suspected = std::max(suspected, job.lost_workers);
        };
        return opened;
    };
    auto member = open();
    for (int i = 0; i < 100; ++i) member.page->enqueue(i == 50 ? "slow" : std::to_string(i));
    scene.until([&] { return scene.judge.accepted.size() == 100; });
    int killed = 0;
    member.page->work();
    while (!scene.all_settled()) {
        const auto& running = scene.judge.running;
        if (!running.empty() && running.front().payload == "slow") {
            scene.origin.kill(*member.tab);
            ++killed;
            member = open();
            member.page->work();
        }
        REQUIRE(scene.origin.step());
    }
    CHECK(killed == lost_workers_max);
    CHECK(scene.dead() == std::map<std::string, int>{{"slow", 1}});
    CHECK(scene.effects().size() == 99);
    CHECK(suspected <= 2);
}

TEST_CASE(
    "queue: a worker that leaves settles all jobs that had ended, and gives back the others") {
    for (std::uint64_t seed = 0; seed < leaving_seeds; ++seed) {
        CAPTURE(seed);
        QueueScene scene(seed, {}, {.longest_ms = 1, .slow_one_in = 20}, leaving_chooser(seed));
        auto& page = *scene.open().page;
        for (int i = 0; i < 300; ++i) page.enqueue(std::to_string(i));
        scene.until([&] { return scene.judge.accepted.size() == 300; });
        page.work();
        scene.until([&] { return scene.judge.order.size() >= 100; });
        bool left = false;
        page.leave([&left] { left = true; });
        scene.until([&] { return left; });
        page.close();
        CHECK(scene.effects().size() >= 99);
        scene.open().page->work();
        scene.until([&] { return scene.all_settled(); });
        // Only the job that ran when the worker left may have begun twice.
        CHECK(scene.judge.order.size() <= 301);
        CHECK(scene.effects().size() == 300);
    }
}

TEST_CASE("queue: a tab that loses its slot after an unanswered commit still receives outcomes") {
    int cases = 0;
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        for (std::size_t step = 0; step < 600; ++step) {
            const auto before = step / 10;
            CAPTURE(seed, step);
            QueueScene scene(seed, {}, {.longest_ms = 0, .effects = 0}, leaving_chooser(seed));
            const auto one = scene.open();
            const auto other = scene.open();
            for (int i = 0; i < 6; ++i) one.page->enqueue(std::to_string(i));
            scene.until([&] { return scene.judge.accepted.size() == 6; });
            one.page->work();
            scene.until([&] { return !scene.judge.order.empty(); });
            scene.steps(before);
            if (!scene.origin.commits_under_way(*one.tab)) continue;
            ++cases;
            scene.origin.close_connection(*one.tab, true);
            scene.steps(step % 10);
            scene.origin.freeze(*one.tab);
            other.page->work();
            scene.pass(3'000);
            scene.origin.thaw(*one.tab);
            scene.until([&] { return scene.judge.outcomes.size() == 6; });
        }
    }
    CHECK(cases > 50);
}

TEST_CASE("queue: a tab suspended past its lease before its first turn disturbs no later holder") {
    for (std::uint64_t seed = 0; seed < leaving_seeds; ++seed) {
        for (std::size_t before = 0; before < 80; ++before) {
            CAPTURE(seed, before);
            QueueScene scene(seed, {}, {.longest_ms = 0, .effects = 0}, leaving_chooser(seed));
            const Platform leased = {.locks = false};
            const auto sleeper = scene.open(leased);
            auto& next = *scene.open(leased).page;
            next.enqueue({.payload = {"slow", false}, .at_most_once = true});
            scene.until([&] { return scene.judge.accepted.size() == 1; });
            sleeper.page->work();
            scene.steps(before);
            if (!scene.judge.begun.empty()) break;
            scene.origin.suspend(*sleeper.tab);
            next.work();
            const auto limit_ms = scene.origin.clock().now_ms() + 30'000;
            scene.until([&] {
                return !scene.judge.begun.empty() || scene.origin.clock().now_ms() > limit_ms;
            });
            const bool begun = !scene.judge.begun.empty();
            scene.origin.wake(*sleeper.tab);
            scene.pass(15'000);
            // A job that the sleeper had claimed itself may have begun there.
            if (begun) CHECK(scene.dead().empty());
            CHECK(scene.judge.begun["slow"] <= 1);
        }
    }
}

TEST_CASE("queue: a job that failed on a full disk is not removed with those around it") {
    for (std::uint64_t seed = 0; seed < leaving_seeds; ++seed) {
        CAPTURE(seed);
        QueueScene scene(seed, {.pause_on_failure = true}, {.longest_ms = 0, .effects = 0},
                         leaving_chooser(seed));
        auto& page = *scene.open().page;
        for (const char* text : {"0", "large", "less", "slow", "4"}) page.enqueue(text);
        scene.until([&] { return scene.judge.accepted.size() == 5; });
        bool has_space = false;
        page.on_done = [&](const JobInfo& job, JobOutcome& outcome) {
            const auto& text = job.payload.text;
            const std::size_t size = text == "large" ? 200'000 : text == "less" ? 100'000 : 0;
            if (size == 0 || has_space) return;
            outcome.next.push_back(
                {.payload = {std::string(size, 'x'), false}, .kind = std::string(effect_kind)});
        };
        scene.origin.database().set_quota(scene.bytes_kept() + 5'000);
        page.work();
        scene.until([&] {
            return std::any_of(page.events.begin(), page.events.end(), [](const auto& event) {
                return event.kind == QueueEvent::Kind::failed;
            });
        });
        scene.origin.database().set_quota(1);
        scene.pass(200);
        has_space = true;
        scene.origin.database().set_quota(std::nullopt);
        scene.until([&] { return scene.judge.outcomes.contains("slow"); });
        for (int i = 0; i < 3; ++i) {
            page.pause(false);
            scene.pass(2'000);
        }
        CHECK(scene.judge.outcomes.size() == 5);
        CHECK(page.queue().count() == 0);
    }
}

}  // namespace tabacus::test
