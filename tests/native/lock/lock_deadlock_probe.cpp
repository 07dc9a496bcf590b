// DeadlockProbe: what becomes of a probe at each request that it comes to.
#include "protocol/lock/queue/deadlock_probe.hpp"

#include <catch2/catch_test_macros.hpp>

#include "lock_driver_scene.hpp"

namespace tabacus::test {
namespace {

using Path = std::vector<std::string>;
using Paths = std::vector<Path>;

struct ProbeScene : LockDriverScene {
    ProbeScene() : outer(std::make_shared<Grant>()) {}

    /// A request for the lock "l" that was made within the grant of another lock.
    AcquireRequestPtr ask_within(const std::string& label) {
        return parts.ask({.label = label, .within = outer});
    }
    /// Returns the id of a request in probes.
    [[nodiscard]] std::string id_of(const AcquireRequest& request) const {
        const auto number = std::to_string(request.id);
        return parts.context.epochs.tab() + "." + std::string(20 - number.size(), '0') + number;
    }
    /// Returns the probes that were sent, once all have been received.
    Paths probes() {
        pass(1);
        return neighbour.received(LockMessage::Kind::probe);
    }
    std::shared_ptr<Grant> outer;
    DeadlockProbe probe{parts.lock, parts.requests, *parts.holds, driver};
};

/// Ids that are less and greater than those of all requests.
constexpr const char* least = "!";
constexpr const char* greatest = "~";

}  // namespace

TEST_CASE("deadlock probe: a request that goes on waiting sends a probe again and again",
          "[locks]") {
    ProbeScene scene;
    const auto request = scene.ask_within("a");
    scene.probe.start(request);
    scene.pass(15);
    REQUIRE(scene.probes().empty());
    scene.pass(10);
    const Path path{"1", scene.id_of(*request), "a", "l"};
    REQUIRE(scene.probes() == Paths{path});
    scene.pass(1'000);
    REQUIRE(scene.probes() == Paths{path, path});
    request->ended = true;
    scene.pass(20'000);
    REQUIRE(scene.probes().size() == 2);
}

TEST_CASE("deadlock probe: a probe goes on along requests within the grants, while they wait",
          "[locks]") {
    ProbeScene scene;
    const auto request = scene.ask_within("b");
    const Path path{"1", greatest, "a", "k"};
    scene.probe.follow({std::make_shared<Grant>()}, path);
    REQUIRE(scene.probes().empty());
    scene.probe.follow({scene.outer}, path);
    REQUIRE(scene.probes() ==
            Paths{Path{"1", greatest, "a", "k", scene.id_of(*request), "b", "l"}});
    request->ended = true;
    scene.probe.follow({scene.outer}, path);
    REQUIRE(scene.probes().size() == 1);
}

TEST_CASE("deadlock probe: a probe that comes to a request again, but not to its sender, ends",
          "[locks]") {
    ProbeScene scene;
    const auto request = scene.ask_within("b");
    scene.probe.follow({scene.outer}, {"1", greatest, "a", "k", scene.id_of(*request), "b", "l"});
    REQUIRE(scene.probes().empty());
}

TEST_CASE("deadlock probe: the request with the greatest id confirms the cycle, and then fails",
          "[locks]") {
    ProbeScene scene;
    const auto request = scene.ask_within("a");
    const auto id = scene.id_of(*request);
    scene.probe.follow({scene.outer}, {"1", id, "a", "l", least, "b", "k"});
    REQUIRE(scene.probes() == Paths{Path{"2", id, "a", "l"}});
    REQUIRE_FALSE(request->ended);
    scene.probe.follow({scene.outer}, {"2", id, "a", "l", least, "b", "k"});
    REQUIRE(request->failure->code() == ErrorCode::deadlock);
    REQUIRE(std::string(request->failure->what()) ==
            "each waits for a lock that the next one holds: 'a' waits for 'l', 'b' waits for 'k'");
}

TEST_CASE("deadlock probe: a request with a lesser id notifies the victim of the cycle",
          "[locks]") {
    ProbeScene scene;
    const auto request = scene.ask_within("a");
    scene.probe.follow({scene.outer}, {"2", scene.id_of(*request), "a", "l", greatest, "b", "k/1"});
    scene.pass(1);
    REQUIRE_FALSE(request->ended);
    REQUIRE(scene.neighbour.messages.size() == 1);
    const auto& message = scene.neighbour.messages[0];
    REQUIRE(message.kind == LockMessage::Kind::victim);
    REQUIRE(message.key == escaped("k/1"));
    REQUIRE(message.detail == Path{greatest});
}

TEST_CASE("deadlock probe: a victim sends a probe of its own, and other requests do not",
          "[locks]") {
    ProbeScene scene;
    const auto victim = scene.ask_within("a");
    scene.ask_within("b");
    const auto notify = [&](const std::string& id) {
        scene.probe.on_victim({LockMessage::Kind::victim, "l", "other", {id}});
    };
    notify(greatest);
    REQUIRE(scene.probes().empty());
    notify(scene.id_of(*victim));
    REQUIRE(scene.probes() == Paths{Path{"1", scene.id_of(*victim), "a", "l"}});
    victim->ended = true;
    notify(scene.id_of(*victim));
    REQUIRE(scene.probes().size() == 1);
}

}  // namespace tabacus::test
