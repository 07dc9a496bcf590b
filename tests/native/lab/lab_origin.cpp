// The laboratory's origin: its runs, the events and timers of its tabs, and what a dead tab leaves.
#include <catch2/catch_test_macros.hpp>
#include <set>

#include "lab/lab_tab.hpp"
#include "lab/origin.hpp"

namespace tabacus::lab::test {
namespace {

using Texts = std::vector<std::string>;

/// A tab that writes, locks, stores and posts, and logs what it saw.
struct Chatter {
    Chatter(LabTab& tab, std::vector<std::string>& log) : tab_(tab), log_(log) {
        channel_ = tab.channel("c");
        channel_->on_message(
            [this](std::string_view text) { note("received " + std::string(text)); });
        changes_ = tab.storage().on_change("", [this](const StorageChange& change) {
            note("change " + change.new_value.value_or("-"));
        });
        scope_.spawn(live());
    }

  private:
    void note(const std::string& what) { log_.push_back(std::to_string(tab_.id()) + " " + what); }
    Task<void> live() {
        for (int i = 0; i < 3; ++i) {
            const auto held = co_await tab_.locks().request({.name = "l"});
            channel_->post(std::to_string(i));
            co_await tab_.storage().set("k", std::to_string(i));
            constexpr Stores scope{Store::rows};
            const auto transaction =
                co_await tab_.database().begin(scope, Access::write, Durability::relaxed);
            const auto row = co_await transaction->get(Store::rows, "k");
            transaction->put(Store::rows, "k", (row ? row->value : "") + "x");
            co_await transaction->commit();
            co_await tab_.clock().sleep(5);
            note("done " + std::to_string(i));
        }
    }
    LabTab& tab_;
    std::vector<std::string>& log_;
    std::unique_ptr<Channel> channel_;
    Subscription changes_;
    Scope scope_;
};

/// Lets three tabs run. Returns the steps of the run, and what the tabs logged.
std::pair<std::string, std::vector<std::string>> chat(std::uint64_t seed, StorageModel model) {
    std::vector<std::string> log;
    Origin origin({seed, model});
    for (int i = 0; i < 3; ++i) {
        auto& tab = origin.open_tab();
        tab.run<Chatter>(tab, log);
    }
    origin.run();
    CHECK(origin.database().rows(Store::rows).at("k").text == "xxxxxxxxx");
    return {origin.recent_steps(500), log};
}

}  // namespace

TEST_CASE("origin: equal seeds make equal runs, and different seeds different runs") {
    std::set<std::string> runs;
    for (const auto model :
         {StorageModel::mutexed, StorageModel::interleaved, StorageModel::cached}) {
        for (std::uint64_t seed = 0; seed < 50; ++seed) {
            const auto first = chat(seed, model);
            CHECK(first == chat(seed, model));
            runs.insert(first.first);
        }
    }
    CHECK(runs.size() == 150);
}

TEST_CASE(
    "origin: messages of one sender keep their order, and a cached page never receives them") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        Origin origin({seed, StorageModel::cached});
        std::vector<std::string> received;
        auto& sender = origin.open_tab();
        auto& receiver = origin.open_tab();
        const auto out = sender.channel("c");
        const auto in = receiver.channel("c");
        in->on_message([&](std::string_view text) { received.emplace_back(text); });
        out->post("1");
        origin.freeze(receiver);
        out->post("2");
        origin.run();
        CHECK(received.empty());
        origin.thaw(receiver);
        origin.run();
        CHECK(received == Texts{"1", "2"});
        CHECK(origin.page_hide(receiver));
        out->post("3");
        origin.run();
        origin.page_show(receiver);
        origin.run();
        CHECK(received == Texts{"1", "2"});
    }
}

TEST_CASE("origin: the writer gets an event for its own write only with the vendor's quirk") {
    struct Writer {
        explicit Writer(LabTab& tab)
            : listening(tab.storage().on_change("", [this](const auto& change) {
                  keys.push_back(change.key.value_or("everything"));
              })) {}
        static Task<void> write(LabTab& tab) {
            co_await tab.storage().set("k", "v");
            co_await tab.storage().set("k", "v");
        }
        Texts keys;
        Subscription listening;
        Scope scope;
    };
    for (const auto model :
         {StorageModel::mutexed, StorageModel::interleaved, StorageModel::cached}) {
        for (const auto events : {StorageEvents::to_others, StorageEvents::to_all}) {
            CAPTURE(static_cast<int>(model), static_cast<int>(events));
            Origin origin({.seed = 1, .storage = model, .storage_events = events});
            auto& first = origin.open_tab();
            auto& second = origin.open_tab();
            auto& writer = first.run<Writer>(first);
            auto& other = second.run<Writer>(second);
            first.post([&] { writer.scope.spawn(Writer::write(first)); });
            origin.run();
            // The second write sets an equal value, so that it causes no event.
            CHECK(other.keys == Texts{"k"});
            CHECK(writer.keys == (events == StorageEvents::to_all ? Texts{"k"} : Texts{}));
        }
    }
}

TEST_CASE("origin: a dead tab's locks are released, a little later") {
    Origin origin({1, StorageModel::cached});
    struct Holder {
        explicit Holder(LabTab& tab) {
            run_in(scope, hold(*this, tab), [] {}, [](const std::exception_ptr&) {});
        }
        static Task<void> hold(Holder& self, LabTab& tab) {
            self.held = co_await tab.locks().request({.name = "l"});
        }
        std::unique_ptr<HeldLock> held;
        Scope scope;
    };
    auto& first = origin.open_tab();
    auto& second = origin.open_tab();
    auto& one = first.run<Holder>(first);
    origin.run();
    CHECK(one.held);
    auto& two = second.run<Holder>(second);
    origin.run();
    CHECK_FALSE(two.held);
    origin.kill(first);
    CHECK_FALSE(two.held);
    origin.run();
    CHECK(two.held);
}

TEST_CASE("origin: a transaction left with nothing to do is a defect, reported at once") {
    Origin origin({1, StorageModel::cached});
    auto& tab = origin.open_tab();
    struct Idler {
        explicit Idler(LabTab& tab) { scope.spawn(idle(tab)); }
        static Task<void> idle(LabTab& tab) {
            constexpr Stores scope{Store::rows};
            const auto transaction =
                co_await tab.database().begin(scope, Access::write, Durability::relaxed);
            co_await tab.clock().sleep(1);
        }
        Scope scope;
    };
    tab.run<Idler>(tab);
    CHECK_THROWS_AS(origin.run(), std::logic_error);
}

TEST_CASE("origin: a group of transactions is aborted at once, but for one that commits") {
    using Log = std::set<std::string>;
    struct Writers {
        Writers(LabTab& tab, Log& log) {
            for (const auto* const when : {"while begun", "while read", "while committed"}) {
                scope.spawn(write(tab, when, log));
            }
        }
        static Task<void> write(LabTab& tab, std::string aborted, Log& log) {
            constexpr Stores rows{Store::rows};
            const TransactionGroup group;
            auto beginning = tab.database().begin(rows, Access::write, Durability::relaxed, &group);
            if (aborted == "while begun") group.abort_all();
            const auto transaction = co_await std::move(beginning);
            transaction->put(Store::rows, aborted, "x");
            if (aborted == "while read") {
                auto reading = transaction->get(Store::rows, aborted);
                group.abort_all();
                const auto row = co_await attempt(std::move(reading));
                log.insert(aborted +
                           ", read: " + std::string(row ? "a row" : code_name(row.error().code())));
            }
            auto committing = transaction->commit();
            if (aborted == "while committed") group.abort_all();
            const auto committed = co_await attempt(std::move(committing));
            log.insert(aborted + ": " +
                       std::string(committed ? "kept" : code_name(committed.error().code())));
        }
        Scope scope;
    };
    Origin origin({1, StorageModel::cached});
    auto& tab = origin.open_tab();
    Log log;
    tab.run<Writers>(tab, log);
    origin.run();
    CHECK(log == Log{"while begun: store-failed", "while read, read: store-failed",
                     "while read: store-failed", "while committed: kept"});
    CHECK(origin.database().rows(Store::rows).size() == 1);
}

TEST_CASE("origin: after_microtasks() lets that many pass, each behind those queued before it") {
    Origin origin({1, StorageModel::cached});
    auto& tab = origin.open_tab();
    struct Runner {
        Runner(LabTab& tab, std::string& order) {
            for (const int count : {3, 1, 2}) scope.spawn(run(tab, count, order));
        }
        static Task<void> run(LabTab& tab, int count, std::string& order) {
            co_await tab.clock().after_microtasks(count);
            order += std::to_string(count);
            co_await tab.clock().end_of_turn();
            order += 'e';
        }
        Scope scope;
    };
    std::string order;
    tab.post([&] { tab.run<Runner>(tab, order); });
    REQUIRE(origin.step());
    CHECK(order == "1e23ee");
}

TEST_CASE("origin: a hidden tab's timers run once a minute") {
    Origin origin({1, StorageModel::cached});
    auto& tab = origin.open_tab();
    const auto start_ms = origin.clock().now_ms();
    origin.hide(tab);
    bool woken = false;
    Scope scope;
    scope.spawn([](Clock& clock, bool& done) -> Task<void> {
        co_await clock.sleep(10);
        done = true;
    }(tab.clock(), woken));
    origin.run();
    CHECK(woken);
    CHECK(origin.clock().now_ms() >= start_ms + 10);
    CHECK(static_cast<std::int64_t>(origin.clock().now_ms()) % 60'000 == 0);
}

}  // namespace tabacus::lab::test
