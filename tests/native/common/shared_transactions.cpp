// SharedTransactions: which callers share a transaction, and which of them a failure reaches.
#include "protocol/common/shared_transactions.hpp"

#include <catch2/catch_test_macros.hpp>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "empty_transaction.hpp"

namespace tabacus::test {
namespace {

/// A database whose transactions begin at once, and commit when a test says so.
struct FakeDatabase {
    struct FakeTransaction final : EmptyTransaction {
        explicit FakeTransaction(FakeDatabase& of) : database(of) {}
        void put(Store /*store*/, std::string_view key, std::string_view /*value*/) override {
            database.written.emplace_back(key);
        }
        Async<Unit> commit() override {
            database.commits.emplace_back();
            return database.commits.back().async();
        }

        FakeDatabase& database;
    };

    Async<std::unique_ptr<Transaction>> begin() {
        ++begun;
        if (refuses) {
            return Async<std::unique_ptr<Transaction>>::failed(
                Error(ErrorCode::store_failed, "there is no connection"));
        }
        return std::unique_ptr<Transaction>(std::make_unique<FakeTransaction>(*this));
    }

    int begun = 0;
    bool refuses = false;
    std::deque<Completer<Unit>> commits;
    std::vector<std::string> written;
};

struct Caller {
    bool ended = false;
    std::optional<ErrorCode> failure;
};

/// Callers that share the transactions of a FakeDatabase.
struct Callers {
    Task<void> call(std::size_t number, std::string key, bool fails) {
        const auto outcome = co_await attempt(
            transactions.run(key, [&key, fails](Transaction& transaction) -> Task<void> {
                if (fails) co_await fail(ErrorCode::lock_lost, "not wanted any more");
                transaction.put(Store::locks, key, "");
            }));
        callers.at(number).ended = true;
        if (!outcome) callers.at(number).failure = outcome.error().code();
    }
    void add(std::string key, bool fails = false) {
        callers.emplace_back();
        scope.spawn(call(callers.size() - 1, std::move(key), fails));
    }
    void commit(std::size_t which) { database.commits.at(which).complete({}); }

    FakeDatabase database;
    std::deque<Caller> callers;
    Scope scope;
    SharedTransactions transactions{scope, Access::write, [this] { return database.begin(); }};
};

}  // namespace

TEST_CASE(
    "shared transactions: a caller that is alone writes at once, and returns with the commit") {
    Callers callers;
    callers.add("a");
    CHECK(callers.database.written == std::vector<std::string>{"a"});
    CHECK_FALSE(callers.callers.front().ended);
    callers.commit(0);
    CHECK(callers.callers.front().ended);
    CHECK_FALSE(callers.callers.front().failure);
}

TEST_CASE("shared transactions: those that call while one is under way share the next") {
    Callers callers;
    for (const auto* const key : {"a", "b", "c"}) callers.add(key);
    CHECK(callers.database.begun == 1);
    callers.commit(0);
    CHECK(callers.callers.at(0).ended);
    CHECK(callers.database.begun == 2);
    CHECK(callers.database.written == std::vector<std::string>{"a", "b", "c"});
    CHECK_FALSE(callers.callers.at(1).ended);
    callers.commit(1);
    CHECK(callers.callers.at(1).ended);
    CHECK(callers.callers.at(2).ended);
    CHECK(callers.scope.idle());
}

TEST_CASE("shared transactions: a failing body fails only its own caller") {
    Callers callers;
    callers.add("a");
    callers.add("b", true);
    callers.add("c");
    callers.commit(0);
    CHECK(callers.callers.at(1).failure == ErrorCode::lock_lost);
    callers.commit(1);
    CHECK(callers.callers.at(2).ended);
    CHECK_FALSE(callers.callers.at(2).failure);
}

TEST_CASE("shared transactions: a commit that fails fails all of its callers, and no later one") {
    Callers callers;
    for (const auto* const key : {"a", "b", "c"}) callers.add(key);
    callers.commit(0);
    callers.database.commits.at(1).fail(failure_of(Error(ErrorCode::quota_exceeded, "full")));
    CHECK(callers.callers.at(1).failure == ErrorCode::quota_exceeded);
    CHECK(callers.callers.at(2).failure == ErrorCode::quota_exceeded);
    callers.add("d");
    callers.commit(2);
    CHECK(callers.callers.at(3).ended);
    CHECK_FALSE(callers.callers.at(3).failure);
}

TEST_CASE(
    "shared transactions: a transaction that cannot begin fails its callers, and the next call "
    "tries") {
    Callers callers;
    callers.database.refuses = true;
    callers.add("a");
    CHECK(callers.callers.at(0).failure == ErrorCode::store_failed);
    callers.database.refuses = false;
    callers.add("b");
    callers.commit(0);
    CHECK(callers.callers.at(1).ended);
    CHECK_FALSE(callers.callers.at(1).failure);
}

TEST_CASE(
    "shared transactions: callers with one key follow each other in transactions of their own") {
    Callers callers;
    for (const auto* const key : {"a", "b", "b", "c"}) callers.add(key);
    callers.commit(0);
    CHECK(callers.database.written == std::vector<std::string>{"a", "b"});
    callers.commit(1);
    CHECK(callers.database.written == std::vector<std::string>{"a", "b", "b", "c"});
    callers.commit(2);
    CHECK(callers.scope.idle());
}

TEST_CASE("shared transactions: no transaction has more than 256 callers") {
    Callers callers;
    for (int i = 0; i < 1 + 256 + 1; ++i) callers.add(std::to_string(i));
    callers.commit(0);
    CHECK(callers.database.written.size() == 1 + 256);
    callers.commit(1);
    CHECK(callers.database.written.size() == 1 + 256 + 1);
    CHECK(callers.database.begun == 3);
}

}  // namespace tabacus::test
