// Sequences, budgets and rate limits over simulated tabs: ids are never given twice, budgets never
// overspent, windows never exceeded, whoever dies, freezes, sleeps or sets its clock.
#include <catch2/catch_test_macros.hpp>
#include <deque>

#include "lab/explore/scenario.hpp"
#include "lab/explore/search.hpp"
#include "lock_scene.hpp"
#include "protocol/limit_record.hpp"
#include "tabacus/limits.hpp"

namespace tabacus::test {
namespace {

constexpr std::uint64_t limit_seeds = 200;
constexpr double year_ms = 365.0 * 24 * 3'600'000;

/// What all tabs together were told.
struct LimitJudge {
    std::string complaint;  // the first

    void complain(const std::string& what) {
        if (complaint.empty()) complaint = what;
    }

    // Of a sequence.
    std::set<std::int64_t> ids;
    void got(SequenceRange range, std::int64_t& last_of_tab) {
        if (range.first <= last_of_tab) complain("numbers fell within a tab");
        last_of_tab = range.last;
        for (auto id = range.first; id <= range.last; ++id) {
            if (!ids.insert(id).second) complain(std::to_string(id) + " was given twice");
        }
    }

    // Of a budget.
    std::int64_t limit = 0;
    std::int64_t spent = 0;
    int refused = 0;
    void took(std::int64_t n) {
        spent += n;
        if (spent > limit) complain("the budget is overspent");
    }

    // Of a rate limit.
    std::deque<double> granted_ms;
    double interval_ms = 0;
    int granted = 0;
    void let_through(double at_ms) {
        ++granted;
        granted_ms.push_back(at_ms);
        while (granted_ms.front() + interval_ms <= at_ms) granted_ms.pop_front();
        if (static_cast<std::int64_t>(granted_ms.size()) > limit) {
            complain("more than the limit in a window");
        }
    }
};

class LimitPage {
  public:
    LimitPage(LabTab& world, LimitJudge& judge)
        : world_(world),
          judge_(judge),
          limits_(world, "test", [this](const Notice& notice) { notices.push_back(notice); }) {}

    void number(SequenceOptions options, std::int64_t count = 1) {
        ++running;
        scope_.spawn([](LimitPage& self, SequenceOptions how, std::int64_t n) -> Task<void> {
            auto& sequence = self.limits_.sequence("s", how);
            if (const auto now = n == 1 ? sequence.next_now() : 0) {
                self.judge_.got({now, now}, self.last_id_);
            } else {
                auto got = co_await attempt(sequence.reserve(n));
                if (got) self.judge_.got(got.value(), self.last_id_);
            }
            --self.running;
        }(*this, options, count));
    }
    void spend(std::int64_t n) {
        ++running;
        scope_.spawn([](LimitPage& self, std::int64_t much) -> Task<void> {
            auto taken = co_await attempt(self.budget().take(much));
            if (taken && taken.value()) self.judge_.took(much);
            if (taken && !taken.value()) ++self.judge_.refused;
            --self.running;
        }(*this, n));
    }
    void give(std::int64_t n) {
        // Before it is asked for: from then on another may spend it.
        judge_.spent -= n;
        ++running;
        scope_.spawn([](LimitPage& self, std::int64_t much) -> Task<void> {
            (void)co_await attempt(self.budget().give(much));
            --self.running;
        }(*this, n));
    }
    /// Each after the other.
    void pass(int times, bool waits) {
        ++running;
        scope_.spawn([](LimitPage& self, int count, bool patient) -> Task<void> {
            auto& rate = self.rate();
            for (int i = 0; i < count; ++i) {
                bool through = patient;
                if (patient) {
                    auto taken = co_await attempt(rate.take(std::nullopt, std::nullopt));
                    through = static_cast<bool>(taken);
                } else {
                    auto tried = co_await attempt(rate.try_take());
                    through = tried && tried.value();
                }
                if (through) self.judge_.let_through(self.true_ms());
            }
            --self.running;
        }(*this, times, waits));
    }
    void close() {
        scope_.spawn([](LimitPage& self) -> Task<void> { co_await self.limits_.close(); }(*this));
    }
    Budget& budget() { return limits_.budget("b", judge_.limit); }
    RateLimit& rate() {
        return limits_.rate_limit("r", judge_.limit, static_cast<std::int64_t>(judge_.interval_ms));
    }
    [[nodiscard]] double true_ms() { return world_.clock().monotonic_ms(); }

    std::vector<Notice> notices;
    int running = 0;

  private:
    LabTab& world_;
    LimitJudge& judge_;
    std::int64_t last_id_ = 0;
    Limits limits_;
    Scope scope_;  // last: what runs in it uses all of the above
};

struct LimitScene {
    explicit LimitScene(std::uint64_t seed, std::unique_ptr<lab::Chooser> chooser = nullptr)
        : origin(Origin::Options{seed, model_of_seed(seed)}, std::move(chooser)),
          random(seed * 7919 + 1) {}

    struct Member {
        LabTab* tab;
        LimitPage* page;
        bool frozen = false;
        bool cached = false;
    };
    Member& open(double wall_ms = 0, Platform platform = {}) {
        auto& tab = origin.open_tab(platform);
        tab.set_wall_clock(wall_ms);
        auto& page = tab.run<LimitPage>(tab, judge);
        members.push_back({&tab, &page});
        return members.back();
    }
    void steps(std::size_t count) {
        for (; count > 0 && origin.step(); --count) {
        }
    }
    Member& any() { return members[random.below(members.size())]; }

    /// Something happens to some tab.
    void strike() {
        auto& member = any();
        if (!member.tab->alive()) return;
        switch (random.below(7)) {
            case 0:
                origin.kill(*member.tab);
                open();
                break;
            case 1:
                if (member.tab->active()) origin.freeze(*member.tab), member.frozen = true;
                break;
            case 2:
                if (member.tab->active()) member.cached = origin.page_hide(*member.tab);
                if (!member.tab->alive()) open();
                break;
            case 3:
                origin.close_connection(*member.tab);
                break;
            case 4:
                if (member.tab->active()) member.page->close(), open();
                break;
            default:
                restore();
        }
    }
    void restore() {
        for (auto& member : members) {
            if (!member.tab->alive()) continue;
            if (std::exchange(member.frozen, false)) origin.thaw(*member.tab);
            if (std::exchange(member.cached, false)) origin.page_show(*member.tab);
        }
    }
    void settle() {
        restore();
        origin.run();
        for (const auto& member : members) {
            if (member.tab->alive()) CHECK(member.page->running == 0);
        }
        CHECK(judge.complaint == "");
    }

    LimitJudge judge;  // outlives the pages
    Origin origin;
    lab::SeededRandom random;
    std::deque<Member> members;
};

}  // namespace

TEST_CASE("limits: a sequence gives no number twice, and in each tab they rise") {
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

TEST_CASE("limits: a gapless sequence leaves out no number while nobody dies") {
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

TEST_CASE("limits: a sequence outlives its database, as long as localStorage or a tab does") {
    for (std::uint64_t seed = 0; seed < limit_seeds; ++seed) {
        CAPTURE(seed);
        LimitScene scene(seed);
        for (int i = 0; i < 2; ++i) scene.open();
        for (int round = 0; round < 12; ++round) {
            scene.any().page->number({.block = 3});
            scene.steps(scene.random.below(20));
            if (round % 4 != 3) continue;
            // What was written to localStorage has reached everybody.
            scene.origin.run();
            scene.origin.lose_database();
            // Numbers are above the microseconds since 1970 from here on.
            scene.origin.clock().jump(1'000);
            scene.open();
        }
        scene.settle();
        CHECK(scene.judge.ids.size() == 12);
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

TEST_CASE("limits: rights come back, of those who pause, close, freeze or go, and of the dead") {
    for (std::uint64_t seed = 0; seed < limit_seeds; ++seed) {
        CAPTURE(seed);
        LimitScene scene(seed, std::make_unique<PatientChooser>(seed));
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
        // A tab that dies within a burst takes its window with it: a quarter of what it spent.
        CHECK(scene.judge.refused == 0);
        // And they have come back once.
        first.frozen = how == 0;
        first.cached = how == 1;
        scene.restore();
        for (int i = 0; i < 60; ++i) {
            scene.members[static_cast<std::size_t>(how == 2 || how == 3 || i % 2)].page->spend(1);
        }
        scene.origin.run();
        CHECK(scene.judge.complaint == "");
        CHECK(scene.judge.refused >= 30);
    }
}

TEST_CASE("limits: connections dropped at any moment overspend no budget") {
    for (std::uint64_t seed = 0; seed < seeds / 4; ++seed) {
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
            // Also while what is left goes back.
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

TEST_CASE("limits: of a budget that vanished nothing can be spent, but what is given back") {
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
        // Always one that stays: a wall clock is believed where nobody has watched.
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

TEST_CASE("limits: a wall clock that goes back while nobody is there opens no gate") {
    for (std::uint64_t seed = 0; seed < limit_seeds; ++seed) {
        CAPTURE(seed);
        LimitScene scene(seed, std::make_unique<PatientChooser>(seed));
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

TEST_CASE("limits: a rate limit that vanished lets nobody through for an interval") {
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

TEST_CASE("limits: what is stored and said is read as it was written, or not at all") {
    const RateRow rate{7, 100, 3, 1'700'000'000'000, {{90, 2}, {104, 1}}};
    CHECK(parse_rate(format_rate(rate)) == rate);
    CHECK(parse_sequence(format_sequence({12, "abc"})) == SequenceRow{12, "abc"});
    CHECK(parse_budget(format_budget({12})) == BudgetRow{12});
    const HoldingRow holding{HoldingRow::State::given, 3, 4};
    CHECK(parse_holding(format_holding(holding)) == holding);
    const LimitMessage message{LimitMessage::Kind::recall, "budget/b%2F", 0};
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
    for (const auto* text : {"", "1;c;k", "1;z;k;1", "1;c;k;1;1"})
        CHECK_FALSE(parse_limit_message(text));
}

namespace {

/// Three that want what two can have, under every schedule of so many switches.
class LimitPlay final : public lab::Play {
  public:
    enum class What : std::uint8_t { sequence, budget };
    explicit LimitPlay(What what) : what_(what) { judge_.limit = 2; }
    void begin(Origin& origin) override {
        for (int i = 0; i < 2; ++i) {
            auto& tab = origin.open_tab();
            auto& page = tab.run<LimitPage>(tab, judge_);
            const int wanted = i == 0 ? 2 : 1;
            for (int n = 0; n < wanted; ++n) {
                tab.post([this, &page] {
                    if (what_ == What::sequence) page.number({.block = 2});
                    if (what_ == What::budget) page.spend(1);
                });
            }
        }
    }
    std::string after_step() override { return judge_.complaint; }
    std::string at_rest(Origin& /*origin*/) override { return judge_.complaint; }

  private:
    What what_;
    LimitJudge judge_;
};

}  // namespace

TEST_CASE("limits: no schedule of two tabs repeats an id or overspends, nor with a fault") {
    using lab::Fault;
    const auto explored = [](LimitPlay::What what, lab::Faults faults, lab::Bound bound) {
        lab::Scenario scenario{
            .origin = {}, .faults = faults, .faults_max = faults.empty() ? 0U : 1U, .play = [what] {
                return std::make_unique<LimitPlay>(what);
            }};
        lab::Search search(lab::program_of(scenario), bound);
        search.explore(UINT64_MAX);
        CHECK(search.exhausted());
        CHECK_FALSE(search.failure());
    };
    const lab::Faults faults{Fault::kill, Fault::freeze, Fault::bfcache, Fault::close_connection};
    for (const auto what : {LimitPlay::What::sequence, LimitPlay::What::budget}) {
        explored(what, {}, {.switches = 2});
        explored(what, faults, {.switches = 0});
    }
}

}  // namespace tabacus::test
