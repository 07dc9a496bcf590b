// The rows of a queue: unreadable ones, rows that several jobs share, and a head that is corrupt.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "protocol/common/concat.hpp"
#include "queue_workload.hpp"

namespace tabacus::test {
namespace {

/// Enqueues jobs in one turn of the event loop. All are accepted when this returns.
void enqueue_together(QueueScene& scene, QueuePage& page, const Names& payloads) {
    for (const auto& payload : payloads) page.enqueue(payload);
    const auto& accepted = scene.judge.accepted;
    scene.until([&] {
        return std::all_of(payloads.begin(), payloads.end(),
                           [&](const auto& payload) { return accepted.contains(payload); });
    });
}

/// Returns the keys of the rows of jobs of the default kind that may run.
Names keys_of_jobs(QueueScene& scene) {
    Names keys;
    for (const auto& [key, value] : scene.origin.database().rows(Store::jobs)) {
        if (key.starts_with("q/r//")) keys.push_back(key);
    }
    return keys;
}

}  // namespace

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
        // The queue counts its three effects, although it does not know how many jobs were lost.
        scene.until([&] { return scene.all_settled() && page.queue().count() == 3; });
        CHECK(scene.judge.order == Names{"a", "e", "f"});
        CHECK(page.notices.size() >= (head_too ? 2 : 1));
    }
}

TEST_CASE(
    "queue: jobs that are enqueued together share rows, and each is claimed, run and settled") {
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

TEST_CASE("queue: jobs that a corrupt head hides are found all the same") {
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
