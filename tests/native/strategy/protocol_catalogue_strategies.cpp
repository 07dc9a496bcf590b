// Properties of single strategies: their options, their folding, and their corrupt records. And the
// faults of the articles' code, each of which breaks what the faithful strategy keeps.
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>

#include "lab/article_faults.hpp"
#include "protocol/strategy/eventual.hpp"
#include "protocol/strategy/lamport.hpp"
#include "protocol_catalogue.hpp"
#include "seeds.hpp"

namespace tabacus::test {
namespace {

using lab::ArticleFault;
using lab::StorageModel;

std::string in_root(std::string_view key) { return "tabacus/test/" + std::string(key); }

std::size_t keys_with(CatalogueScene& scene, const std::string& prefix) {
    std::size_t count = 0;
    for (const auto& [key, value] : scene.origin.storage().values()) {
        if (key.starts_with(prefix)) ++count;
    }
    return count;
}

bool warned(const CatalogueScene::Member& member) {
    return std::any_of(member.page->notices.begin(), member.page->notices.end(),
                       [](const Notice& notice) { return notice.code == "corrupt-record"; });
}

struct Run {
    StorageModel model;
    int tabs = 2;
    int adds = 1;
    bool time_last = false;
};

/// Returns in how many of all seeds an increment is refused, or the final value is wrong.
std::uint64_t broken(const Counting::Make& make, Run run) {
    std::uint64_t count = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CatalogueScene scene(make, run.model, seed,
                             run.time_last ? std::make_unique<TimeLastChooser>(seed) : nullptr);
        for (int i = 0; i < run.tabs; ++i) scene.count(scene.open(), run.adds);
        const auto value = scene.settled();
        const bool refused =
            std::any_of(scene.members.begin(), scene.members.end(),
                        [](const auto& member) { return !member.page->errors.empty(); });
        if (refused || value != scene.attempted()) ++count;
    }
    return count;
}

Counting::Make with(ArticleFault fault) {
    return [fault](const CounterLocation& location) { return lab::make_faulty(fault, location); };
}

std::unique_ptr<StoredCounter> faithful_lamport(const CounterLocation& location) {
    return std::make_unique<LamportCounter>(location, LamportTimes{});
}

std::unique_ptr<StoredCounter> faithful_eventual(const CounterLocation& location) {
    return std::make_unique<EventualCounter>(location);
}

}  // namespace

TEST_CASE("article fault: calling the retry instead of passing it does not wait", "[catalogue]") {
    const Run run{.model = StorageModel::interleaved, .adds = 2, .time_last = true};
    CHECK(broken(faithful_lamport, run) == 0);
    CHECK(broken(with(ArticleFault::retry_called), run) > 0);
}

TEST_CASE("article fault: the lock of a tab that opened long ago is stolen at once",
          "[catalogue]") {
    const auto aged = [](bool faulty, std::uint64_t seed) {
        CatalogueScene scene(
            [faulty](const CounterLocation& location) -> std::unique_ptr<StoredCounter> {
                if (faulty) return lab::make_faulty(ArticleFault::birth_as_age, location);
                return faithful_lamport(location);
            },
            StorageModel::interleaved, seed, std::make_unique<TimeLastChooser>(seed));
        scene.open();
        scene.open();
        scene.origin.run();
        scene.origin.clock().jump(6'000);
        for (const auto& member : scene.members) scene.count(member, 2);
        return scene.settled() == 4;
    };
    bool stolen = false;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CHECK(aged(false, seed));
        stolen = stolen || !aged(true, seed);
    }
    CHECK(stolen);
}

TEST_CASE("article fault: news that equals the last news is not received", "[catalogue]") {
    const Run run{.model = StorageModel::interleaved, .tabs = 3};
    CHECK(broken(with(ArticleFault::equal_writes), run) > broken(faithful_eventual, run));
}

TEST_CASE("article fault: if a baseline of zero counts as none, the first news is lost",
          "[catalogue]") {
    const Run run{.model = StorageModel::cached};
    CHECK(broken(faithful_eventual, run) == 0);
    CHECK(broken(with(ArticleFault::zero_is_no_baseline), run) > 0);
}

TEST_CASE("lamport takes a lock whose owner died, once it is older than forceAfter",
          "[catalogue]") {
    for (const double force_after_ms : {1'000.0, 5'000.0}) {
        CounterOptions options{Strategy::lamport};
        options.times.force_after = force_after_ms;
        CatalogueScene scene(options, StorageModel::mutexed, 1);
        const auto member = scene.open();
        const auto start_ms = scene.origin.clock().now_ms();
        const auto id = std::to_string(static_cast<std::int64_t>(start_ms)) + "_dead";
        scene.origin.storage().overwrite(in_root("lamport/c/y"), id);
        scene.count(member, 1);
        CHECK(scene.settled() == 1);
        const auto waited_ms = scene.origin.clock().now_ms() - start_ms;
        CHECK(waited_ms > force_after_ms);
        CHECK(waited_ms <= force_after_ms + 100);
    }
}

TEST_CASE("lamport does not wait for an owner whose record cannot be read", "[catalogue]") {
    CatalogueScene scene(CounterOptions{Strategy::lamport}, StorageModel::mutexed, 1);
    const auto member = scene.open();
    scene.origin.storage().overwrite(in_root("lamport/c/y"), "a stranger");
    scene.count(member, 1);
    CHECK(scene.settled() == 1);
    CHECK(keys_with(scene, in_root("lamport/c/y")) == 0);
}

TEST_CASE("lamport waits its back-off while another owns the lock", "[catalogue]") {
    CounterOptions options{Strategy::lamport};
    options.times.back_off = 700;
    CatalogueScene scene(options, StorageModel::mutexed, 1);
    const auto member = scene.open();
    const auto start_ms = scene.origin.clock().now_ms();
    const auto id = std::to_string(static_cast<std::int64_t>(start_ms)) + "_other";
    scene.origin.storage().overwrite(in_root("lamport/c/y"), id);
    scene.count(member, 1);
    scene.origin.step();
    scene.origin.storage().overwrite(in_root("lamport/c/y"), std::nullopt);
    CHECK(scene.settled() == 1);
    CHECK(scene.origin.clock().now_ms() - start_ms == 700);
}

TEST_CASE("log folds the entries of each tab that is gone into one record", "[catalogue]") {
    for (const bool locks : {true, false}) {
        for (const auto model :
             {StorageModel::mutexed, StorageModel::interleaved, StorageModel::cached}) {
            CAPTURE(locks, static_cast<int>(model));
            CounterOptions options{Strategy::log};
            options.times.fold_after = 500;
            CatalogueScene scene(options, model, 11);
            for (int i = 0; i < 3; ++i) scene.count(scene.open({.locks = locks}), 6);
            scene.origin.run();
            for (const auto& member : scene.members) scene.origin.kill(*member.tab);
            scene.origin.run();
            scene.origin.clock().jump(10'000);
            const auto last = scene.open({.locks = locks});
            scene.count(last, 1);
            scene.origin.run();
            CHECK(keys_with(scene, in_root("log/c/fold/")) == 3);
            CHECK(keys_with(scene, in_root("log/c/entry/")) == 1);
            CHECK(scene.read(last) == 19);
            CHECK(scene.settled() == 19);
        }
    }
}

TEST_CASE("log: folding during counting loses nothing and counts nothing twice", "[catalogue]") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        CounterOptions options{Strategy::log};
        options.times.fold_after = 1;  // without locks, entries of living tabs are folded, too
        CatalogueScene scene(options, static_cast<StorageModel>(seed % 3), seed);
        for (int i = 0; i < 3; ++i) scene.count(scene.open({.locks = seed % 2 == 0}), 5);
        scene.steps(scene.origin.random().below(200));
        const auto frozen = scene.members[seed % 3];
        scene.origin.freeze(*frozen.tab);
        scene.origin.clock().jump(60'000);
        scene.steps(scene.origin.random().below(200));
        scene.origin.thaw(*frozen.tab);
        CHECK(scene.settled() == 15);
        for (const auto& member : scene.members) {
            CHECK(member.page->counter().value() == 15);
            CHECK(scene.read(member) == 15);
        }
    }
}

TEST_CASE("log holds no lock while its page is in the back/forward cache", "[catalogue]") {
    CatalogueScene scene(CounterOptions{Strategy::log}, StorageModel::cached, 5);
    const auto member = scene.open();
    scene.count(member, 2);
    scene.origin.run();
    REQUIRE(scene.origin.page_hide(*member.tab));
    scene.origin.run();
    scene.origin.page_show(*member.tab);
    scene.count(member, 1);
    CHECK(scene.settled() == 3);
}

TEST_CASE("batched writes one delta per interval", "[catalogue]") {
    CounterOptions options{Strategy::batched};
    options.times.interval = 250;
    CatalogueScene scene(options, StorageModel::cached, 2, std::make_unique<TimeLastChooser>(2));
    const auto member = scene.open();
    CHECK(scene.read(member) == 0);
    const auto start_ms = scene.origin.clock().now_ms();
    for (int i = 0; i < 40; ++i) {
        scene.post(member, [&scene](Counting& page) {
            run_in(
                scene.scope, page.counter().add(1), [](std::int64_t) {},
                [](const std::exception_ptr&) {});
        });
    }
    scene.origin.run();
    CHECK(scene.origin.database().rows(Store::deltas).size() == 1);
    CHECK(scene.origin.clock().now_ms() - start_ms == 250);
    CHECK(scene.settled() == 40);
}

TEST_CASE("batched loses the increments of the last interval, and none that was flushed",
          "[catalogue]") {
    CatalogueScene scene(CounterOptions{Strategy::batched}, StorageModel::cached, 2);
    const auto member = scene.open();
    scene.count(member, 3);
    scene.origin.run();
    scene.post(member, [&scene](Counting& page) {
        run_in(
            scene.scope, page.counter().add(5), [](std::int64_t value) { CHECK(value == 8); },
            [](const std::exception_ptr&) {});
    });
    scene.origin.run_until([&] { return member.page->counter().value() == 8; });
    scene.origin.kill(*member.tab);
    CHECK(scene.settled() == 3);
}

TEST_CASE("batched writes the increments that it gathered when its page is hidden or left",
          "[catalogue]") {
    for (const bool left : {false, true}) {
        CAPTURE(left);
        CatalogueScene scene(CounterOptions{Strategy::batched}, StorageModel::cached, 2);
        const auto member = scene.open();
        scene.count(member, 3);
        scene.origin.run();
        scene.post(member, [&scene](Counting& page) {
            run_in(
                scene.scope, page.counter().add(5), [](std::int64_t) {},
                [](const std::exception_ptr&) {});
        });
        scene.origin.run_until([&] { return member.page->counter().value() == 8; });
        if (left) {
            REQUIRE(scene.origin.page_hide(*member.tab));
        } else {
            scene.origin.hide(*member.tab);
        }
        const auto other = scene.open();
        std::size_t steps = 0;
        scene.post(other, [](Counting& page) { page.read(); });
        scene.origin.run_until([&] { return other.page->last_read || ++steps > 500; });
        CHECK(other.page->last_read == 8);
    }
}

TEST_CASE("batched keeps increments that a full store refused, and writes them later",
          "[catalogue]") {
    CatalogueScene scene(CounterOptions{Strategy::batched}, StorageModel::cached, 4);
    const auto member = scene.open();
    scene.count(member, 1);
    scene.origin.run();
    scene.origin.database().set_quota(0);
    scene.count(member, 2);
    scene.steps(60);
    CHECK(member.page->errors == std::vector{ErrorCode::quota_exceeded});
    CHECK(member.page->counter().value() == 3);
    scene.origin.database().set_quota(std::nullopt);
    scene.post(member, [](Counting& page) { page.flush(); });
    CHECK(scene.settled() == 3);
}

TEST_CASE("deltas counts again once its sum is older than the threshold", "[catalogue]") {
    CounterOptions options{Strategy::deltas};
    options.times.threshold = 2'000;
    CatalogueScene scene(options, StorageModel::cached, 6);
    const auto reader = scene.open();
    const auto writer = scene.open();
    CHECK(scene.read(reader) == 0);
    scene.count(writer, 4);
    CHECK(scene.read(reader) == 0);
    scene.origin.clock().jump(2'001);
    CHECK(scene.read(reader) == 4);
}

TEST_CASE("deltas folds its rows", "[catalogue]") {
    for (const auto strategy : {Strategy::deltas, Strategy::batched}) {
        CounterOptions options{strategy};
        options.times.threshold = 0;
        CatalogueScene scene(options, StorageModel::cached, 6);
        const auto member = scene.open();
        for (int i = 0; i < 70; ++i) {
            scene.count(member, 1);
            scene.origin.run();
        }
        CHECK(scene.settled() == 70);
        CHECK(scene.origin.database().rows(Store::deltas).size() < 32);
    }
}

TEST_CASE("deltas: a tab's first count folds what tabs have left", "[catalogue]") {
    for (const auto strategy : {Strategy::deltas, Strategy::batched}) {
        CatalogueScene scene(CounterOptions{strategy}, StorageModel::cached, 6);
        for (int i = 0; i < 5; ++i) {
            const auto member = scene.open();
            scene.count(member, 3);
            scene.origin.run();
            scene.origin.kill(*member.tab);
            CHECK(scene.origin.database().rows(Store::deltas).size() <= 3);
        }
        CHECK(scene.settled() == 15);
        CHECK(scene.origin.database().rows(Store::deltas).empty());
    }
}

TEST_CASE("deltas without a threshold reads exactly", "[catalogue]") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        CounterOptions options{Strategy::deltas};
        options.times.threshold = 0;
        CatalogueScene scene(options, StorageModel::cached, seed);
        for (int i = 0; i < 3; ++i) scene.count(scene.open(), 14);
        const auto reader = scene.open();
        for (int i = 0; i < 20; ++i) {
            const auto from = scene.judge.begin_read();
            reader.page->last_read.reset();
            scene.post(reader, [](Counting& page) { page.read(); });
            scene.origin.run_until([&] { return reader.page->last_read.has_value(); });
            scene.judge.end_read(from, *reader.page->last_read, "the reader");
        }
        CHECK(scene.settled() == 42);
        CHECK(scene.judge.failures().empty());
    }
}

TEST_CASE("optimistic: an add that lost writes all increments gathered meanwhile at once",
          "[catalogue]") {
    CatalogueScene scene(CounterOptions{Strategy::optimistic}, StorageModel::cached, 8);
    const auto member = scene.open();
    for (int i = 0; i < 50; ++i) scene.count(member, 1);
    scene.origin.run();
    const auto operations = scene.origin.database().operations();
    CHECK(operations < 50);
    CHECK(scene.settled() == 50);
}

TEST_CASE("a record that cannot be read is quarantined with a warning, and counting goes on",
          "[catalogue]") {
    struct Case {
        Strategy strategy;
        std::string key;  // a key of localStorage, or empty
        Store store;      // the store that has `row`
        std::string row;
    };
    const std::vector<Case> cases{
        {Strategy::naive, in_root("naive/c"), Store::meta, ""},
        {Strategy::locked, in_root("locked/c"), Store::meta, ""},
        {Strategy::lamport, in_root("lamport/c"), Store::meta, ""},
        {Strategy::eventual, in_root("eventual/c/plus"), Store::meta, ""},
        {Strategy::log, in_root("log/c/entry/x/1"), Store::meta, ""},
        {Strategy::log, in_root("log/c/what/x/1"), Store::meta, ""},
        {Strategy::transactional, "", Store::counters, "c"},
        {Strategy::optimistic, "", Store::counters, "optimistic/c"},
        {Strategy::deltas, "", Store::counters, "deltas/c"},
        {Strategy::deltas, "", Store::deltas, "deltas/c/x"},
        {Strategy::batched, "", Store::counters, "batched/c"},
        {Strategy::batched, "", Store::deltas, "batched/c/x"},
    };
    for (const auto& [strategy, key, store, row] : cases) {
        for (const bool foreign : {false, true}) {
            CAPTURE(strategy_name(strategy), key, row, foreign);
            CatalogueScene scene(CounterOptions{strategy}, StorageModel::cached, 9);
            const auto member = scene.open();
            if (row.empty()) {
                if (foreign) continue;
                scene.origin.storage().overwrite(key, "1;01;x");
            } else {
                scene.origin.database().overwrite(store, row,
                                                  lab::StoredValue{foreign ? "" : "no", foreign});
            }
            scene.count(member, 2);
            scene.origin.run();
            CHECK(scene.settled() == 2);
            CHECK(member.page->errors.empty());
            CHECK(warned(member));
            const auto quarantined = keys_with(scene, key + "/aside") +
                                     keys_with(scene, in_root("log-aside")) +
                                     scene.origin.database().rows(Store::quarantine).size();
            CHECK(quarantined == 1);
        }
    }
}

TEST_CASE("hostile news is ignored", "[catalogue]") {
    CatalogueScene scene(CounterOptions{Strategy::eventual}, StorageModel::cached, 9);
    const auto member = scene.open();
    const auto stranger = scene.open();
    scene.origin.run();
    for (const auto* news : {"", "1", "1;0", "1;0;-5;a", "1;-1;5;a", "2;0;5;a", "1;0;5;a;b", "x"}) {
        scene.post(stranger, [&scene, news = std::string(news), stranger](Counting&) {
            run_in(
                scene.scope,
                [](lab::LabTab& tab, std::string text) -> Task<void> {
                    co_await tab.storage().set(in_root("eventual/c/plus/news"), text);
                }(*stranger.tab, news),
                [] {}, [](const std::exception_ptr&) {});
        });
    }
    scene.origin.run();
    CHECK(member.page->counter().value() == 0);
    CHECK(scene.settled() == 0);
}

TEST_CASE("closing writes the increments that are gathered", "[catalogue]") {
    for (const auto strategy : all_strategies()) {
        CAPTURE(strategy_name(strategy));
        CatalogueScene scene(CounterOptions{strategy}, StorageModel::cached, 9);
        const auto member = scene.open();
        scene.post(member, [&scene](Counting& page) {
            run_in(
                scene.scope, page.counter().add(3), [](std::int64_t) {},
                [](const std::exception_ptr&) {});
        });
        scene.origin.run_until([&] { return member.page->counter().value() == 3; });
        scene.post(member, [](Counting& page) { page.close(); });
        scene.origin.run();
        CHECK(member.page->pending == 0);
        CHECK(member.page->errors.empty());
        CHECK(scene.origin.page_hide(*member.tab));
        CHECK(scene.settled() == 3);
    }
}

}  // namespace tabacus::test
