// Jobs with keys that were enqueued together: the rows that they share, and the pages of their
// keys.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <set>
#include <string>
#include <vector>

#include "protocol/queue/key_pages.hpp"
#include "queue_workload.hpp"

namespace tabacus::test {
namespace {

/// Returns the keys of the queue's rows that begin with this, without what they begin with.
std::vector<std::string> rows_of(QueueScene& scene, const std::string& part) {
    std::vector<std::string> keys;
    const auto prefix = "q/" + part;
    for (const auto& [key, value] : scene.origin.database().rows(Store::jobs)) {
        if (key.starts_with(prefix)) keys.push_back(key.substr(prefix.size()));
    }
    return keys;
}

/// Enqueues these jobs in one turn of the event loop. Each has its payload as its key.
void enqueue_keyed(QueueScene& scene, QueuePage& page, const std::vector<std::string>& names) {
    std::vector<std::shared_ptr<QueuePage::Asked>> asked;
    for (const auto& one : names) {
        asked.push_back(page.enqueue({.payload = {one, false}, .key = one}));
    }
    scene.until([&] {
        return std::all_of(asked.begin(), asked.end(), [](const auto& of) { return of->ended; });
    });
}

/// Returns so many names in an order that is not that of texts.
std::vector<std::string> scattered_names(std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) {
        names.push_back("é" + std::to_string(i * 7'919 % 1'009) + "/;%");
    }
    return names;
}

}  // namespace

TEST_CASE(
    "queue: many jobs with keys have few rows, and all of these are gone when they are done") {
    QueueScene scene(1, {}, {.longest_ms = 0, .effects = 0});
    auto& page = *scene.open().page;
    const auto names = scattered_names(400);
    enqueue_keyed(scene, page, {names.begin(), names.begin() + 200});
    enqueue_keyed(scene, page, {names.begin() + 200, names.end()});
    CHECK(rows_of(scene, "k/").empty());
    CHECK(rows_of(scene, "b//").size() <= 8);
    CHECK(rows_of(scene, "i/").size() <= 400 / page_keys_max * 2);
    page.work();
    scene.until([&] { return scene.all_settled(); });
    CHECK(scene.judge.order == names);
    CHECK(rows_of(scene, "i/").empty());
}

TEST_CASE("queue: each key of many has one job, and cancel() and retry() find it") {
    QueueScene scene(1, {}, {.longest_ms = 0, .effects = 0});
    auto& page = *scene.open().page;
    auto& other = *scene.open().page;
    const auto names = scattered_names(300);
    enqueue_keyed(scene, page, names);
    CHECK(page.queue().count() == 300);
    const auto again = other.enqueue({.payload = {"newer", false}, .key = names[150]});
    const auto stranger = other.enqueue({.payload = {"last", false}, .key = "é/"});
    std::set<std::string> cancelled;
    for (const auto at : {0, 63, 64, 299}) {
        other.cancel(names[static_cast<std::size_t>(at)], cancelled);
    }
    other.cancel("é", cancelled);
    scene.until([&] { return again->ended && stranger->ended && cancelled.size() == 4; });
    CHECK(again->joined);
    CHECK_FALSE(stranger->joined);
    page.work();
    scene.until([&] { return scene.all_settled(); });
    CHECK(scene.judge.order.size() == 297);
    CHECK(scene.judge.order.front() == "newer");
    CHECK(scene.judge.order.back() == "last");
    CHECK(rows_of(scene, "i/").empty());
    CHECK(rows_of(scene, "k/").empty());
}

TEST_CASE("queue: keys that are far apart have rows of their own, and are found beside pages") {
    QueueScene scene(1, {}, {.longest_ms = 0, .effects = 0});
    auto& page = *scene.open().page;
    const auto names = scattered_names(1'000);
    enqueue_keyed(scene, page, {names.begin(), names.begin() + 960});
    CHECK(rows_of(scene, "k/").empty());
    enqueue_keyed(scene, page, {names.begin() + 960, names.end()});
    CHECK(rows_of(scene, "k/").size() == 40);
    enqueue_keyed(scene, page, names);
    CHECK(page.queue().count() == 1'000);
    page.work();
    scene.until([&] { return scene.all_settled(); });
    CHECK(scene.judge.order.size() == 1'000);
    CHECK(rows_of(scene, "i/").empty());
    CHECK(rows_of(scene, "k/").empty());
}

TEST_CASE("queue: a page of keys that cannot be read is quarantined, and its jobs are done") {
    QueueScene scene(1, {}, {.longest_ms = 0, .effects = 0});
    auto& page = *scene.open().page;
    const auto names = scattered_names(100);
    enqueue_keyed(scene, page, names);
    const auto pages = rows_of(scene, "i/");
    scene.origin.database().overwrite(Store::jobs, "q/i/" + pages[0],
                                      lab::StoredValue{"1;key", false});
    page.work();
    scene.until([&] { return scene.all_settled(); });
    CHECK(scene.judge.order == names);
    CHECK(page.notices.size() == 1);
    CHECK(rows_of(scene, "i/").empty());
}

}  // namespace tabacus::test
