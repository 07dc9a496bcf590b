// The value of a counter: when its callbacks are called.
#include <catch2/catch_test_macros.hpp>

#include "protocol/replica/counter/observed_value.hpp"

namespace tabacus::test {

TEST_CASE("observed value: a report calls the callbacks once, however often the value was set") {
    ObservedValue value;
    int calls = 0;
    const auto subscription = value.listeners().add([&calls] { ++calls; });
    value.report();
    CHECK(calls == 0);
    CHECK(value.set(1));
    CHECK(value.set(2));
    CHECK(value.changed());
    value.report();
    CHECK(calls == 1);
    CHECK(value.get() == 2);
    value.report();
    CHECK(calls == 1);
}

TEST_CASE("observed value: it is not changed by the value that it has") {
    ObservedValue value;
    value.set(3);
    value.report();
    CHECK_FALSE(value.set(3));
    CHECK_FALSE(value.changed());
}

TEST_CASE("observed value: a callback that sets it leaves it changed") {
    ObservedValue value;
    const auto subscription = value.listeners().add([&value] { value.set(value.get() + 1); });
    value.set(1);
    value.report();
    CHECK(value.get() == 2);
    CHECK(value.changed());
}

}  // namespace tabacus::test
