// Witness: how a tab learns the time of a rate limit, and keeps it for others.
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <string>

#include "limits_scene.hpp"
#include "protocol/common/names.hpp"
#include "protocol/limit/limit_record.hpp"
#include "protocol/limit/limit_store.hpp"
#include "tabacus/limit/witness.hpp"

namespace tabacus::test {
namespace {

/// A tab that uses a rate limit. Its messages reach `peer`, while that answers.
class WitnessTab {
  public:
    explicit WitnessTab(LabTab& world)
        : world_(world),
          store_(world, names_, [](const Notice& /*notice*/) {}),
          owner_{world, store_, names_.witness("r"), [this](bool asks) { send(asks); }},
          witness(owner_, key_, policy_) {}

    void learn() {
        scope_.spawn([](WitnessTab& self) -> Task<void> {
            co_await self.witness.learn_time();
            ++self.learnt;
        }(*this));
    }
    /// Whether the wall clock is a source of the time: nobody else was asked.
    [[nodiscard]] bool alone() const { return asked == 0; }

    WitnessTab* peer = nullptr;
    bool answers = true;  // whether messages reach this tab
    int learnt = 0;
    int asked = 0;  // how often this tab has asked for the time

  private:
    void send(bool asks) {
        asked += asks ? 1 : 0;
        auto* const to = peer;
        if (to == nullptr || !to->answers) return;
        to->world_.post([to, asks] { asks ? to->witness.asked() : to->witness.changed(); });
    }

    LabTab& world_;
    Names names_{"test"};
    LimitStore store_;
    std::string key_ = "rate/r";
    RatePolicy policy_{.limit = 5, .interval_ms = 100};
    RateOwner owner_;

  public:
    Witness witness;

  private:
    Scope scope_;  // declared last: its coroutines use all members above
};

struct WitnessScene {
    WitnessScene() : first(tab.run<WitnessTab>(tab)), second(other_tab.run<WitnessTab>(other_tab)) {
        first.peer = &second;
        second.peer = &first;
    }
    void learn(WitnessTab& page) {
        const auto before = page.learnt;
        page.learn();
        origin.run_until([&] { return page.learnt > before; });
    }
    /// Steps until `time_ms` have passed by the origin's clock, also if no tab has a timer.
    void pass(double time_ms) {
        auto& clock = origin.clock();
        const auto until_ms = clock.now_ms() + time_ms;
        while (clock.now_ms() < until_ms) {
            if (!origin.step()) clock.jump(until_ms - clock.now_ms());
        }
    }
    /// The first tab knows the time, and has written it into the row.
    void begin() {
        learn(first);
        first.witness.asked();
        origin.run();
    }

    Origin origin{Origin::Options{}, std::make_unique<TimeLastChooser>(1)};
    LabTab& tab{origin.open_tab({})};
    LabTab& other_tab{origin.open_tab({})};
    WitnessTab& first;
    WitnessTab& second;
};

}  // namespace

TEST_CASE("limits: a tab without a witness begins the time, and asks nobody") {
    WitnessScene scene;
    scene.learn(scene.first);
    CHECK(scene.first.witness.clock().known());
    CHECK(scene.first.witness.clock().now() == 1);
    CHECK(scene.first.alone());
}

TEST_CASE(
    "limits: a tab that finds an old row and no witness adds what its wall clock has passed") {
    WitnessScene scene;
    scene.begin();
    scene.origin.kill(scene.tab);
    scene.pass(10'000);
    scene.learn(scene.second);
    CHECK(scene.second.witness.clock().now() >= 10'000);
    CHECK(scene.second.witness.clock().now() < 11'000);
    CHECK(scene.second.alone());
}

TEST_CASE("limits: a tab that finds an old row keeps its time if the wall clock has gone back") {
    WitnessScene scene;
    scene.begin();
    const auto written = scene.first.witness.clock().now();
    scene.origin.kill(scene.tab);
    scene.other_tab.set_wall_clock(-100'000);
    scene.pass(10'000);
    scene.learn(scene.second);
    CHECK(scene.second.witness.clock().now() <= written + 100);
}

TEST_CASE("limits: a tab that joins learns the time from a witness, within its bounds") {
    WitnessScene scene;
    scene.begin();
    scene.pass(500);
    scene.other_tab.set_wall_clock(1'000'000);
    scene.learn(scene.second);
    CHECK_FALSE(scene.second.alone());
    const auto& joined = scene.second.witness.clock();
    const auto now = scene.first.witness.clock().now();
    CHECK(joined.now() <= now);
    CHECK(joined.now() + joined.ahead() >= now);
    CHECK(joined.ahead() < 100);
}

TEST_CASE("limits: a tab that joins asks again while a witness does not answer, until it is gone") {
    WitnessScene scene;
    scene.begin();
    scene.first.answers = false;
    scene.second.learn();
    scene.pass(1'000);
    CHECK(scene.second.learnt == 0);
    CHECK(scene.second.asked >= 2);
    scene.origin.kill(scene.tab);
    scene.pass(1'000);
    CHECK(scene.second.learnt == 1);
    CHECK(scene.second.witness.clock().known());
}

TEST_CASE("limits: a tab that forgets the time is no witness, and lets another one begin alone") {
    WitnessScene scene;
    scene.begin();
    scene.first.witness.forget();
    CHECK_FALSE(scene.first.witness.clock().known());
    scene.pass(1);
    const auto asked = scene.second.asked;
    scene.learn(scene.second);
    CHECK(scene.second.asked == asked);
    // It does not answer, either.
    scene.first.witness.asked();
    CHECK_FALSE(scene.first.witness.clock().known());
}

TEST_CASE("limits: a stamp counts the writes of a row, and a row that vanished has used all") {
    WitnessScene scene;
    scene.begin();
    RateRow row;
    row.serial = 7;
    row.now = 50;
    scene.first.witness.stamp(row, false);
    CHECK(row.serial == 8);
    CHECK(row.now >= 50);
    CHECK(row.grants.empty());
    scene.first.witness.stamp(row, true);
    CHECK(row.serial == 9);
    CHECK(row.grants == std::vector{RateRow::Grants{row.now + row.ahead, 5}});
}

}  // namespace tabacus::test
