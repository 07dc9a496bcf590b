// Contenders: other tabs' requests, and between which requests of this tab they came.
#include "protocol/lock/queue/contenders.hpp"

#include <catch2/catch_test_macros.hpp>

namespace tabacus::test {
namespace {

AcquireRequest made(std::uint64_t id, double since_ms) {
    AcquireRequest request;
    request.id = id;
    request.since_ms = since_ms;
    return request;
}

/// A contender whose request was made and received at one moment.
Contender came(const std::string& tab, double at_ms, std::uint64_t after_request,
               std::uint64_t after_position) {
    return {.tab = tab,
            .since_ms = at_ms,
            .received_ms = at_ms,
            .after_request = after_request,
            .after_position = after_position};
}

}  // namespace

TEST_CASE("contenders: a request made after an announcement came later, whatever the clocks say",
          "[locks]") {
    Contenders contenders;
    contenders.note(came("b", 100, 1, 1));
    REQUIRE_FALSE(contenders.came_before(made(1, 100)));
    REQUIRE(contenders.came_before(made(1, 101)));
    REQUIRE(contenders.came_before(made(2, 50)));
}

TEST_CASE("contenders: two announcements of a tab at one point are one contender, the earlier",
          "[locks]") {
    Contenders contenders;
    auto tries = came("b", 90, 1, 1);
    tries.tries = true;
    contenders.note(came("b", 100, 1, 1));
    REQUIRE_FALSE(contenders.any_tries());
    contenders.note(tries);
    REQUIRE(contenders.any_tries());
    REQUIRE(contenders.came_before(made(1, 95)));
    contenders.forget_before(2);
    REQUIRE(contenders.empty());
}

TEST_CASE("contenders: a tab that comes at another point is another contender", "[locks]") {
    Contenders contenders;
    contenders.note(came("b", 100, 1, 1));
    contenders.note(came("b", 110, 3, 2));
    REQUIRE(contenders.any_after(2));
    REQUIRE_FALSE(contenders.any_after(3));
    REQUIRE(contenders.came_between(1, made(2, 0)));
    REQUIRE_FALSE(contenders.came_between(2, made(3, 0)));
    REQUIRE(contenders.came_between(2, made(4, 0)));
    contenders.forget_before(2);
    REQUIRE_FALSE(contenders.came_between(1, made(2, 0)));
    REQUIRE_FALSE(contenders.empty());
}

TEST_CASE("contenders: a tab that announces for ever takes a bounded memory", "[locks]") {
    Contenders contenders;
    for (std::uint64_t i = 1; i <= 1'001; ++i) contenders.note(came("b", 100, i, i));
    REQUIRE(contenders.any_after(1'000));
    REQUIRE_FALSE(contenders.any_after(1'001));
}

TEST_CASE("contenders: one that waits no longer is forgotten, unless it announced itself just now",
          "[locks]") {
    Contenders contenders;
    contenders.note(came("b", 100, 1, 1));
    REQUIRE_FALSE(contenders.forget_gone(149, 149));
    REQUIRE_FALSE(contenders.empty());
    REQUIRE(contenders.forget_gone(150, 150));
    REQUIRE(contenders.empty());
}

TEST_CASE("contenders: a contender from the future is forgotten after the clock was set back",
          "[locks]") {
    Contenders contenders;
    contenders.note(came("b", 100, 1, 1));
    REQUIRE(contenders.forget_gone(20, 20));
    REQUIRE(contenders.empty());
}

}  // namespace tabacus::test
