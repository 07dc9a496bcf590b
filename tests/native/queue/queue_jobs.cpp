// Queues: every job settled once, in order, by no more workers than agreed, whatever becomes of
// tabs.
#include <catch2/catch_test_macros.hpp>

#include "protocol/common/concat.hpp"
#include "queue_scene.hpp"

namespace tabacus::test {
namespace {

constexpr std::uint64_t queue_seeds = 12;
using Names = std::vector<std::string>;
/// How many fields an event has that reports a job as done, returned or queued.
constexpr std::size_t fields_of_job = 3;

std::string name(int number) { return "job" + std::to_string(number); }

/// Jobs are enqueued in all tabs, and faults strike in between.
template <typename Fault>
void work_through(QueueScene& scene, int tabs, Fault fault, bool at_most_once = false) {
    for (int i = 0; i < tabs; ++i) scene.open();
    int last = 0;
    for (int round = 0; round < 4; ++round) {
        for (std::size_t i = 0; i < scene.members.size(); ++i) {
            const auto& member = scene.members[i];
            if (!member.tab->active()) continue;
            if (round == 0) member.page->work();
            for (int n = 0; n < 2; ++n) {
                member.page->enqueue(
                    {.payload = {name(last++), false}, .at_most_once = at_most_once});
            }
            scene.steps(scene.random.below(60));
        }
        fault(round);
        scene.steps(scene.random.below(60));
    }
}

void check_exactly_once(QueueScene& scene) {
    const auto effects = scene.effects();
    const auto dead = scene.dead();
    for (const auto& payload : scene.judge.accepted) {
        CAPTURE(payload);
        const auto found = effects.find(payload);
        CHECK((found == effects.end() ? 0 : found->second) +
                  static_cast<int>(dead.contains(payload)) ==
              1);
    }
    for (const auto& [payload, count] : effects) CHECK(count == 1);
}

void finish(QueueScene& scene) {
    for (const auto& member : scene.members) {
        if (member.tab->alive() && !member.tab->active()) scene.origin.kill(*member.tab);
    }
    scene.open().page->work();
    scene.until([&] { return scene.all_settled(); });
    check_exactly_once(scene);
    CHECK(static_cast<int>(scene.judge.most_running) <= scene.options.concurrency);
}

std::ptrdiff_t position_of(const QueueScene& scene, const std::string& payload) {
    const auto& order = scene.judge.order;
    return std::find(order.begin(), order.end(), payload) - order.begin();
}

/// So many jobs with keys, accepted in their order by a tab that does not work yet.
QueuePage& with_jobs(QueueScene& scene, int count) {
    auto& page = *scene.open().page;
    for (int number = 0; number < count; ++number) {
        page.enqueue({.payload = {name(number), false}, .key = name(number)});
    }
    const auto accepted = static_cast<std::size_t>(count);
    scene.until([&] { return scene.judge.accepted.size() == accepted; });
    return page;
}

/// In one turn, and accepted when this returns.
void enqueue_together(QueueScene& scene, QueuePage& page, const Names& payloads) {
    for (const auto& payload : payloads) page.enqueue(payload);
    const auto& accepted = scene.judge.accepted;
    scene.until([&] {
        return std::all_of(payloads.begin(), payloads.end(),
                           [&](const auto& payload) { return accepted.contains(payload); });
    });
}

/// Rows of jobs that may run.
Names keys_of_jobs(QueueScene& scene) {
    Names keys;
    for (const auto& [key, value] : scene.origin.database().rows(Store::jobs)) {
        if (key.starts_with("q/r//")) keys.push_back(key);
    }
    return keys;
}

/// What heads have recorded as the first jobs of their kinds.
struct Firsts {
    std::set<std::string> seen;
    std::size_t hidden = 0;  // rows that were before them

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
        // All have been accepted before the first is run, in a known order.
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

TEST_CASE("queue: at most once, no job begins twice, whoever dies") {
    int dead = 0;
    for (std::uint64_t seed = 0; seed < queue_seeds; ++seed) {
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
    CHECK(dead > 0);
}

TEST_CASE("queue: short jobs in two slots, some failing, delayed or cancelled, end once each") {
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

TEST_CASE("queue: what is claimed together leaves together, and nothing that runs between it") {
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

TEST_CASE("queue: what fails is tried again, later, and at last a dead letter") {
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

TEST_CASE("queue: a key has one job, which moves to the front; a full queue refuses") {
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
        // The job that fails last finds the queue no longer full.
        CHECK(scene.dead().size() == 1);
        CHECK(scene.effects().size() == 1);
        for (const auto& [payload, count] : scene.effects()) CHECK(count == 2);
        CHECK(scene.judge.outcomes.size() == 1);
        CHECK(scene.judge.begun.size() == 2);
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

TEST_CASE("queue: after a failure it pauses until it is asked again") {
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

TEST_CASE("queue: on a full disk what does not fit fails, and what was done beside it is done") {
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

TEST_CASE("queue: a failure that does not fit either is nobody else's, and comes when it fits") {
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
        CHECK(scene.judge.outcomes.size() == 4);  // what was claimed with it
        CHECK(scene.judge.outcomes.contains("job4"));
        scene.origin.database().set_quota(std::nullopt);
        scene.until([&] { return scene.all_settled() && scene.judge.outcomes.size() == 8; });
        CHECK(scene.dead() == std::map<std::string, int>{{"job3", 1}});
        CHECK(scene.judge.begun["job4"] == 1);
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

TEST_CASE("queue: however many delayed jobs nobody does, they hold up no other") {
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

TEST_CASE("queue: a job that is claimed ahead takes what is newer, and moves to the front") {
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

TEST_CASE("queue: of a job that is asked for again while others do it, one payload counts") {
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
            // One that comes when the job is done is another.
            CHECK(count(name(number)) <= 1);
            CHECK(count(name(number) + "+") <= 1);
            CHECK(count(name(number)) + count(name(number) + "+") >= 1);
            newer += count(name(number)) == 0 ? 1 : 0;
        }
        CHECK(static_cast<int>(scene.judge.most_running) <= scene.options.concurrency);
    }
    CHECK(newer > 0);
}

TEST_CASE("queue: of a running job that was asked for twice again, the newest payload counts") {
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
        // It was claimed ahead: it moves, and what runs will count for nothing. Meanwhile its slot
        // still names its old position.
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

TEST_CASE("queue: at most kinds_max kinds are accepted, whatever was there before") {
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

TEST_CASE("queue: it is not idle in a tab that still runs what was cancelled") {
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

TEST_CASE("queue: rows that cannot be read are quarantined, and all other jobs are done") {
    for (const bool head_too : {false, true}) {
        CAPTURE(head_too);
        QueueScene scene(1);
        auto& page = *scene.open().page;
        enqueue_together(scene, page, {"a"});
        enqueue_together(scene, page, {"b", "c", "d"});
        enqueue_together(scene, page, {"e", "f"});
        auto& database = scene.origin.database();
        const auto keys = keys_of_jobs(scene);
        REQUIRE(keys.size() == 3);
        database.overwrite(Store::jobs, keys[1], lab::StoredValue{"?", false});
        if (head_too) database.overwrite(Store::jobs, "q/h", lab::StoredValue{"", true});
        bool idle = false;
        page.when_idle([&] { idle = true; });
        page.work();
        // It knows how many there are, although it does not know how many it lost.
        scene.until([&] { return scene.all_settled() && page.queue().count() == 3; });
        CHECK(scene.judge.order == Names{"a", "e", "f"});
        CHECK(page.notices.size() >= (head_too ? 2 : 1));
    }
}

TEST_CASE(
    "queue: jobs that come together share rows, and are still claimed, run and settled each") {
    std::size_t rows_max = 0;
    for (std::uint64_t seed = 0; seed < queue_seeds; ++seed) {
        CAPTURE(seed);
        const bool lifo = seed % 2 == 1;
        QueueScene scene(
            seed, {.concurrency = 1 + static_cast<int>(seed % 3), .lifo = lifo, .back_off_ms = 2},
            {.longest_ms = 9, .slow_one_in = 9, .failures = seed % 4 == 0 ? 1 : 0},
            std::make_unique<TimeLastChooser>(seed));
        Names names;
        for (int number = 0; number < 150; ++number) names.push_back(name(number));
        for (int i = 0; i < 3; ++i) scene.open();
        enqueue_together(scene, *scene.members[0].page, names);
        CHECK(keys_of_jobs(scene).size() == 3);
        for (const auto& member : scene.members) member.page->work();
        scene.until([&] {
            rows_max = std::max(rows_max, keys_of_jobs(scene).size());
            return scene.judge.order.size() > 70;
        });
        scene.origin.kill(*scene.members[1].tab);
        finish(scene);
        CHECK(scene.effects().size() == 150);
        if (scene.options.concurrency > 1 || seed % 4 == 0) continue;
        if (lifo) std::reverse(names.begin(), names.end());
        Names begun;
        for (const auto& payload : scene.judge.order) {
            if (std::find(begun.begin(), begun.end(), payload) == begun.end())
                begun.push_back(payload);
        }
        CHECK(begun == names);
    }
    CHECK(rows_max > 3);
}

TEST_CASE("queue: a batch is parsed as it was formatted, and nothing else is accepted") {
    std::vector<Job> jobs;
    for (int number = 0; number < 5; ++number) {
        Job job;
        job.id = "born-" + std::to_string(20 + number);
        job.kind = "a/kind";
        job.priority = 3;
        job.rank = number - 2;
        job.tabs = {"tab", "other"};
        job.payload.text = std::string(static_cast<std::size_t>(number), ';') + "7;";
        jobs.push_back(job);
    }
    auto falling = jobs;
    for (std::size_t i = 0; i < falling.size(); ++i) falling[i].id = jobs[4 - i].id;
    for (const auto& batch : {jobs, falling}) {
        CHECK(batch_of(batch) == 5);
        const auto text = format_jobs(batch);
        CHECK(parse_jobs(text) == batch);
        for (const auto& other : {text + ";", text + "x", text.substr(0, text.size() - 1)}) {
            CHECK(parse_jobs(other).empty());
        }
    }
    const auto differs = [&](auto change) {
        auto batch = jobs;
        change(batch[2]);
        return batch_of(batch);
    };
    CHECK(differs([](Job& job) { job.key = "key"; }) == 2);
    CHECK(differs([](Job& job) { job.payload.by_value = true; }) == 2);
    CHECK(differs([](Job& job) { job.attempts = 1; }) == 2);
    CHECK(differs([](Job& job) { job.due_ms = 1; }) == 2);
    CHECK(differs([](Job& job) { job.id = "born-21"; }) == 2);
    CHECK(differs([](Job& job) { job.payload.text.assign(batch_bytes_max + 1, 'x'); }) == 2);
    for (const auto* text :
         {"1;1;born-1;;;0;0;0;0;0;0;0;0;;;1;a", "1;2;born-1;;;0;0;0;0;0;0;0;0;;;1;a",
          "1;2;born-1;key;;0;0;0;0;0;0;0;0;;;1;a1;b", "1;-2;born-1;;;0;0;0;0;0;0;0;0;;;1;a1;b",
          "1;02;born-1;;;0;0;0;0;0;0;0;0;;;1;a1;b", "1;2;born-1;;;0;0;4;0;0;0;0;0;;;1;a1;b"}) {
        CAPTURE(text);
        CHECK(parse_jobs(text).empty());
    }
    CHECK(parse_jobs("1;2;born-1;;;0;0;0;0;0;0;0;0;;;1;a1;b").size() == 2);
}

TEST_CASE("queue: what a spoilt head hides is found all the same") {
    QueueScene scene(1);
    auto& page = *scene.open().page;
    page.work();
    page.enqueue("first");
    scene.until([&] { return scene.judge.outcomes.size() == 1; });
    const auto paused = page.pause(true);
    scene.until([&] { return *paused; });
    for (const auto* payload : {"a", "b", "c"}) page.enqueue(payload);
    scene.until([&] { return scene.judge.accepted.size() == 4; });
    auto& database = scene.origin.database();
    auto head = parse_queue_head(database.rows(Store::jobs).at("q/h").text);
    REQUIRE(head);
    head->kind("")->first = std::string(order_digits, '9');
    database.overwrite(Store::jobs, "q/h", lab::StoredValue{format_queue_head(*head), false});
    page.pause(false);
    scene.until([&] { return scene.all_settled(); });
    CHECK(scene.judge.order == Names{"first", "a", "b", "c"});
}

}  // namespace tabacus::test
