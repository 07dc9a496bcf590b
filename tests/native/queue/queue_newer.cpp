// Queues beside a tab of a newer version: callers learn that it has taken the queue, other outcomes
// are not delayed, and workers do not poll.
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <optional>
#include <string>

#include "lab/rules/memory_database.hpp"
#include "protocol/common/names.hpp"
#include "queue_scene.hpp"
#include "time_last_chooser.hpp"

namespace tabacus::test {
namespace {

using lab::StoredValue;

struct NewerScene : QueueScene {
    NewerScene() : QueueScene(1, {}, {.effects = 0}, std::make_unique<TimeLastChooser>(1)) {}
};

/// Rewrites all rows of the queue as a newer version does.
void raise_rows(QueueScene& scene) {
    auto& database = scene.origin.database();
    for (const auto& [key, value] : lab::StoreRows(database.rows(Store::jobs))) {
        if (!value.text.starts_with("1;")) continue;
        database.overwrite(Store::jobs, key, StoredValue{"2" + value.text.substr(1)});
    }
}

}  // namespace

TEST_CASE("queue: a caller that waits for an idle queue learns that a newer version has taken it") {
    NewerScene scene;
    const auto first = scene.open();
    const auto asked = first.page->enqueue("job");
    scene.until([&] { return asked->ended; });
    std::optional<ErrorCode> error;
    first.page->scope().spawn([](Queue& queue, std::optional<ErrorCode>& failure) -> Task<void> {
        const auto ended = co_await attempt(queue.idle());
        if (!ended) failure = ended.error().code();
    }(first.page->queue(), error));
    scene.pass(100);
    CHECK_FALSE(error);
    raise_rows(scene);
    scene.pass(3'000);
    CHECK(error == ErrorCode::version_mismatch);
}

TEST_CASE("queue: a tab that works sleeps once a newer version has taken the queue") {
    NewerScene scene;
    const auto maker = scene.open();
    const auto asked = maker.page->enqueue("job");
    scene.until([&] { return asked->ended; });
    raise_rows(scene);
    const auto worker = scene.open();
    worker.page->work();
    scene.origin.kill(*maker.tab);
    scene.origin.post_foreign(tabacus::Names("test").queues_channel(),
                              format_commit_notice("q", "x"));
    scene.pass(60'000);
    const auto before = scene.origin.steps();
    scene.pass(600'000);
    CHECK(scene.origin.steps() == before);
}

TEST_CASE("queue: outcomes of a newer version do not delay those that this one can read") {
    NewerScene scene;
    const auto maker = scene.open();
    const auto asked = maker.page->enqueue("job");
    scene.until([&] { return asked->ended; });
    scene.origin.freeze(*maker.tab);
    const auto worker = scene.open();
    worker.page->work();
    auto& database = scene.origin.database();
    std::string prefix;
    scene.until([&] {
        for (const auto& [key, value] : database.rows(Store::jobs)) {
            if (key.starts_with("q/o/")) prefix = key.substr(0, key.rfind('/') + 1);
        }
        return !prefix.empty();
    });
    REQUIRE_FALSE(prefix.empty());
    for (int other = 1'000; other < 1'600; ++other) {
        database.overwrite(Store::jobs, prefix + "!" + std::to_string(other), StoredValue{"2;x"});
    }
    scene.origin.thaw(*maker.tab);
    scene.pass(10'000);
    CHECK(scene.judge.outcomes["job"] == 1);
}

}  // namespace tabacus::test
