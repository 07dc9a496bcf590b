// Function and EnumSet: the properties that callbacks, subscriptions and operations rely on.
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <memory>
#include <utility>

#include "tabacus/common/enum_set.hpp"
#include "tabacus/common/function.hpp"

namespace tabacus::test {

TEST_CASE("a default-constructed function and one of nullptr have no callable") {
    CHECK_FALSE(Function<void()>());
    CHECK_FALSE(Function<int(int)>(nullptr));
    CHECK(Function<void()>([] {}));
}

TEST_CASE("a function passes its arguments on and returns the callable's result") {
    const Function<int(int, std::unique_ptr<int>)> sum = [](int one, std::unique_ptr<int> other) {
        return one + *other;
    };
    CHECK(sum(1, std::make_unique<int>(2)) == 3);
}

TEST_CASE("a function changes what is passed by reference") {
    const Function<void(int&)> increment = [](int& value) { ++value; };
    int value = 1;
    increment(value);
    CHECK(value == 2);
}

TEST_CASE("copies of a function share one callable, and the last of them destroys it") {
    const auto alive = std::make_shared<int>(0);
    Function<int()> first = [count = 0, alive]() mutable { return ++count; };
    CHECK(alive.use_count() == 2);
    auto second = first;
    CHECK(alive.use_count() == 2);
    CHECK(first() == 1);
    CHECK(second() == 2);
    first = nullptr;
    CHECK(alive.use_count() == 2);
    second = {};
    CHECK(alive.use_count() == 1);
}

TEST_CASE("a moved-from function has no callable, and the new function has it") {
    Function<int()> from = [number = std::make_unique<int>(7)] { return *number; };
    const auto to = std::move(from);
    CHECK_FALSE(from);  // NOLINT(bugprone-use-after-move): that is what is checked
    CHECK(to() == 7);
}

TEST_CASE("a set of enumerators has its members and no others") {
    enum class Letter : std::uint8_t { a, b, c, d };
    using Letters = EnumSet<Letter>;
    constexpr Letters some{Letter::a, Letter::c};
    CHECK(some.bits() == 0b101);
    CHECK(some.has(Letter::c));
    CHECK_FALSE(some.has(Letter::b));
    CHECK(some.overlaps({Letter::c, Letter::d}));
    CHECK_FALSE(some.overlaps({Letter::b, Letter::d}));
    CHECK_FALSE(some.overlaps({}));
    CHECK((some | Letters{Letter::b}) == Letters{Letter::a, Letter::b, Letter::c});
}

}  // namespace tabacus::test
