// Task, Async, Completer and Scope: the properties that protocols and worlds rely on.
#include <catch2/catch_test_macros.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "tabacus/common/task.hpp"

namespace tabacus::test {
namespace {

/// Counts its living instances. As a local variable it shows whether a coroutine's frame was
/// destroyed.
struct Alive {
    explicit Alive(int& count) : count_(count) { ++count_; }
    Alive(const Alive&) = delete;
    Alive& operator=(const Alive&) = delete;
    Alive(Alive&&) = delete;
    Alive& operator=(Alive&&) = delete;
    ~Alive() { --count_; }

  private:
    int& count_;
};

constexpr int many = 1'000'000;

Task<int> ready_task(int value) { co_return value; }

Task<void> wait_on(Async<int> async, int& alive, int& got) {
    const Alive local(alive);
    got = co_await std::move(async);
}

Task<void> nested(Async<int> async, int& alive, int& got, int depth) {
    const Alive local(alive);
    if (depth == 0) {
        co_await wait_on(std::move(async), alive, got);
    } else {
        co_await nested(std::move(async), alive, got, depth - 1);
    }
}

}  // namespace

TEST_CASE("a million awaits that are ready run in constant stack") {
    std::int64_t sum = 0;
    Scope scope;
    scope.spawn([](std::int64_t& total) -> Task<void> {
        for (int i = 0; i < many; ++i) {
            total += co_await Async<int>(1);
            total += co_await ready_task(1);
        }
    }(sum));
    CHECK(sum == 2 * std::int64_t{many});
    CHECK(scope.idle());
}

TEST_CASE("a million completions of a loop that waits each time run in constant stack") {
    std::int64_t sum = 0;
    Completer<int> next;
    Scope scope;
    scope.spawn([](std::int64_t& total, Completer<int>& completer) -> Task<void> {
        for (int i = 0; i < many; ++i) {
            completer = {};
            total += co_await completer.async();
        }
    }(sum, next));
    while (!scope.idle()) Completer<int>(next).complete(1);
    CHECK(sum == many);
}

TEST_CASE("a task does nothing before it is awaited") {
    bool ran = false;
    {
        const auto task = [](bool& flag) -> Task<void> {
            flag = true;
            co_return;
        }(ran);
    }
    CHECK_FALSE(ran);
}

TEST_CASE("destroying a scope destroys every frame below it, and a later completion resumes none") {
    int alive = 0;
    int got = 0;
    const Completer<int> completer;
    {
        Scope scope;
        scope.spawn(nested(completer.async(), alive, got, 10));
        CHECK(alive == 12);
        CHECK(completer.awaited());
        CHECK_FALSE(scope.idle());
    }
    CHECK(alive == 0);
    CHECK_FALSE(completer.awaited());
    completer.complete(7);
    CHECK(got == 0);
}

TEST_CASE("completion resumes through every parent, and frames are freed") {
    int alive = 0;
    int got = 0;
    const Completer<int> completer;
    Scope scope;
    scope.spawn(nested(completer.async(), alive, got, 10));
    completer.complete(7);
    CHECK(got == 7);
    CHECK(alive == 0);
    CHECK(scope.idle());
}

TEST_CASE("a second completion is ignored, before and after the first was taken") {
    const Completer<int> completer;
    completer.complete(1);
    completer.complete(2);
    completer.fail(std::make_exception_ptr(std::runtime_error("late")));
    int alive = 0;
    int got = 0;
    Scope scope;
    scope.spawn(wait_on(completer.async(), alive, got));
    CHECK(got == 1);
    completer.complete(3);
    CHECK(got == 1);
}

TEST_CASE("errors pass through tasks to the one that awaits them") {
    const auto fail_late = [](const Completer<int>& completer) -> Task<int> {
        co_return co_await completer.async();
    };
    const auto fail_at_once = []() -> Task<int> {
        co_return co_await Async<int>::failed(std::runtime_error("at once"));
    };
    std::string first;
    std::string second;
    const auto message = [](std::string& text) {
        return [&text](const std::exception_ptr& error) {
            try {
                std::rethrow_exception(error);
            } catch (const std::runtime_error& known) {
                text = known.what();
            }
        };
    };
    const Completer<int> completer;
    Scope scope;
    run_in(scope, fail_late(completer), [](int) {}, message(first));
    run_in(scope, fail_at_once(), [](int) {}, message(second));
    CHECK(first.empty());
    CHECK(second == "at once");
    completer.fail(std::make_exception_ptr(std::runtime_error("late")));
    CHECK(first == "late");
}

TEST_CASE(
    "a failure ends the frames that await it, innermost first, up to the one with attempt()") {
    std::vector<int> ended;
    struct Noted {
        Noted(std::vector<int>& list, int number) : list_(list), number_(number) {}
        Noted(const Noted&) = delete;
        Noted& operator=(const Noted&) = delete;
        Noted(Noted&&) = delete;
        Noted& operator=(Noted&&) = delete;
        ~Noted() { list_.push_back(number_); }

      private:
        std::vector<int>& list_;
        int number_;
    };
    const auto inner = [](const Completer<int>& completer, std::vector<int>& list) -> Task<int> {
        const Noted local(list, 1);
        co_return co_await completer.async();
    };
    const auto outer = [&inner](const Completer<int>& completer,
                                std::vector<int>& list) -> Task<int> {
        const Noted local(list, 2);
        const int value = co_await inner(completer, list);
        list.push_back(-1);  // is never reached
        co_return value;
    };
    std::vector<ErrorCode> codes;
    const auto attempts = [&outer](const Completer<int>& completer, std::vector<int>& list,
                                   std::vector<ErrorCode>& found) -> Task<void> {
        const auto outcome = co_await attempt(outer(completer, list));
        CHECK_FALSE(outcome);
        found.push_back(outcome.error().code());
        list.push_back(3);
    };
    for (const bool at_once : {false, true}) {
        ended.clear();
        Completer<int> completer;
        const Error error(ErrorCode::fenced, "known");
        Scope scope;
        if (at_once) completer.fail(failure_of(error));
        scope.spawn(attempts(completer, ended, codes));
        if (!at_once) completer.fail(failure_of(error));
        CHECK(codes.back() == ErrorCode::fenced);
        CHECK(ended == std::vector{1, 2, 3});
    }
    CHECK(codes.size() == 2);
}

TEST_CASE("fail() passes a parent that went on after waiting, and one that never waited") {
    const Completer<int> completer;
    int attempted = 0;
    const auto late = [](const Completer<int>& first) -> Task<void> {
        co_await first.async();
        co_await fail(ErrorCode::store_failed, "after it");
    };
    const auto middle = [&late](const Completer<int>& first) -> Task<void> {
        co_await late(first);
        co_await fail(ErrorCode::closed, "never reached");
    };
    Scope scope;
    scope.spawn([](auto& work, const Completer<int>& first, int& count) -> Task<void> {
        const auto outcome = co_await attempt(work(first));
        if (!outcome && outcome.error().code() == ErrorCode::store_failed) ++count;
    }(middle, completer, attempted));
    completer.complete(1);
    CHECK(attempted == 1);
    CHECK(scope.idle());
}

TEST_CASE("run_in hands a value over, once") {
    int value = 0;
    int calls = 0;
    Scope scope;
    run_in(
        scope, ready_task(5),
        [&](int result) {
            value = result;
            ++calls;
        },
        [&](const std::exception_ptr&) { ++calls; });
    CHECK(value == 5);
    CHECK(calls == 1);
}

TEST_CASE("an async may be dropped unawaited before its completion") {
    const Completer<int> completer;
    {
        const auto dropped = completer.async();
    }
    completer.complete(1);
    CHECK(completer.completed());
}

TEST_CASE("a subscription can be moved, and ends when it is destroyed") {
    int cancelled = 0;
    {
        Subscription first([&] { ++cancelled; });
        Subscription second(std::move(first));
        CHECK(cancelled == 0);
    }
    CHECK(cancelled == 1);
}

}  // namespace tabacus::test
