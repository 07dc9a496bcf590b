// Sequences, budgets and rate limits over simulated tabs. No id is given twice, no budget is
// overspent and no window exceeds its limit, whichever tabs die, freeze, sleep or set their clocks.
#include <array>

#include "limits_scene.hpp"
#include "protocol/limit/limit_record.hpp"

namespace tabacus::test {
namespace {

constexpr std::uint64_t limit_seeds = 200;
constexpr double year_ms = 365.0 * 24 * 3'600'000;

}  // namespace

TEST_CASE("limits: a sequence gives no number twice, and the numbers of each tab rise") {
    for (std::uint64_t seed = 0; seed < limit_seeds; ++seed) {
        CAPTURE(seed);
        LimitScene scene(seed);
        for (int i = 0; i < 3; ++i) scene.open();
        const SequenceOptions options{.block = 1 + static_cast<std::int64_t>(seed % 5),
                                      .gapless = seed % 4 == 0};
        for (int round = 0; round < 30; ++round) {
            auto& member = scene.any();
            if (member.tab->active()) {
                member.page->number(options, 1 + static_cast<std::int64_t>(scene.random.below(3)));
            }
            if (scene.random.below(4) == 0) scene.strike();
            scene.steps(scene.random.below(30));
        }
        scene.settle();
        CHECK(scene.judge.ids.size() > 10);
    }
}

TEST_CASE("limits: a gapless sequence leaves out no number while no tab dies") {
    for (std::uint64_t seed = 0; seed < limit_seeds; ++seed) {
        CAPTURE(seed);
        LimitScene scene(seed);
        for (int i = 0; i < 3; ++i) scene.open();
        for (int round = 0; round < 20; ++round) {
            scene.any().page->number({.gapless = true});
            scene.steps(scene.random.below(20));
        }
        scene.settle();
        CHECK(scene.judge.ids.size() == 20);
        CHECK(*scene.judge.ids.rbegin() == 20);
    }
}

TEST_CASE("limits: a sequence outlives its database as long as localStorage or a tab survives") {
    for (std::uint64_t seed = 0; seed < limit_seeds; ++seed) {
        CAPTURE(seed);
        LimitScene scene(seed);
        for (int i = 0; i < 2; ++i) scene.open();
        for (int round = 0; round < 12; ++round) {
            scene.any().page->number({.block = 3});
            scene.steps(scene.random.below(20));
            if (round % 4 != 3) continue;
            // All writes to localStorage reach all tabs.
            scene.origin.run();
            scene.origin.lose_database();
            // From here on numbers are above the microseconds since 1970.
            scene.origin.clock().jump(1'000);
            scene.open();
        }
        scene.settle();
        CHECK(scene.judge.ids.size() == 12);
    }
}

TEST_CASE("limits: a page that comes back is noticed by a tab that begins a sequence anew") {
    for (std::uint64_t seed = 0; seed < limit_seeds / 4; ++seed) {
        CAPTURE(seed);
        LimitScene scene(seed);
        auto& back = scene.open();
        back.page->number({.block = 10});
        scene.origin.run();
        if (seed % 2 == 0) {
            scene.origin.freeze(*back.tab);
            scene.origin.thaw(*back.tab);
        } else {
            REQUIRE(scene.origin.page_hide(*back.tab));
            scene.origin.page_show(*back.tab);
        }
        scene.origin.run();
        scene.origin.clear_site_data();
        scene.origin.clock().jump(1'000);
        auto& anew = scene.open();
        for (int i = 0; i < 3; ++i) {
            anew.page->number({.block = 10});
            back.page->number({.block = 10});
            scene.steps(scene.random.below(20));
        }
        scene.settle();
        CHECK(scene.judge.ids.size() == 7);
    }
}

TEST_CASE("limits: a budget is never overspent, whatever happens to tabs") {
    int spent = 0;
    for (std::uint64_t seed = 0; seed < limit_seeds / 2; ++seed) {
        CAPTURE(seed);
        LimitScene scene(seed);
        scene.judge.limit = 40 + static_cast<std::int64_t>(seed % 3) * 400;
        for (int i = 0; i < 3; ++i) scene.open();
        for (int round = 0; round < 40; ++round) {
            auto& member = scene.any();
            const auto many = scene.random.below(3) == 0 ? 25U : 1U;
            for (auto i = many; i > 0 && member.tab->active(); --i) {
                member.page->spend(1 + static_cast<std::int64_t>(scene.random.below(3)));
                scene.steps(scene.random.below(6));
            }
            if (scene.random.below(4) == 0) scene.strike();
            scene.steps(scene.random.below(30));
        }
        scene.settle();
        spent += static_cast<int>(scene.judge.spent);
    }
    CHECK(spent > static_cast<int>(limit_seeds) * 10);
}

TEST_CASE("limits: rights come back from tabs that pause, close, freeze, are cached or die") {
    for (std::uint64_t seed = 0; seed < limit_seeds; ++seed) {
        CAPTURE(seed);
        LimitScene scene(seed, std::make_unique<TimeLastChooser>(seed));
        scene.judge.limit = 1000;
        auto& first = scene.open();
        scene.open();
        if (seed % 4 == 0) scene.origin.hide(*first.tab);
        for (int i = 0; i < 100; ++i) {
            first.page->spend(1);
            scene.steps(scene.random.below(10));
        }
        scene.origin.run_until([&] { return first.page->running == 0; });
        const auto how = seed % 6;
        if (how == 0) scene.origin.freeze(*first.tab);
        if (how == 1) CHECK(scene.origin.page_hide(*first.tab));
        if (how == 2) first.page->close();
        if (how == 3) scene.origin.kill(*first.tab);
        if (how == 4) scene.origin.run();
        auto& second = scene.members[1];
        second.page->spend(1000 - scene.judge.spent - (how == 3 ? 30 : 0));
        scene.origin.run_until([&] { return second.page->running == 0; });
        // A tab that dies within a burst loses the rights that it had taken ahead: at most 30 here,
        // about a quarter of what it spent.
        CHECK(scene.judge.refused == 0);
        // The rights have come back once, and not twice.
        first.frozen = how == 0;
        first.cached = how == 1;
        scene.restore();
        for (int i = 0; i < 60; ++i) {
            scene.members[static_cast<std::size_t>(how == 2 || how == 3 || i % 2)].page->spend(1);
        }
        scene.origin.run();
        CHECK(scene.judge.failure == "");
        CHECK(scene.judge.refused >= 30);
    }
}

TEST_CASE("limits: the first use of a budget removes the rows of tabs that have ended") {
    LimitScene scene(1, std::make_unique<TimeLastChooser>(1));
    scene.judge.limit = 1000;
    const auto rows = [&] { return scene.origin.database().rows(Store::limits).size(); };
    for (int i = 0; i < 12; ++i) {
        auto& member = scene.open();
        for (int n = 0; n < 20; ++n) member.page->spend(1);
        scene.origin.run_until([&] { return member.page->running == 0; });
        CHECK(rows() == 2);  // the budget's, and that of this tab
        if (i % 2 == 0) CHECK(scene.origin.page_hide(*member.tab));
        if (i % 2 == 0) scene.origin.run();  // it gives its rights up
        CHECK(rows() == 2);
        scene.origin.kill(*member.tab);
        scene.origin.run();
    }
    CHECK(scene.judge.failure.empty());
    CHECK(scene.judge.refused == 0);
}

TEST_CASE("limits: connections dropped at any moment overspend no budget") {
    for (std::uint64_t seed = 0; seed < limit_seeds / 4; ++seed) {
        CAPTURE(seed);
        LimitScene scene(seed);
        scene.judge.limit = 300;
        scene.open();
        scene.open();
        for (int i = 0; i < 200; ++i) {
            auto& member = scene.any();
            member.page->spend(1);
            scene.steps(scene.random.below(12));
            if (i % 8 == 7) scene.origin.close_connection(*scene.any().tab);
            // Connections are also dropped while a tab returns its rights.
            for (int more = i % 40 == 39 ? 12 : 0; more > 0; --more) {
                scene.steps(scene.random.below(10));
                scene.origin.close_connection(*scene.any().tab);
            }
        }
        scene.origin.run();
        for (int i = 0; i < 300; ++i) scene.members[0].page->spend(1);
        scene.settle();
        CHECK(scene.judge.refused > 0);
    }
}

TEST_CASE("limits: after a crash of the browser no number and no right is given out again") {
    for (std::uint64_t seed = 0; seed < limit_seeds / 4; ++seed) {
        CAPTURE(seed);
        LimitScene scene(seed);
        scene.judge.limit = 60;
        for (int run = 0; run < 3; ++run) {
            std::array pages{scene.open().page, scene.open().page};
            for (int i = 0; i < 20; ++i) {
                auto* const page = pages.at(scene.random.below(2));
                page->number({.block = 4});
                page->spend(1);
                scene.steps(scene.random.below(20));
            }
            // Commits and writes that are not on the disk are lost, or some of them are.
            scene.origin.crash({.commits = scene.random.coin(), .writes = scene.random.coin()});
        }
        scene.open().page->spend(60);
        scene.settle();
    }
}

TEST_CASE(
    "limits: a tab without rights answers a recall, and is asked again after its next message") {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        LimitScene scene(seed, std::make_unique<TimeLastChooser>(seed));
        scene.judge.limit = 100;
        auto& spender = *scene.open().page;
        auto& late = *scene.open().page;
        auto& clock = scene.members[1].tab->clock();
        for (int i = 0; i < 10; ++i) spender.spend(10);
        scene.origin.run();
        const auto since_ms = clock.monotonic_ms();
        late.spend(1);
        scene.origin.run_until([&] { return scene.judge.refused == 1; });
        CHECK(clock.monotonic_ms() - since_ms < Budget::recall_ms / 2);
        // A stopped tab does not answer, so the rights that it may hold cannot be taken until it
        // sends a message again.
        spender.give(100);
        scene.origin.run();
        spender.spend(1);
        scene.origin.run_until([&] { return scene.judge.spent == 1; });
        scene.origin.suspend(*scene.members[0].tab);
        late.spend(100);
        scene.origin.run_until([&] { return scene.judge.refused == 2; });
        scene.origin.wake(*scene.members[0].tab);
        scene.origin.run();
        spender.give(1);
        scene.origin.run();
        late.spend(100);
        scene.origin.run();
        CHECK(scene.judge.spent == 100);
        CHECK(scene.judge.failure.empty());
    }
}

TEST_CASE(
    "limits: a lost budget gives no right, although a tab that did not know it began it anew") {
    for (std::uint64_t seed = 0; seed < limit_seeds / 4; ++seed) {
        CAPTURE(seed);
        LimitScene scene(seed);
        scene.judge.limit = 50;
        auto& back = scene.open(0, {}, true);
        back.page->spend(30);
        scene.origin.run();
        // While the page is in the back/forward cache, it has no lock that another tab could see.
        REQUIRE(scene.origin.page_hide(*back.tab));
        scene.origin.run();
        scene.origin.clear_site_data();
        auto& anew = scene.open();
        anew.page->spend(1);
        scene.origin.run();
        CHECK(scene.judge.spent == 31);
        scene.origin.page_show(*back.tab);
        scene.origin.run();
        anew.page->spend(20);
        scene.settle();
        CHECK(scene.judge.refused == 1);
        anew.page->give(10);
        scene.origin.run();
        back.page->spend(10);
        scene.settle();
        CHECK(scene.judge.spent == 31);
    }
}

TEST_CASE("limits: a tab records that a budget is lost although its first attempt fails") {
    for (std::uint64_t seed = 0; seed < limit_seeds / 4; ++seed) {
        CAPTURE(seed);
        LimitScene scene(seed);
        scene.judge.limit = 50;
        auto& member = scene.open(0, {}, true);
        member.page->spend(30);
        scene.origin.run();
        scene.origin.lose_database();
        scene.steps(seed % 16);
        scene.origin.close_connection(*member.tab);
        scene.origin.run();
        CHECK(scene.origin.database().rows(Store::limits).at("budget/b").text == "1;50");
    }
}

TEST_CASE("limits: only what is given back to a vanished budget can be spent") {
    for (std::uint64_t seed = 0; seed < limit_seeds; ++seed) {
        CAPTURE(seed);
        LimitScene scene(seed);
        scene.judge.limit = 50;
        auto& first = scene.open();
        first.page->spend(30);
        scene.origin.run();
        scene.origin.lose_database();
        auto& second = scene.open();
        second.page->spend(1);
        scene.origin.run();
        CHECK(scene.judge.refused == 1);
        CHECK(second.page->notices.size() == 1);
        first.page->give(10);
        scene.origin.run();
        second.page->spend(10);
        second.page->spend(1);
        scene.settle();
        CHECK(scene.judge.refused == 2);
        CHECK(scene.judge.spent == 30);
    }
}

TEST_CASE("limits: no window holds more than the limit, whatever tabs and their clocks do") {
    int granted = 0;
    for (std::uint64_t seed = 0; seed < limit_seeds; ++seed) {
        CAPTURE(seed);
        LimitScene scene(seed);
        scene.judge.limit = 3;
        scene.judge.interval_ms = 100;
        const auto skew = [&] {
            constexpr std::array offsets{0.0, year_ms, -year_ms, 5'000.0, -5'000.0};
            return offsets.at(scene.random.below(offsets.size()));
        };
        // One tab always stays, because a tab believes its wall clock if no other has watched the
        // time.
        scene.open(skew()).page->pass(12, true);
        scene.origin.run_until([&] { return scene.judge.granted > 0; });
        for (int i = 0; i < 3; ++i) scene.open(skew());
        for (int round = 0; round < 12; ++round) {
            auto& member = scene.any();
            if (member.tab->active()) member.page->pass(3, scene.random.below(3) > 0);
            member.tab->set_wall_clock(skew());
            scene.steps(scene.random.below(60));
            if (scene.random.below(3) == 0 && scene.members.size() > 3) {
                auto& other = scene.members[1 + scene.random.below(scene.members.size() - 1)];
                if (!other.tab->active()) continue;
                const auto how = scene.random.below(3);
                if (how == 0) scene.origin.kill(*other.tab);
                if (how == 1) scene.origin.freeze(*other.tab), other.frozen = true;
                if (how == 2) other.cached = scene.origin.page_hide(*other.tab);
                scene.open(skew());
            }
            if (scene.random.below(5) == 0) scene.restore();
        }
        scene.settle();
        granted += scene.judge.granted;
    }
    CHECK(granted > static_cast<int>(limit_seeds) * 12);
}

TEST_CASE(
    "limits: a grant whose commit takes too long is delivered after the next, and none is lost") {
    for (std::uint64_t seed = 0; seed < limit_seeds / 2; ++seed) {
        CAPTURE(seed);
        LimitScene scene(seed, std::make_unique<TimeLastChooser>(seed));
        scene.judge.limit = 1 + static_cast<std::int64_t>(seed % 3);
        scene.judge.interval_ms = 60'000;
        auto& first = scene.open();
        auto& second = scene.open();
        for (auto turn = scene.judge.limit; turn > 0; --turn) {
            auto& member = scene.any();
            member.page->pass(1, true);
            const auto began_ms = member.page->true_ms();
            // The first commit is 50 ms late, longer than the rate limit allows for. The second one
            // is 400 ms late, or on time.
            const auto done = [&] { return member.page->running == 0; };
            for (const double late_ms : {50.0, seed % 2 == 0 ? 400.0 : 0.0}) {
                scene.origin.run_until([&] { return scene.committing() || done(); });
                if (!done()) scene.origin.clock().jump(late_ms);
                scene.origin.run_until([&] { return !scene.committing(); });
            }
            scene.origin.run_until(done);
            CHECK(member.page->true_ms() - began_ms < 2'000);
        }
        CHECK(scene.judge.granted == scene.judge.limit);
        second.page->pass(1, false);
        first.page->pass(1, false);
        scene.settle();
        CHECK(scene.judge.granted == scene.judge.limit);
    }
}

TEST_CASE(
    "limits: a caller that gives up while its grant commits leaves it to its tab's next one") {
    for (std::uint64_t seed = 0; seed < limit_seeds / 4; ++seed) {
        CAPTURE(seed);
        LimitScene scene(seed, std::make_unique<TimeLastChooser>(seed));
        scene.judge.limit = 2;
        scene.judge.interval_ms = 60'000;
        auto& page = *scene.open().page;
        page.pass(1, true);
        scene.origin.run_until([&] { return page.running == 0; });
        page.pass(1, true, 5);
        scene.origin.run_until([&] { return scene.committing(); });
        scene.origin.clock().jump(6);
        scene.origin.run_until([&] { return page.running == 0; });
        page.pass(1, false);
        scene.settle();
        CHECK(scene.judge.granted == 2);
    }
}

TEST_CASE("limits: commits that take longer than the interval keep no caller out for ever") {
    for (std::uint64_t seed = 0; seed < limit_seeds / 4; ++seed) {
        CAPTURE(seed);
        LimitScene scene(seed, std::make_unique<TimeLastChooser>(seed));
        scene.judge.limit = 2;
        scene.judge.interval_ms = 5;
        auto& page = *scene.open().page;
        page.pass(4, true);
        for (int commits = 0; commits < 30 && page.running > 0; ++commits) {
            scene.origin.run_until([&] { return scene.committing() || page.running == 0; });
            scene.origin.clock().jump(20);
            scene.origin.run_until([&] { return !scene.committing(); });
        }
        CHECK(scene.judge.granted == 4);
        scene.settle();
    }
}

TEST_CASE("limits: a wall clock that goes back while no tab is open lets no call through early") {
    for (std::uint64_t seed = 0; seed < limit_seeds; ++seed) {
        CAPTURE(seed);
        LimitScene scene(seed, std::make_unique<TimeLastChooser>(seed));
        scene.judge.limit = 2;
        scene.judge.interval_ms = 10'000;
        auto& first = scene.open(seed % 2 == 0 ? year_ms : 0);
        first.page->pass(2, false);
        scene.origin.run_until([&] { return first.page->running == 0; });
        CHECK(scene.judge.granted == 2);
        scene.origin.kill(*first.tab);
        auto& second = scene.open(-year_ms);
        second.page->pass(1, false);
        scene.origin.run_until([&] { return second.page->running == 0; });
        CHECK(scene.judge.granted == 2);
        second.page->pass(2, true);
        scene.settle();
        CHECK(scene.judge.granted == 4);
    }
}

TEST_CASE("limits: a rate limit that vanished lets no call through for an interval") {
    for (std::uint64_t seed = 0; seed < limit_seeds; ++seed) {
        CAPTURE(seed);
        LimitScene scene(seed);
        scene.judge.limit = 2;
        scene.judge.interval_ms = 100'000;
        scene.open().page->pass(2, true);
        scene.origin.run();
        scene.origin.lose_database();
        scene.open().page->pass(3, seed % 2 == 0);
        scene.settle();
        if (seed % 2 == 0) CHECK(scene.judge.granted == 5);
    }
}

TEST_CASE("limits: rows and messages are parsed as they were formatted, or not at all") {
    const RateRow rate{7, 100, 3, 1'700'000'000'000, {{90, 2}, {104, 1}}};
    CHECK(parse_rate(format_rate(rate)) == rate);
    CHECK(parse_sequence(format_sequence({12, "abc"})) == SequenceRow{12, "abc"});
    CHECK(parse_budget(format_budget({12})) == BudgetRow{12});
    const HoldingRow holding{HoldingRow::State::given, 3, 4};
    CHECK(parse_holding(format_holding(holding)) == holding);
    const LimitMessage message{LimitMessage::Kind::recall, "budget/b%2F", 0, "a0"};
    CHECK(parse_limit_message(format_limit_message(message)) == message);
    for (const auto* text :
         {"", "1", "1;", "2;1;1;1;1", "1;1;1;1;-1", "1;1;1;1;1;5", "1;1;1;1;1;5;0",
          "1;1;1;1;1;5;1;4;1", "1;01;1;1;1", "1;1;1;1;9007199254740993"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_rate(text));
    }
    for (const auto* text : {"", "1;1", "1;1;A", "1;-1;a", "1;1;a;", "2;1;a", "~"}) {
        CHECK_FALSE(parse_sequence(text));
    }
    for (const auto* text : {"", "1", "1;1;", "1;+1", "1; 1"}) CHECK_FALSE(parse_budget(text));
    for (const auto* text : {"", "1;o;1", "1;x;1;1", "1;oo;1;1"}) CHECK_FALSE(parse_holding(text));
    for (const auto* text :
         {"", "1;c;k", "1;z;k;1;a", "1;c;k;1", "1;c;k;1;", "1;c;k;1;A", "1;c;k;1;a;"})
        CHECK_FALSE(parse_limit_message(text));
}

}  // namespace tabacus::test
