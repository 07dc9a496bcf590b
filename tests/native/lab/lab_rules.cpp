// The rules of the laboratory, each tested against the sentence of the specification that it
// follows.
#include <catch2/catch_test_macros.hpp>
#include <set>

#include "lab/lab_tab.hpp"
#include "lab/origin.hpp"

namespace tabacus::lab::test {
namespace {

struct Log final : LockListener {
    void granted(RequestId id) override { entries.push_back("granted " + std::to_string(id)); }
    void not_available(RequestId id) override { entries.push_back("null " + std::to_string(id)); }
    void stolen(RequestId id) override { entries.push_back("stolen " + std::to_string(id)); }
    std::vector<std::string> take() { return std::exchange(entries, {}); }
    std::vector<std::string> entries;
};
using Texts = std::vector<std::string>;

LockManager::Request exclusive(RequestId id) {
    return {.id = id, .client = static_cast<std::uint32_t>(id), .name = "a"};
}
LockManager::Request shared(RequestId id) {
    auto request = exclusive(id);
    request.mode = LockMode::shared;
    return request;
}

FootprintRecorder recorder;  // required by the parts under test; no test reads it

}  // namespace

TEST_CASE("locks: requests are granted in their order; a reader overtakes no waiting writer") {
    Log log;
    LockManager locks(log, recorder);
    locks.request(shared(1));
    locks.request(exclusive(2));
    locks.request(shared(3));
    locks.request(shared(4));
    CHECK(log.take() == Texts{"granted 1"});
    locks.release(1);
    CHECK(log.take() == Texts{"granted 2"});
    locks.release(2);
    CHECK(log.take() == Texts{"granted 3", "granted 4"});
    CHECK(locks.snapshot().held.size() == 2);
}

TEST_CASE("locks: ifAvailable gets null behind a holder and behind a waiter, and is not queued") {
    Log log;
    LockManager locks(log, recorder);
    auto request = shared(3);
    request.if_available = true;
    locks.request(shared(1));
    locks.request(exclusive(2));
    locks.request(request);
    CHECK(log.take() == Texts{"granted 1", "null 3"});
    CHECK(locks.snapshot().pending.size() == 1);
}

TEST_CASE("locks: a steal takes the lock from every holder and passes the queue") {
    Log log;
    LockManager locks(log, recorder);
    locks.request(shared(1));
    locks.request(shared(2));
    locks.request(exclusive(3));
    auto stealer = exclusive(4);
    stealer.steal = true;
    locks.request(stealer);
    CHECK(log.take() == Texts{"granted 1", "granted 2", "stolen 1", "stolen 2", "granted 4"});
    locks.release(1);  // without effect: request 1 has lost the lock
    CHECK(log.take().empty());
    locks.release(4);
    CHECK(log.take() == Texts{"granted 3"});
}

TEST_CASE("locks: an aborted waiter lets those behind it pass") {
    Log log;
    LockManager locks(log, recorder);
    locks.request(shared(1));
    locks.request(exclusive(2));
    locks.request(shared(3));
    locks.abort(2);
    CHECK(log.take() == Texts{"granted 1", "granted 3"});
}

TEST_CASE(
    "locks: the end of a client releases its locks and withdraws its requests, and no others") {
    Log log;
    LockManager locks(log, recorder);
    locks.request(exclusive(1));
    locks.request(exclusive(2));
    auto other = exclusive(5);
    other.name = "b";
    locks.request(other);
    locks.request(exclusive(3));
    log.take();
    locks.end(2);
    CHECK(log.take().empty());
    locks.end(1);
    CHECK(log.take() == Texts{"granted 3"});
    CHECK(locks.holds_any(5));
}

TEST_CASE("storage: an equal value changes nothing and fires no event") {
    StorageArea area(StorageModel::interleaved, recorder);
    area.start(1);
    CHECK(area.send(*area.set(1, 1, "k", "a")).changes);
    CHECK_FALSE(area.set(1, 1, "k", "a"));
    CHECK_FALSE(area.set(1, 1, "none", std::nullopt));
}

TEST_CASE("storage: a write that equals only the writer's stale copy counts as a change") {
    StorageArea area(StorageModel::cached, recorder);
    area.overwrite("k", "a");
    area.start(1);
    area.start(2);
    const auto theirs = area.send(*area.set(2, 2, "k", "b"));
    const auto own = area.send(*area.set(1, 1, "k", "a"));
    CHECK(own.changes);
    CHECK(own.change.old_value == "b");
    CHECK_FALSE(area.send(*area.set(1, 1, "k", "a")).changes);
    CHECK_FALSE(area.set(1, 1, "none", std::nullopt));
    for (const auto process : {1U, 2U}) {
        area.receive(process, theirs);
        area.receive(process, own);
    }
    CHECK(area.get(1, "k") == "a");
    CHECK(area.get(2, "k") == "a");
}

TEST_CASE(
    "storage: where the copy decides, an equal write is dropped and a stale one fires an event") {
    StorageArea area(StorageModel::cached, recorder, lab::EqualWrites::dropped);
    area.overwrite("k", "a");
    area.start(1);
    area.start(2);
    const auto theirs = area.send(*area.set(2, 2, "k", "b"));
    CHECK_FALSE(area.set(1, 1, "k", "a"));
    CHECK(area.send(*area.set(1, 1, "k", "b")).changes);
    area.receive(1, theirs);
    CHECK(area.get(1, "k") == "b");
}

TEST_CASE("storage: a process that clears keeps what it receives before its clear() takes effect") {
    StorageArea area(StorageModel::cached, recorder);
    area.overwrite("other", "x");
    area.start(1);
    area.start(2);
    const auto theirs = area.send(*area.set(2, 2, "k", "b"));
    const auto cleared = area.send(area.clear(1, 1));
    for (const auto process : {1U, 2U}) {
        area.receive(process, theirs);
        area.receive(process, cleared);
    }
    CHECK(area.values().empty());
    CHECK(area.keys(2, "").empty());
    CHECK(area.keys(1, "") == std::vector<std::string>{"k"});
}

TEST_CASE("storage: a key whose write is under way outlives another process's clear()") {
    StorageArea area(StorageModel::cached, recorder);
    area.overwrite("other", "x");
    area.start(1);
    area.start(2);
    const auto cleared = area.send(area.clear(1, 1));
    const auto own = area.set(2, 2, "k", "b");
    area.receive(2, cleared);
    CHECK(area.keys(2, "") == std::vector<std::string>{"k"});
    area.receive(2, area.send(*own));
    CHECK(area.get(2, "k") == "b");
}

TEST_CASE("storage: the copies of all processes become equal in the end") {
    StorageArea area(StorageModel::cached, recorder);
    area.start(1);
    area.start(2);
    const auto first = area.set(1, 1, "k", "a");
    const auto second = area.set(2, 2, "k", "b");
    REQUIRE((first && second));
    CHECK(area.get(1, "k") == "a");
    CHECK(area.get(2, "k") == "b");
    for (const auto& write : {*first, *second}) area.send(write);
    for (const auto process : {1U, 2U}) {
        area.receive(process, *first);
        area.receive(process, *second);
    }
    CHECK(area.get(1, "k") == "b");
    CHECK(area.get(2, "k") == "b");
}

TEST_CASE(
    "storage: while a write is under way, its process ignores others' writes to that key only") {
    StorageArea area(StorageModel::cached, recorder);
    area.start(1);
    area.start(2);
    const auto theirs = area.set(2, 2, "k", "theirs");
    const auto other = area.set(2, 2, "other", "x");
    const auto own = area.set(1, 1, "k", "own");
    area.receive(1, *theirs);
    area.receive(1, *other);
    CHECK(area.get(1, "k") == "own");
    CHECK(area.get(1, "other") == "x");
}

TEST_CASE("storage: a write beyond the quota changes nothing") {
    StorageArea area(StorageModel::interleaved, recorder);
    area.start(1);
    area.set_quota(4);
    CHECK(area.set(1, 1, "k", "123"));
    area.send(*area.set(1, 1, "k", "321"));
    CHECK_THROWS_AS(area.set(1, 1, "k", "1234"), Error);
    CHECK(area.get(1, "k") == "321");
}

namespace {

/// A database whose transactions a test runs: one by run(), or by run_all() all that may run.
struct Runner {
    MemoryDatabase database{[this](TransactionId id) { runnable.insert(id); }, recorder};
    TransactionId last = 0;
    std::set<TransactionId> runnable;
    std::vector<std::string> replies;

    void run(TransactionId id) {
        REQUIRE(runnable.erase(id) == 1);
        database.execute(id);
    }
    void run_all() {
        while (!runnable.empty()) run(*runnable.begin());
    }
    TransactionId begin(Stores scope, Access access, Durability durability = Durability::relaxed) {
        database.begin(++last, scope, access, durability);
        return last;
    }
    void put(TransactionId id, const std::string& key, const std::string& value) {
        database.enqueue(id, {Operation::Kind::put, Store::rows, key, value, nullptr});
    }
    void get(TransactionId id, const std::string& key) {
        auto reply = reply_to("get", true);
        database.enqueue(id, {Operation::Kind::get, Store::rows, key, "", std::move(reply)});
    }
    void claim(TransactionId id, const std::string& holder, const std::string& subject) {
        database.enqueue(id, {Operation::Kind::claim, Store::claims, holder, subject, nullptr});
    }
    void commit(TransactionId id) {
        auto reply = reply_to("commit " + std::to_string(id), false);
        database.enqueue(id, {Operation::Kind::commit, Store::claims, "", "", std::move(reply)});
    }
    std::function<void(Operation::Reply)> reply_to(const std::string& what, bool value) {
        return [this, what, value](const Operation::Reply& reply) {
            auto text = what;
            if (reply.error) {
                text += std::string(" ") + std::string(code_name(*reply.error));
            } else if (value) {
                text += " " + (reply.rows.empty() ? std::string("nothing") : reply.rows[0].value);
            }
            replies.push_back(text);
        };
    }
};

}  // namespace

TEST_CASE("database: writers of one store run one after another, in the order they were begun") {
    Runner runner;
    const auto first = runner.begin({Store::rows}, Access::write);
    const auto second = runner.begin({Store::rows, Store::meta}, Access::write);
    const auto reader = runner.begin({Store::rows}, Access::read);
    const auto elsewhere = runner.begin({Store::counters}, Access::write);
    runner.get(second, "k");
    runner.get(reader, "k");
    runner.commit(elsewhere);
    CHECK(runner.runnable == std::set<TransactionId>{elsewhere});
    runner.put(first, "k", "1");
    runner.commit(first);
    runner.run(elsewhere);
    runner.run(first);
    CHECK(runner.runnable == std::set<TransactionId>{second});
    runner.run(second);
    runner.put(second, "k", "2");
    runner.commit(second);
    runner.run_all();
    CHECK(runner.replies == Texts{"commit 4", "commit 1", "get 1", "commit 2", "get 2"});
}

TEST_CASE("database: readers share, and a writer waits for them") {
    Runner runner;
    const auto first = runner.begin({Store::rows}, Access::read);
    const auto second = runner.begin({Store::rows}, Access::read);
    const auto writer = runner.begin({Store::rows}, Access::write);
    runner.get(first, "k");
    runner.get(second, "k");
    runner.commit(writer);
    CHECK(runner.runnable == std::set<TransactionId>{first, second});
    runner.run_all();
    runner.database.drop(first);
    CHECK(runner.runnable.empty());
    runner.database.drop(second);
    CHECK(runner.runnable == std::set<TransactionId>{writer});
}

TEST_CASE("database: a second holder of a subject aborts the whole transaction") {
    Runner runner;
    const auto first = runner.begin({Store::claims}, Access::write);
    runner.claim(first, "one", "slot");
    runner.commit(first);
    runner.run_all();
    const auto again = runner.begin({Store::claims}, Access::write);
    runner.claim(again, "one", "slot");
    runner.commit(again);
    const auto second = runner.begin({Store::claims, Store::rows}, Access::write);
    runner.put(second, "k", "1");
    runner.claim(second, "two", "slot");
    runner.commit(second);
    runner.run_all();
    CHECK(runner.replies == Texts{"commit 1", "commit 2", "commit 3 fenced"});
    CHECK(runner.database.rows(Store::rows).empty());
    const auto third = runner.begin({Store::claims}, Access::write);
    runner.database.enqueue(third, {Operation::Kind::release, Store::claims, "one", "", nullptr});
    runner.claim(third, "two", "slot");
    runner.commit(third);
    runner.run_all();
    CHECK(runner.replies.back() == "commit 4");
}

TEST_CASE(
    "database: an aborted transaction reports its reason at commit, even if that comes later") {
    Runner runner;
    runner.database.set_quota(3);
    const auto first = runner.begin({Store::rows}, Access::write);
    runner.put(first, "k", "123");
    runner.commit(first);
    runner.run_all();
    const auto second = runner.begin({Store::rows}, Access::write);
    runner.get(second, "k");
    runner.run_all();
    runner.database.fail_operation(1, false);
    runner.put(second, "k", "1");
    runner.run_all();
    runner.commit(second);
    CHECK(runner.replies ==
          Texts{"commit 1 quota-exceeded", "get nothing", "commit 2 store-failed"});
}

TEST_CASE("database: a crash keeps strict commits, and only the first few of later relaxed ones") {
    bool kept = false;
    bool lost = false;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Runner runner;
        for (const auto* value : {"1", "2", "3"}) {
            const auto strict = value == std::string("1");
            const auto id = runner.begin({Store::rows}, Access::write,
                                         strict ? Durability::strict : Durability::relaxed);
            runner.put(id, "k", value);
            runner.commit(id);
            runner.run_all();
        }
        SeededRandom random(seed);
        runner.database.crash(random);
        const auto& text = runner.database.rows(Store::rows).at("k").text;
        kept = kept || text == "3";
        lost = lost || text == "1";
    }
    CHECK(kept);
    CHECK(lost);
}

namespace {

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
