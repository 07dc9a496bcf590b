// Queues: every job is settled once, in order, by no more workers than agreed, whatever happens to
// tabs.
#include <catch2/catch_test_macros.hpp>

#include "protocol/common/concat.hpp"
#include "queue_workload.hpp"

namespace tabacus::test {
namespace {

/// The positions that the queue's head has named as the first jobs of their kinds.
struct Firsts {
    std::set<std::string> seen;
    std::size_t hidden = 0;  // rows that lay before such a position

    void observe(QueueScene& scene) {
        const auto& rows = scene.origin.database().rows(Store::jobs);
        const auto row = rows.find("q/h");
        const auto head = row == rows.end() ? std::nullopt : parse_queue_head(row->second.text);
        if (!head) return;
        for (const auto& [name, first] : head->kinds) {
            seen.insert(first);
            const auto prefix = concat({"q/", kind_prefix(name)});
            for (const auto& [key, value] : rows) {
                if (key.starts_with(prefix) && key.substr(prefix.size()) < first) ++hidden;
            }
        }
    }
};

}  // namespace

TEST_CASE("queue: jobs of three tabs run in order, once, and each tab receives its outcomes") {
    for (std::uint64_t seed = 0; seed < queue_seeds; ++seed) {
        CAPTURE(seed);
        QueueScene scene(seed, {.lifo = seed % 2 == 1});
        for (int i = 0; i < 3; ++i) scene.open();
        // All jobs are accepted, in a known order, before the first one runs.
        Names expected;
        for (int number = 0; number < 9; ++number) {
            auto& page = *scene.members[static_cast<std::size_t>(number % 3)].page;
            const bool first = number % 4 == 0;
            const auto asked =
                page.enqueue({.payload = {name(number), false}, .priority = first ? 1 : 0});
            scene.until([&] { return asked->ended; });
            CHECK_FALSE(asked->error);
            CHECK(page.queue().count() == number + 1);
        }
        for (const bool first : {true, false}) {
            for (int i = 0; i < 9; ++i) {
                const int number = scene.options.lifo ? 8 - i : i;
                if ((number % 4 == 0) == first) expected.push_back(name(number));
            }
        }
        for (const auto& member : scene.members) member.page->work();
        scene.until([&] { return scene.judge.outcomes.size() == 9; });
        CHECK(scene.judge.order == expected);
        CHECK(scene.judge.most_running == 1);
        check_exactly_once(scene);
        for (const auto& [payload, count] : scene.judge.outcomes) CHECK(count == 1);
    }
}

TEST_CASE("queue: killed tabs lose no job, and none is settled twice") {
    for (std::uint64_t seed = 0; seed < queue_seeds; ++seed) {
        CAPTURE(seed);
        const QueueOptions options{.concurrency = seed % 2 == 0 ? 1 : 2};
        QueueScene scene(seed, options, {.longest_ms = seed % 3 == 0 ? 0.0 : 20.0});
        work_through(scene, 4, [&](int round) {
            if (round < 3) scene.origin.kill(*scene.members[scene.random.below(4)].tab);
        });
        finish(scene);
    }
}

TEST_CASE("queue: frozen and cached tabs give their jobs back, and settle nothing late") {
    for (std::uint64_t seed = 0; seed < queue_seeds; ++seed) {
        CAPTURE(seed);
        QueueScene scene(seed, {.concurrency = seed % 2 == 0 ? 1 : 2}, {.longest_ms = 20});
        work_through(scene, 3, [&](int round) {
            auto& tab = *scene.members[0].tab;
            auto& other = *scene.members[1].tab;
            if (round == 0) scene.origin.freeze(tab);
            if (round == 1) scene.origin.page_hide(other);
            if (round == 2) scene.origin.thaw(tab);
            if (round == 3 && other.alive()) scene.origin.page_show(other);
        });
        finish(scene);
    }
}

TEST_CASE("queue: a job to run at most once never begins twice, whichever tabs die") {
    int dead = 0;
    for (std::uint64_t seed = 0; seed < 2 * queue_seeds; ++seed) {
        CAPTURE(seed);
        QueueScene scene(seed, {.concurrency = seed % 2 == 0 ? 1 : 2}, {.longest_ms = 20});
        work_through(
            scene, 4,
            [&](int round) {
                if (round < 3) scene.origin.kill(*scene.members[scene.random.below(4)].tab);
            },
            true);
        finish(scene);
        for (const auto& [payload, count] : scene.judge.begun) CHECK(count == 1);
        dead += static_cast<int>(scene.dead().size());
    }
    if (!sanitized) CHECK(dead > 0);  // a few seeds kill no worker of a job
}

TEST_CASE(
    "queue: each short job in two slots ends once, even if some fail, wait or are cancelled") {
    Firsts firsts;
    for (std::uint64_t seed = 0; seed < queue_seeds / 2; ++seed) {
        CAPTURE(seed);
        QueueScene scene(seed,
                         {.concurrency = 1 + static_cast<int>(seed % 2),
                          .lifo = seed % 3 == 0,
                          .back_off_ms = 2},
                         {.longest_ms = 9, .slow_one_in = 8, .failures = seed % 4 == 0 ? 1 : 0});
        for (int i = 0; i < 2; ++i) scene.open();
        std::set<std::string> cancelled;
        for (int number = 0; number < 40; ++number) {
            auto& page = *scene.members[scene.random.below(2)].page;
            if (number == 10) {
                for (const auto& member : scene.members) member.page->work();
            }
            page.enqueue({.payload = {name(number), false},
                          .key = name(number),
                          .priority = static_cast<int>(scene.random.below(2)),
                          .delay_ms = scene.random.below(5) == 0 ? 3.0 : 0.0});
            scene.steps(scene.random.below(12));
            if (number % 4 == 0) page.cancel(name(number - 4), cancelled);
        }
        scene.until([&] {
            firsts.observe(scene);
            return scene.judge.accepted.size() == 40 && scene.all_settled();
        });
        CHECK(firsts.hidden == 0);
        const auto effects = scene.effects();
        for (int number = 0; number < 40; ++number) {
            CAPTURE(number);
            const auto found = effects.find(name(number));
            const int count = found == effects.end() ? 0 : found->second;
            CHECK(count == (cancelled.contains(name(number)) ? 0 : 1));
        }
        CHECK(static_cast<int>(scene.judge.most_running) <= scene.options.concurrency);
    }
    CHECK(firsts.seen.size() > 10);
}

TEST_CASE(
    "queue: a job cancelled while it runs settles nothing, even if its tab missed the message") {
    for (std::uint64_t seed = 0; seed < queue_seeds; ++seed) {
        CAPTURE(seed);
        QueueScene scene(seed, {}, {}, std::make_unique<TimeLastChooser>(seed));
        const auto unreachable = scene.open();
        auto& other = *scene.open().page;
        scene.origin.drop_messages(*unreachable.tab);
        other.enqueue({.payload = {"slow", false}, .key = "slow"});
        scene.until([&] { return scene.judge.accepted.contains("slow"); });
        unreachable.page->work();
        scene.until([&] { return !scene.judge.running.empty(); });
        std::set<std::string> cancelled;
        other.cancel("slow", cancelled);
        scene.until([&] { return cancelled.contains("slow"); });
        CHECK(!scene.judge.running.empty());
        other.enqueue(name(1));
        scene.until([&] { return scene.judge.outcomes.contains(name(1)); });
        CHECK(scene.effects() == std::map<std::string, int>{{name(1), 1}});
        CHECK(scene.judge.outcomes == std::map<std::string, int>{{name(1), 1}});
    }
}

TEST_CASE("queue: a job that fails is tried again later, and at last becomes a dead letter") {
    for (std::uint64_t seed = 0; seed < queue_seeds; ++seed) {
        CAPTURE(seed);
        const int failures = static_cast<int>(seed % 4);
        QueueScene scene(seed, {.attempts = 3}, {.longest_ms = 0, .failures = failures});
        const auto member = scene.open();
        member.page->work();
        member.page->enqueue("a");
        const auto optional = member.page->enqueue({.payload = {"b", false}, .optional = true});
        scene.until([&] { return optional->ended && scene.all_settled(); });
        CHECK(scene.judge.begun["a"] == std::min(failures + 1, 3));
        CHECK(scene.judge.begun["b"] == 1);
        CHECK(scene.dead().contains("a") == (failures >= 3));
        CHECK_FALSE(scene.dead().contains("b"));
    }
}

TEST_CASE("queue: a key has one job, which moves to the front; a full queue refuses a new one") {
    QueueScene scene(1, {.limit = 3});
    const auto member = scene.open();
    for (const auto* payload : {"a", "b", "c"}) {
        member.page->enqueue({.payload = {payload, false}, .key = payload});
    }
    const auto again = member.page->enqueue({.payload = {"c2", false}, .key = "c"});
    const auto full = member.page->enqueue("d");
    scene.until([&] { return full->ended; });
    CHECK(again->joined);
    CHECK(full->error == ErrorCode::queue_full);
    CHECK(member.page->queue().count() == 3);
    member.page->work();
    scene.until([&] { return scene.all_settled(); });
    CHECK(scene.judge.order == Names{"c2", "a", "b"});
}

TEST_CASE("queue: a job fails as a whole if a full queue refuses one of its following jobs") {
    for (std::uint64_t seed = 0; seed < queue_seeds; ++seed) {
        CAPTURE(seed);
        QueueScene scene(seed, {.attempts = 2, .back_off_ms = 5, .limit = 2},
                         {.longest_ms = 0, .effects = 2});
        const auto member = scene.open();
        member.page->enqueue("a");
        member.page->enqueue("b");
        scene.until([&] { return scene.judge.accepted.size() == 2; });
        member.page->work();
        scene.until([&] { return scene.all_settled() && !scene.judge.outcomes.empty(); });
        // One job is a dead letter before the last attempt ends, which finds the queue not full.
        CHECK(scene.dead().size() == 1);
        CHECK(scene.effects().size() == 1);
        for (const auto& [payload, count] : scene.effects()) CHECK(count == 2);
        CHECK(scene.judge.outcomes.size() == 1);
        CHECK(scene.judge.begun.size() == 2);
    }
}

TEST_CASE("queue: with pause_on_failure a failure pauses the queue until the next enqueue()") {
    QueueScene scene(1, {.pause_on_failure = true}, {.longest_ms = 0, .failures = 1});
    const auto member = scene.open();
    member.page->work();
    member.page->enqueue("a");
    member.page->enqueue("b");
    scene.until([&] { return member.page->queue().paused(); });
    scene.steps(500);
    CHECK(scene.judge.order == Names{"a"});
    member.page->enqueue("c");
    scene.until([&] { return scene.judge.order.size() == 3; });
    scene.steps(500);
    CHECK(scene.judge.order == Names{"a", "a", "b"});
}

TEST_CASE("queue: no tab awaits the outcome of a following job, and its outcome is not stored") {
    for (std::uint64_t seed = 0; seed < queue_seeds / 2; ++seed) {
        CAPTURE(seed);
        QueueScene scene(seed, {}, {.longest_ms = 0, .effects = 9});
        auto& asks = *scene.open().page;
        scene.work.effects = 0;
        auto& works = *scene.open().page;
        asks.work();
        asks.enqueue("a");
        scene.until([&] { return scene.effects().size() == 1 && scene.all_settled(); });
        works.queue().handle({std::string(effect_kind)});
        scene.until([&] { return scene.effects().empty(); });
        const auto outcomes = [&] {
            std::vector<std::string> found;
            for (const auto& [key, value] : scene.origin.database().rows(Store::jobs)) {
                if (key.starts_with("q/o/")) found.push_back(key);
            }
            return found;
        };
        CHECK(outcomes().empty());
        const auto before = concat({"q/o/", asks.events.front().tab, "/-"});
        for (int number = 0; number < 600; ++number) {
            scene.origin.database().overwrite(Store::jobs, before + std::to_string(number),
                                              lab::StoredValue{"1;1;s;0;", false});
        }
        asks.queue().stop();
        works.work();
        asks.enqueue("b");
        scene.until([&] { return scene.judge.outcomes.size() == 2; });
        CHECK(outcomes().empty());
    }
}

TEST_CASE(
    "queue: on a full disk a job whose result does not fit fails, and those beside it are done") {
    for (std::uint64_t seed = 0; seed < queue_seeds; ++seed) {
        CAPTURE(seed);
        QueueScene scene(seed, {.attempts = 1}, {.longest_ms = 0, .effects = 0},
                         std::make_unique<TimeLastChooser>(seed));
        auto& page = with_jobs(scene, 9);
        page.on_done = [](const JobInfo& job, JobOutcome& outcome) {
            if (job.payload.text != "job2") return;
            outcome.next.push_back(
                {.payload = {std::string(100'000, 'x'), false}, .kind = std::string(effect_kind)});
        };
        scene.origin.database().set_quota(scene.bytes_kept() + 5'000);
        page.work();
        scene.until([&] { return scene.all_settled() && scene.judge.outcomes.size() == 8; });
        CHECK(scene.dead() == std::map<std::string, int>{{"job2", 1}});
        for (const auto& [payload, count] : scene.judge.begun) CHECK(count == 1);
    }
}

TEST_CASE("queue: a failure that does not fit fails no other job, and is stored once it fits") {
    for (std::uint64_t seed = 0; seed < queue_seeds; ++seed) {
        CAPTURE(seed);
        QueueScene scene(seed, {.attempts = 1}, {.longest_ms = 0, .effects = 0},
                         std::make_unique<TimeLastChooser>(seed));
        auto& page = with_jobs(scene, 9);
        page.on_done = [](const JobInfo& job, JobOutcome& outcome) {
            if (job.payload.text != "job3") return;
            outcome.kind = JobOutcome::Kind::failed;
            outcome.value.text = std::string(100'000, 'x');
        };
        scene.origin.database().set_quota(scene.bytes_kept() + 5'000);
        page.work();
        scene.until([&] { return scene.judge.begun["job3"] == 3; });
        CHECK(scene.judge.outcomes.size() == 4);  // those of the jobs claimed with it
        CHECK(scene.judge.outcomes.contains("job4"));
        scene.origin.database().set_quota(std::nullopt);
        scene.until([&] { return scene.all_settled() && scene.judge.outcomes.size() == 8; });
        CHECK(scene.dead() == std::map<std::string, int>{{"job3", 1}});
        CHECK(scene.judge.begun["job4"] == 1);
    }
}

TEST_CASE("queue: delayed jobs that no tab handles delay no other job, however many they are") {
    QueueScene scene(1, {}, {.longest_ms = 0, .effects = 0}, std::make_unique<TimeLastChooser>(1));
    const auto member = scene.open();
    for (int number = 0; number < 200; ++number) {
        member.page->enqueue(
            {.payload = {name(number), false}, .kind = std::string(effect_kind), .delay_ms = 1});
    }
    member.page->enqueue({.payload = {"mine", false}, .delay_ms = 2});
    scene.until([&] { return scene.judge.accepted.size() == 201; });
    const auto began_ms = member.tab->clock().now_ms();
    member.page->work();
    scene.until([&] { return scene.judge.outcomes.contains("mine"); });
    CHECK(member.tab->clock().now_ms() < began_ms + 500);
}

TEST_CASE("queue: at most kinds_max kinds are accepted at a time") {
    QueueScene scene(1);
    auto& page = *scene.open().page;
    const auto enqueue = [&](const std::string& kind) {
        const auto asked = page.enqueue({.payload = {kind, false}, .key = kind, .kind = kind});
        scene.until([&] { return asked->ended; });
        return asked->error;
    };
    for (std::size_t number = 0; number < kinds_max; ++number) {
        CHECK_FALSE(enqueue("kind" + std::to_string(number)));
    }
    CHECK(enqueue("more") == ErrorCode::unavailable);
    std::set<std::string> cancelled;
    page.cancel("kind7", cancelled);
    scene.until([&] { return !cancelled.empty(); });
    CHECK_FALSE(enqueue("more"));
    CHECK(enqueue("and more") == ErrorCode::unavailable);
}

TEST_CASE("queue: idle() ends after the outcomes of the tab's own jobs were delivered") {
    for (std::uint64_t seed = 0; seed < queue_seeds * 2; ++seed) {
        CAPTURE(seed);
        QueueScene scene(seed, {}, {.effects = 0});
        auto& page = with_jobs(scene, 5);
        std::optional<std::size_t> delivered;
        page.when_idle([&] { delivered = scene.judge.outcomes.size(); });
        scene.open().page->work();
        scene.until([&] { return delivered.has_value(); });
        CHECK(delivered == 5);
    }
}

TEST_CASE("queue: a tab that still runs a cancelled job is not idle") {
    QueueScene scene(1, {}, {}, std::make_unique<TimeLastChooser>(1));
    auto& page = *scene.open().page;
    page.enqueue({.payload = {"slow", false}, .key = "slow"});
    page.work();
    scene.until([&] { return scene.judge.begun.contains("slow"); });
    bool ended = false;
    bool idle = false;
    page.on_done = [&](const JobInfo&, JobOutcome&) { ended = true; };
    std::set<std::string> cancelled;
    page.cancel("slow", cancelled);
    scene.until([&] { return !cancelled.empty(); });
    page.when_idle([&] { idle = true; });
    scene.until([&] { return idle; });
    CHECK(ended);
}

}  // namespace tabacus::test
