// AutoResetEvent: the event that wakes the driver of a lock's queue.
#include <catch2/catch_test_macros.hpp>

#include "protocol/lock/queue/auto_reset_event.hpp"

namespace tabacus::test {
namespace {

Task<void> count_wakes(AutoResetEvent& event, int& wakes) {
    while (true) {
        co_await event.wait();
        ++wakes;
    }
}

}  // namespace

TEST_CASE("auto-reset event: set() resumes the waiter within the call, once for each set()",
          "[locks]") {
    AutoResetEvent event;
    int wakes = 0;
    Scope scope;
    scope.spawn(count_wakes(event, wakes));
    REQUIRE(wakes == 0);
    event.set();
    REQUIRE(wakes == 1);
    event.set();
    REQUIRE(wakes == 2);
}

TEST_CASE("auto-reset event: sets before the wait are not lost, and count as one", "[locks]") {
    AutoResetEvent event;
    int wakes = 0;
    event.set();
    event.set();
    Scope scope;
    scope.spawn(count_wakes(event, wakes));
    REQUIRE(wakes == 1);
}

TEST_CASE("auto-reset event: a set() by the coroutine that was resumed is not lost", "[locks]") {
    AutoResetEvent event;
    int wakes = 0;
    Scope scope;
    scope.spawn([](AutoResetEvent& of, int& count) -> Task<void> {
        while (count < 3) {
            co_await of.wait();
            ++count;
            of.set();
        }
    }(event, wakes));
    event.set();
    REQUIRE(wakes == 3);
}

}  // namespace tabacus::test
