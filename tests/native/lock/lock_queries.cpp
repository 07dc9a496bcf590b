// LockQueries: which callers share a snapshot of the lock manager.
#include "protocol/lock/lock_queries.hpp"

#include <catch2/catch_test_macros.hpp>
#include <deque>
#include <optional>

namespace tabacus::test {
namespace {

class FakeLocks final : public Locks {
  public:
    [[nodiscard]] bool available() const override { return true; }
    Async<std::unique_ptr<HeldLock>> request(LockRequest /*request*/) override {
        return std::unique_ptr<HeldLock>();
    }
    Async<LockSnapshot> query(const std::vector<std::string>& names) override {
        probed = names;
        asked.emplace_back();
        return asked.back().async();
    }
    Async<Unit> probe() override { return Unit{}; }
    std::vector<std::string> probed;
    std::deque<Completer<LockSnapshot>> asked;
};

struct Answers {
    Task<void> ask(std::string probed = {}) {
        const auto answer = co_await attempt(queries.query(std::move(probed)));
        ++ended;
        if (!answer) ++failed;
    }
    FakeLocks locks;
    int ended = 0;
    int failed = 0;
    Scope scope;
    LockQueries queries{locks, scope};
};

}  // namespace

TEST_CASE("lock queries: callers share a query that begins after their calls") {
    Answers answers;
    for (int i = 0; i < 3; ++i) answers.scope.spawn(answers.ask());
    CHECK(answers.locks.asked.size() == 1);
    answers.locks.asked.at(0).complete({});
    CHECK(answers.ended == 1);
    REQUIRE(answers.locks.asked.size() == 2);
    answers.locks.asked.at(1).complete({});
    CHECK(answers.ended == 3);
    CHECK(answers.scope.idle());
}

TEST_CASE("lock queries: a query probes the locks of all callers that share it") {
    Answers answers;
    answers.scope.spawn(answers.ask("a"));
    CHECK(answers.locks.probed == std::vector<std::string>{"a"});
    for (const auto* name : {"b", "", "c"}) answers.scope.spawn(answers.ask(name));
    answers.locks.asked.at(0).complete({});
    CHECK(answers.locks.probed == std::vector<std::string>{"b", "c"});
    answers.locks.asked.at(1).complete({});
    CHECK(answers.ended == 4);
}

TEST_CASE("lock queries: a query that fails fails its callers, and the next is another") {
    Answers answers;
    answers.scope.spawn(answers.ask());
    answers.scope.spawn(answers.ask());
    answers.locks.asked.at(0).fail(failure_of(Error(ErrorCode::unavailable, "forbidden")));
    CHECK(answers.failed == 1);
    answers.locks.asked.at(1).complete({});
    CHECK(answers.ended == 2);
    CHECK(answers.failed == 1);
}

TEST_CASE("lock queries: an answer finds the holders of one lock among many") {
    Answers answers;
    std::optional<Shared<LockQueries::Answer>> got;
    struct Ask {
        static Task<void> run(LockQueries& queries,
                              std::optional<Shared<LockQueries::Answer>>& to) {
            to = co_await queries.query();
        }
    };
    answers.scope.spawn(Ask::run(answers.queries, got));
    LockSnapshot snapshot;
    for (const auto* const name : {"c", "a", "b", "a"}) {
        snapshot.held.push_back({name, LockMode::shared, std::string("client of ") + name});
    }
    answers.locks.asked.at(0).complete(std::move(snapshot));
    REQUIRE(got);
    CHECK((*got)->holders_of("a").size() == 2);
    CHECK((*got)->holders_of("c").front().client_id == "client of c");
    CHECK((*got)->holders_of("d").empty());
    CHECK((*got)->holders_of("").empty());
}

}  // namespace tabacus::test
