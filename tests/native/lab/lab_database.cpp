// The laboratory's IndexedDB, each rule tested against the sentence of the specification that it follows.
#include <catch2/catch_test_macros.hpp>
#include <set>

#include "lab/lab_tab.hpp"
#include "lab/origin.hpp"
#include "recorder.hpp"

namespace tabacus::lab::test {
namespace {

using Texts = std::vector<std::string>;

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

}  // namespace tabacus::lab::test
