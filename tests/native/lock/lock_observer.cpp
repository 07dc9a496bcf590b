// LockObserver: a query of the requests of all tabs, and what a tab that watches a lock learns.
#include "protocol/lock/queue/lock_observer.hpp"

#include <catch2/catch_test_macros.hpp>

#include "lock_driver_scene.hpp"

namespace tabacus::test {
namespace {

struct ObserverScene : LockDriverScene {
    ObserverScene() : web_lock(neighbour.names.lock("l")) {}

    void query() {
        run_in(
            parts.context.scope, observer.query(nullptr),
            [this](std::vector<LockRequestInfo> found) { answer = std::move(found); },
            [](const Failure&) {});
    }
    /// Lets the query be posted, and returns its nonce.
    std::string nonce() {
        std::vector<std::vector<std::string>> queries;
        origin.run_until([&] {
            queries = neighbour.received(LockMessage::Kind::query);
            return !queries.empty();
        });
        return queries.back().front();
    }
    /// Sends the report of a tab that it holds the lock exclusively.
    void report_hold(const std::string& tab, const std::string& to) {
        observer.on_report({LockMessage::Kind::report, "l", tab, {to, "h", "x", "0", "label"}});
    }
    /// Counts the changes that are reported from here on.
    void watch() {
        subscription = observer.on_change([this] { ++changes; });
        pass(5);
    }

    std::string web_lock;
    LockObserver observer{parts.lock, parts.listeners, parts.requests, *parts.holds, availability};
    std::optional<std::vector<LockRequestInfo>> answer;
    std::optional<Subscription> subscription;
    int changes = 0;
};

}  // namespace

TEST_CASE("lock observer: a tab's own requests are its grants, and then those that wait",
          "[locks]") {
    ObserverScene scene;
    const auto waiting = scene.parts.ask({.mode = LockMode::shared, .label = "second"});
    scene.parts.ask()->ended = true;
    const auto grant = scene.parts.holds->grant({.label = "first"}, scene.parts.hold());
    const auto own = scene.observer.own_requests();
    REQUIRE(own.size() == 2);
    CHECK((own[0].held && own[0].label == "first" && own[0].mode == LockMode::exclusive));
    CHECK((!own[1].held && own[1].label == "second" && own[1].mode == LockMode::shared));
}

TEST_CASE("lock observer: a query is complete when each tab that the browser names has reported",
          "[locks]") {
    ObserverScene scene;
    scene.hold_elsewhere(scene.web_lock);
    auto& third = scene.origin.open_tab();
    third.run<Neighbour>(third).hold(scene.web_lock);
    scene.pass(1);
    scene.query();
    const auto nonce = scene.nonce();
    scene.report_hold("other", nonce);
    scene.report_hold("other", nonce);
    REQUIRE_FALSE(scene.answer.has_value());
    scene.observer.on_report({LockMessage::Kind::report, "l", "third", {nonce, "w", "x", "1", ""}});
    REQUIRE(scene.answer.has_value());
    REQUIRE(scene.answer->size() == 2);
    CHECK((scene.answer->at(0).held && scene.answer->at(0).label == "label"));
    CHECK((!scene.answer->at(1).held && scene.answer->at(1).tab == "third"));
}

TEST_CASE("lock observer: a query that not all tabs answer is complete after a while", "[locks]") {
    ObserverScene scene;
    scene.hold_elsewhere(scene.web_lock);
    scene.query();
    (void)scene.nonce();
    scene.observer.on_report({LockMessage::Kind::report, "l", "other", {"another nonce", "h"}});
    scene.pass(40);
    REQUIRE_FALSE(scene.answer.has_value());
    scene.pass(60);
    REQUIRE(scene.answer.has_value());
    REQUIRE(scene.answer->empty());
}

TEST_CASE("lock observer: a free lock becomes held by an announced grant, which is a change",
          "[locks]") {
    ObserverScene scene;
    scene.watch();
    scene.observer.on_waiter();
    REQUIRE(scene.changes == 0);
    scene.observer.on_taken("other");
    REQUIRE(scene.changes == 1);
    scene.observer.on_waiter();
    REQUIRE(scene.changes == 2);
}

TEST_CASE("lock observer: a holder that is unknown is asked to report, and missed when it is gone",
          "[locks]") {
    ObserverScene scene;
    scene.hold_elsewhere(scene.web_lock);
    scene.watch();
    scene.pass(1'500);
    const auto asked = scene.neighbour.received(LockMessage::Kind::query);
    REQUIRE(asked == std::vector<std::vector<std::string>>(2, {""}));
    REQUIRE(scene.changes == 0);
    scene.neighbour.held.clear();
    scene.pass(1'000);
    REQUIRE(scene.changes == 1);
    scene.pass(5'000);
    REQUIRE(scene.neighbour.received(LockMessage::Kind::query).size() == 3);
}

TEST_CASE("lock observer: a holder that reports is followed, and its end is noticed at once",
          "[locks]") {
    ObserverScene scene;
    scene.hold_elsewhere(scene.web_lock);
    scene.hold_elsewhere(scene.neighbour.names.liveness("other"));
    scene.watch();
    scene.report_hold("other", "");
    scene.pass(5'000);
    REQUIRE(scene.neighbour.received(LockMessage::Kind::query).size() == 1);
    REQUIRE(scene.changes == 0);
    scene.neighbour.held.clear();
    scene.pass(5);
    REQUIRE(scene.changes == 1);
}

TEST_CASE("lock observer: an announced release ends the following of its holder", "[locks]") {
    ObserverScene scene;
    scene.hold_elsewhere(scene.web_lock);
    scene.hold_elsewhere(scene.neighbour.names.liveness("other"));
    scene.watch();
    scene.report_hold("other", "");
    scene.pass(5);
    scene.observer.on_released("other");
    scene.neighbour.held.clear();
    scene.pass(2'000);
    REQUIRE(scene.changes == 0);
    scene.observer.on_waiter();
    REQUIRE(scene.changes == 0);
}

}  // namespace tabacus::test
