// RequestQueue: the order of a tab's requests.
#include "protocol/lock/queue/request_queue.hpp"

#include <catch2/catch_test_macros.hpp>

namespace tabacus::test {
namespace {

AcquireRequestPtr queued(RequestQueue& queue, std::uint64_t id, LockOptions options = {}) {
    auto request = std::make_shared<AcquireRequest>();
    request->id = id;
    request->options = std::move(options);
    queue.join(request);
    return request;
}

}  // namespace

TEST_CASE("request queue: front() returns the first request that has not ended", "[locks]") {
    RequestQueue queue;
    REQUIRE(queue.front() == nullptr);
    const auto first = queued(queue, 1);
    const auto second = queued(queue, 2);
    const auto third = queued(queue, 3);
    REQUIRE(queue.front() == first);
    second->ended = true;
    REQUIRE(queue.front() == first);
    first->ended = true;
    REQUIRE(queue.front() == third);
    third->ended = true;
    REQUIRE(queue.front() == nullptr);
    REQUIRE(queue.newest() == 3);
}

TEST_CASE("request queue: requests that ended in the middle are removed before it grows further",
          "[locks]") {
    RequestQueue queue;
    const auto first = queued(queue, 1);
    for (std::uint64_t id = 2; id < 1'000; ++id) queued(queue, id)->ended = true;
    REQUIRE(queue.all().size() < 40);
    REQUIRE(queue.front() == first);
}

TEST_CASE("request queue: an ifAvailable request and one that ended keep no place", "[locks]") {
    RequestQueue queue;
    const auto first = queued(queue, 1);
    const auto tries = queued(queue, 2, {.if_available = true});
    const auto third = queued(queue, 3);
    REQUIRE(queue.last_in_place() == third);
    REQUIRE(queue.next_in_place(*first) == third);
    third->ended = true;
    REQUIRE(queue.last_in_place() == first);
    REQUIRE(queue.next_in_place(*first) == nullptr);
    first->ended = true;
    REQUIRE(queue.last_in_place() == nullptr);
    REQUIRE(queue.front() == tries);
}

TEST_CASE("request queue: the least maxHold is that of a request that has not ended", "[locks]") {
    RequestQueue queue;
    queued(queue, 1);
    REQUIRE_FALSE(queue.least_max_hold_ms().has_value());
    queued(queue, 2, {.max_hold_ms = 300});
    const auto least = queued(queue, 3, {.max_hold_ms = 200});
    REQUIRE(queue.least_max_hold_ms() == 200);
    least->ended = true;
    REQUIRE(queue.least_max_hold_ms() == 300);
}

}  // namespace tabacus::test
