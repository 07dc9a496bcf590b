// What is each strategy's own: its options, its housekeeping, its corrupt records, and the faults
// of the articles' code, each seen to break what the faithful strategy keeps.
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

std::size_t keys_with(Hall& hall, const std::string& prefix) {
    std::size_t count = 0;
    for (const auto& [key, value] : hall.origin.storage().values()) {
        if (key.starts_with(prefix)) ++count;
    }
    return count;
}

bool warned(const Hall::Seat& seat) {
    return std::any_of(seat.page->notices.begin(), seat.page->notices.end(),
                       [](const Notice& notice) { return notice.code == "corrupt-record"; });
}

struct Run {
    StorageModel model;
    int tabs = 2;
    int adds = 1;
    bool punctual = false;
};

/// In how many of all seeds some increment is missing in the end, or refused.
std::uint64_t broken(const Counting::Make& make, Run run) {
    std::uint64_t count = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        Hall hall(make, run.model, seed,
                  run.punctual ? std::make_unique<PunctualChooser>(seed) : nullptr);
        for (int i = 0; i < run.tabs; ++i) hall.count(hall.open(), run.adds);
        const auto value = hall.settled();
        const bool refused =
            std::any_of(hall.seats.begin(), hall.seats.end(),
                        [](const auto& seat) { return !seat.page->errors.empty(); });
        if (refused || value != hall.attempted()) ++count;
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
    const Run run{.model = StorageModel::interleaved, .adds = 2, .punctual = true};
    CHECK(broken(faithful_lamport, run) == 0);
    CHECK(broken(with(ArticleFault::retry_called), run) > 0);
}

TEST_CASE("article fault: the lock of a tab that opened long ago is stolen at once",
          "[catalogue]") {
    const auto aged = [](bool faulty, std::uint64_t seed) {
        Hall hall(
            [faulty](const CounterLocation& location) -> std::unique_ptr<StoredCounter> {
                if (faulty) return lab::make_faulty(ArticleFault::birth_as_age, location);
                return faithful_lamport(location);
            },
            StorageModel::interleaved, seed, std::make_unique<PunctualChooser>(seed));
        hall.open();
        hall.open();
        hall.origin.run();
        hall.origin.clock().jump(6'000);
        for (const auto& seat : hall.seats) hall.count(seat, 2);
        return hall.settled() == 4;
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

TEST_CASE("article fault: with a baseline of zero taken for none, the first news is lost",
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
        Hall hall(options, StorageModel::mutexed, 1);
        const auto seat = hall.open();
        const auto start_ms = hall.origin.clock().now_ms();
        const auto id = std::to_string(static_cast<std::int64_t>(start_ms)) + "_dead";
        hall.origin.storage().overwrite(in_root("lamport/c/y"), id);
        hall.count(seat, 1);
        CHECK(hall.settled() == 1);
        const auto waited_ms = hall.origin.clock().now_ms() - start_ms;
        CHECK(waited_ms > force_after_ms);
        CHECK(waited_ms <= force_after_ms + 100);
    }
}

TEST_CASE("lamport does not wait for an owner that nobody can read", "[catalogue]") {
    Hall hall(CounterOptions{Strategy::lamport}, StorageModel::mutexed, 1);
    const auto seat = hall.open();
    hall.origin.storage().overwrite(in_root("lamport/c/y"), "a stranger");
    hall.count(seat, 1);
    CHECK(hall.settled() == 1);
    CHECK(keys_with(hall, in_root("lamport/c/y")) == 0);
}

TEST_CASE("lamport waits its back-off while another owns the lock", "[catalogue]") {
    CounterOptions options{Strategy::lamport};
    options.times.back_off = 700;
    Hall hall(options, StorageModel::mutexed, 1);
    const auto seat = hall.open();
    const auto start_ms = hall.origin.clock().now_ms();
    const auto id = std::to_string(static_cast<std::int64_t>(start_ms)) + "_other";
    hall.origin.storage().overwrite(in_root("lamport/c/y"), id);
    hall.count(seat, 1);
    hall.origin.step();
    hall.origin.storage().overwrite(in_root("lamport/c/y"), std::nullopt);
    CHECK(hall.settled() == 1);
    CHECK(hall.origin.clock().now_ms() - start_ms == 700);
}

TEST_CASE("log folds the entries of tabs that are gone into one record each", "[catalogue]") {
    for (const bool locks : {true, false}) {
        for (const auto model :
             {StorageModel::mutexed, StorageModel::interleaved, StorageModel::cached}) {
            CAPTURE(locks, static_cast<int>(model));
            CounterOptions options{Strategy::log};
            options.times.fold_after = 500;
            Hall hall(options, model, 11);
            for (int i = 0; i < 3; ++i) hall.count(hall.open({.locks = locks}), 6);
            hall.origin.run();
            for (const auto& seat : hall.seats) hall.origin.kill(*seat.tab);
            hall.origin.run();
            hall.origin.clock().jump(10'000);
            const auto last = hall.open({.locks = locks});
            hall.count(last, 1);
            hall.origin.run();
            CHECK(keys_with(hall, in_root("log/c/fold/")) == 3);
            CHECK(keys_with(hall, in_root("log/c/entry/")) == 1);
            CHECK(hall.read(last) == 19);
            CHECK(hall.settled() == 19);
        }
    }
}

TEST_CASE("log: folding and counting at once loses nothing and counts nothing twice",
          "[catalogue]") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        CounterOptions options{Strategy::log};
        options.times.fold_after = 1;  // without locks: also entries of living tabs are folded
        Hall hall(options, static_cast<StorageModel>(seed % 3), seed);
        for (int i = 0; i < 3; ++i) hall.count(hall.open({.locks = seed % 2 == 0}), 5);
        hall.steps(hall.origin.random().below(200));
        const auto frozen = hall.seats[seed % 3];
        hall.origin.freeze(*frozen.tab);
        hall.origin.clock().jump(60'000);
        hall.steps(hall.origin.random().below(200));
        hall.origin.thaw(*frozen.tab);
        CHECK(hall.settled() == 15);
        for (const auto& seat : hall.seats) {
            CHECK(seat.page->counter().value() == 15);
            CHECK(hall.read(seat) == 15);
        }
    }
}

TEST_CASE("log holds no lock while its page is in the back/forward cache", "[catalogue]") {
    Hall hall(CounterOptions{Strategy::log}, StorageModel::cached, 5);
    const auto seat = hall.open();
    hall.count(seat, 2);
    hall.origin.run();
    REQUIRE(hall.origin.page_hide(*seat.tab));
    hall.origin.run();
    hall.origin.page_show(*seat.tab);
    hall.count(seat, 1);
    CHECK(hall.settled() == 3);
}

TEST_CASE("batched writes one delta per interval", "[catalogue]") {
    CounterOptions options{Strategy::batched};
    options.times.interval = 250;
    Hall hall(options, StorageModel::cached, 2, std::make_unique<PunctualChooser>(2));
    const auto seat = hall.open();
    CHECK(hall.read(seat) == 0);
    const auto start_ms = hall.origin.clock().now_ms();
    for (int i = 0; i < 40; ++i) {
        hall.post(seat, [&hall](Counting& page) {
            run_in(
                hall.scope, page.counter().add(1), [](std::int64_t) {},
                [](const std::exception_ptr&) {});
        });
    }
    hall.origin.run();
    CHECK(hall.origin.database().rows(Store::deltas).size() == 1);
    CHECK(hall.origin.clock().now_ms() - start_ms == 250);
    CHECK(hall.settled() == 40);
}

TEST_CASE("batched loses what was gathered in the last interval, and nothing that was flushed",
          "[catalogue]") {
    Hall hall(CounterOptions{Strategy::batched}, StorageModel::cached, 2);
    const auto seat = hall.open();
    hall.count(seat, 3);
    hall.origin.run();
    hall.post(seat, [&hall](Counting& page) {
        run_in(
            hall.scope, page.counter().add(5), [](std::int64_t value) { CHECK(value == 8); },
            [](const std::exception_ptr&) {});
    });
    hall.origin.run_until([&] { return seat.page->counter().value() == 8; });
    hall.origin.kill(*seat.tab);
    CHECK(hall.settled() == 3);
}

TEST_CASE("batched writes what it gathered when its page is hidden or left", "[catalogue]") {
    for (const bool left : {false, true}) {
        CAPTURE(left);
        Hall hall(CounterOptions{Strategy::batched}, StorageModel::cached, 2);
        const auto seat = hall.open();
        hall.count(seat, 3);
        hall.origin.run();
        hall.post(seat, [&hall](Counting& page) {
            run_in(
                hall.scope, page.counter().add(5), [](std::int64_t) {},
                [](const std::exception_ptr&) {});
        });
        hall.origin.run_until([&] { return seat.page->counter().value() == 8; });
        if (left) {
            REQUIRE(hall.origin.page_hide(*seat.tab));
        } else {
            hall.origin.hide(*seat.tab);
        }
        const auto other = hall.open();
        std::size_t steps = 0;
        hall.post(other, [](Counting& page) { page.read(); });
        hall.origin.run_until([&] { return other.page->last_read || ++steps > 500; });
        CHECK(other.page->last_read == 8);
    }
}

TEST_CASE("batched keeps what a full store refused, and warns", "[catalogue]") {
    Hall hall(CounterOptions{Strategy::batched}, StorageModel::cached, 4);
    const auto seat = hall.open();
    hall.count(seat, 1);
    hall.origin.run();
    hall.origin.database().set_quota(0);
    hall.count(seat, 2);
    hall.steps(60);
    CHECK(seat.page->errors == std::vector{ErrorCode::quota_exceeded});
    CHECK(seat.page->counter().value() == 3);
    hall.origin.database().set_quota(std::nullopt);
    hall.post(seat, [](Counting& page) { page.flush(); });
    CHECK(hall.settled() == 3);
}

TEST_CASE("deltas counts again once its sum is older than the threshold", "[catalogue]") {
    CounterOptions options{Strategy::deltas};
    options.times.threshold = 2'000;
    Hall hall(options, StorageModel::cached, 6);
    const auto reader = hall.open();
    const auto writer = hall.open();
    CHECK(hall.read(reader) == 0);
    hall.count(writer, 4);
    CHECK(hall.read(reader) == 0);
    hall.origin.clock().jump(2'001);
    CHECK(hall.read(reader) == 4);
}

TEST_CASE("deltas folds its rows", "[catalogue]") {
    for (const auto strategy : {Strategy::deltas, Strategy::batched}) {
        CounterOptions options{strategy};
        options.times.threshold = 0;
        Hall hall(options, StorageModel::cached, 6);
        const auto seat = hall.open();
        for (int i = 0; i < 70; ++i) {
            hall.count(seat, 1);
            hall.origin.run();
        }
        CHECK(hall.settled() == 70);
        CHECK(hall.origin.database().rows(Store::deltas).size() < 32);
    }
}

TEST_CASE("deltas with no threshold: every read is exact", "[catalogue]") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        CounterOptions options{Strategy::deltas};
        options.times.threshold = 0;
        Hall hall(options, StorageModel::cached, seed);
        for (int i = 0; i < 3; ++i) hall.count(hall.open(), 14);
        const auto reader = hall.open();
        for (int i = 0; i < 20; ++i) {
            const auto from = hall.judge.begin_read();
            reader.page->last_read.reset();
            hall.post(reader, [](Counting& page) { page.read(); });
            hall.origin.run_until([&] { return reader.page->last_read.has_value(); });
            hall.judge.end_read(from, *reader.page->last_read, "the reader");
        }
        CHECK(hall.settled() == 42);
        CHECK(hall.judge.failures().empty());
    }
}

TEST_CASE("optimistic: losers write what gathered meanwhile in one delta", "[catalogue]") {
    Hall hall(CounterOptions{Strategy::optimistic}, StorageModel::cached, 8);
    const auto seat = hall.open();
    for (int i = 0; i < 50; ++i) hall.count(seat, 1);
    hall.origin.run();
    const auto operations = hall.origin.database().operations();
    CHECK(operations < 50);
    CHECK(hall.settled() == 50);
}

TEST_CASE("a record that cannot be read is put in quarantine with a warning, and counting goes on",
          "[catalogue]") {
    struct Case {
        Strategy strategy;
        std::string key;  // of localStorage
        Store store;      // or of a store
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
            Hall hall(CounterOptions{strategy}, StorageModel::cached, 9);
            const auto seat = hall.open();
            if (row.empty()) {
                if (foreign) continue;
                hall.origin.storage().overwrite(key, "1;01;x");
            } else {
                hall.origin.database().overwrite(store, row,
                                                 lab::StoredValue{foreign ? "" : "no", foreign});
            }
            hall.count(seat, 2);
            hall.origin.run();
            CHECK(hall.settled() == 2);
            CHECK(seat.page->errors.empty());
            CHECK(warned(seat));
            const auto quarantined = keys_with(hall, key + "/aside") +
                                     keys_with(hall, in_root("log-aside")) +
                                     hall.origin.database().rows(Store::quarantine).size();
            CHECK(quarantined == 1);
        }
    }
}

TEST_CASE("hostile news is passed over", "[catalogue]") {
    Hall hall(CounterOptions{Strategy::eventual}, StorageModel::cached, 9);
    const auto seat = hall.open();
    const auto stranger = hall.open();
    hall.origin.run();
    for (const auto* news : {"", "1", "1;0", "1;0;-5;a", "1;-1;5;a", "2;0;5;a", "1;0;5;a;b", "x"}) {
        hall.post(stranger, [&hall, news = std::string(news), stranger](Counting&) {
            run_in(
                hall.scope,
                [](lab::LabTab& tab, std::string text) -> Task<void> {
                    co_await tab.storage().set(in_root("eventual/c/plus/news"), text);
                }(*stranger.tab, news),
                [] {}, [](const std::exception_ptr&) {});
        });
    }
    hall.origin.run();
    CHECK(seat.page->counter().value() == 0);
    CHECK(hall.settled() == 0);
}

TEST_CASE("closing writes what is gathered", "[catalogue]") {
    for (const auto strategy : all_strategies()) {
        CAPTURE(strategy_name(strategy));
        Hall hall(CounterOptions{strategy}, StorageModel::cached, 9);
        const auto seat = hall.open();
        hall.post(seat, [&hall](Counting& page) {
            run_in(
                hall.scope, page.counter().add(3), [](std::int64_t) {},
                [](const std::exception_ptr&) {});
        });
        hall.origin.run_until([&] { return seat.page->counter().value() == 3; });
        hall.post(seat, [](Counting& page) { page.close(); });
        hall.origin.run();
        CHECK(seat.page->pending == 0);
        CHECK(seat.page->errors.empty());
        CHECK(hall.origin.page_hide(*seat.tab));
        CHECK(hall.settled() == 3);
    }
}

}  // namespace tabacus::test
