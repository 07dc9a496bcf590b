// Sequences, budgets and rate limits under every schedule of a few preemptions, and with faults.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "equal_states.hpp"
#include "lab/digest.hpp"
#include "lab/explore/sampling.hpp"
#include "lab/explore/scenario.hpp"
#include "lab/explore/search.hpp"
#include "lab/explore/shrink.hpp"
#include "lab/report/sequence_diagram.hpp"
#include "limit/limits_scene.hpp"
#include "rewinding.hpp"

namespace tabacus::test {
namespace {

using lab::Fault;
using lab::Faults;

constexpr std::array limit_faults = {Fault::kill,         Fault::freeze,           Fault::throttle,
                                     Fault::bfcache,      Fault::close_connection, Fault::quota,
                                     Fault::lose_database};
constexpr std::uint32_t limit_faults_max = 3;

enum class LimitKind : std::uint8_t { sequence, budget, rate };
struct LimitPlan {
    LimitKind what = LimitKind::sequence;
    std::vector<int> asks;  // how often each tab asks, each time in a turn of its own
    bool watched = false;   // whether tabs notice the loss of the database by themselves
};

/// The tabs together ask for one more than the limit allows; a sequence gives numbers in blocks of
/// two. At the end a further tab asks once.
class LimitWorkload final : public lab::Workload {
  public:
    explicit LimitWorkload(LimitPlan plan) : plan_(std::move(plan)) {
        judge_.limit = std::accumulate(plan_.asks.begin(), plan_.asks.end(), -1);
        judge_.interval_ms = 100;
    }
    void begin(Origin& origin) override {
        for (const int asks : plan_.asks) {
            auto& page = open(origin);
            for (int n = 0; n < asks; ++n) {
                members_.back().tab->post([this, &page] { ask(page); });
            }
        }
    }
    [[nodiscard]] std::optional<std::uint64_t> state() const override {
        lab::Digest all(static_cast<std::uint64_t>(judge_.granted));
        all.add(static_cast<std::uint64_t>(judge_.spent));
        all.add(static_cast<std::uint64_t>(judge_.refused));
        for (const auto id : judge_.ids) all.add(static_cast<std::uint64_t>(id));
        for (const auto at_ms : judge_.granted_ms) all.add(std::bit_cast<std::uint64_t>(at_ms));
        return all.value();
    }
    std::string after_step() override { return judge_.failure; }
    std::string at_rest(Origin& origin) override {
        for (const auto& member : members_) {
            if (member.tab->alive() && member.page->running > 0) {
                return "tab " + std::to_string(member.tab->id()) + " waits for ever";
            }
        }
        auto& page = open(origin);
        ask(page);
        origin.run_until([&page] { return page.running == 0; }, 5'000);
        return judge_.failure;
    }

  private:
    struct Member {
        LabTab* tab;
        LimitPage* page;
    };
    LimitPage& open(Origin& origin) {
        auto& tab = origin.open_tab();
        auto& page = tab.run<LimitPage>(tab, judge_, plan_.watched);
        members_.push_back({&tab, &page});
        return page;
    }
    void ask(LimitPage& page) const {
        if (plan_.what == LimitKind::sequence) page.number({.block = 2});
        if (plan_.what == LimitKind::budget) page.spend(1);
        if (plan_.what == LimitKind::rate) page.pass(1, true);
    }

    LimitPlan plan_;
    LimitJudge judge_;  // outlives the tabs
    std::vector<Member> members_;
};

lab::Program program_of_limit(const LimitPlan& plan, Faults faults, std::uint32_t faults_max) {
    return lab::program_of({.origin = {},
                            .faults = faults,
                            .faults_max = faults_max,
                            .lost_once = true,
                            .rewinds = true,
                            .workload = [plan] { return std::make_unique<LimitWorkload>(plan); }});
}

/// Explores every schedule within the bound, with at most one of these faults.
void exhaust_limit(const LimitPlan& plan, Faults faults, lab::Bound bound) {
    const auto program = program_of_limit(plan, faults, faults.empty() ? 0U : 1U);
    lab::Search search(program, bound);
    search.explore(UINT64_MAX);
    if (search.failed_run()) {
        const auto shrunk = lab::shrink(program, *search.failed_run());
        UNSCOPED_INFO(lab::trace_text(lab::trace_of(program, shrunk.schedule)));
    }
    CAPTURE(static_cast<int>(plan.what), faults.bits(), bound.preemptions, bound.ordered,
            search.counts().cut, search.counts().steps);
    CHECK(search.exhausted());
}

void sample_limits(std::uint64_t first, std::uint64_t count, bool watched = false) {
    Faults faults;
    for (const auto fault : limit_faults) faults.insert(fault);
    int failed = 0;
    for (auto seed = first; seed < first + count; ++seed) {
        const LimitPlan plan{static_cast<LimitKind>(seed % 3), {3, 2, 3}, watched};
        const auto program = program_of_limit(plan, faults, limit_faults_max);
        const auto outcome =
            lab::sample(program, seed, {.faults_max = limit_faults_max, .length = 200});
        if (outcome.failure.empty() && !outcome.cut) continue;
        ++failed;
        const auto shrunk = outcome.cut ? outcome : lab::shrink(program, outcome);
        UNSCOPED_INFO("seed " << seed << ": " << outcome.failure << (outcome.cut ? " cut" : ""));
        UNSCOPED_INFO(lab::trace_text(lab::trace_of(program, shrunk.schedule)));
    }
    CHECK(failed == 0);
}

}  // namespace

TEST_CASE("limits: from equal states the same steps lead to equal states and to the same ends") {
    lab::SeededRandom random(1);
    for (const auto what : {LimitKind::sequence, LimitKind::budget, LimitKind::rate}) {
        for (const auto fault : limit_faults) {
            CAPTURE(static_cast<int>(what), fault);
            const auto program = program_of_limit({what, {2, 1, 1}}, {fault}, 1);
            const auto seen = lab::test::seen_by_neighbours(program, random, 40);
            CHECK(seen.differs == 0);
            CHECK(seen.other_ways > 0);
        }
    }
}

TEST_CASE("limits: a search that rewinds and one that replays report the same") {
    for (const auto what : {LimitKind::sequence, LimitKind::budget, LimitKind::rate}) {
        for (const auto fault : limit_faults) {
            CAPTURE(static_cast<int>(what), fault);
            const auto program = program_of_limit({what, {1, 1, 1}}, {fault}, 1);
            lab::test::check_rewinding(program, {.preemptions = 1});
        }
    }
}

TEST_CASE("limits: no schedule of two tabs, with or without a fault, repeats an id or overspends") {
    for (const auto what : {LimitKind::sequence, LimitKind::budget, LimitKind::rate}) {
        exhaust_limit({what, {2, 1}}, {}, {.preemptions = 2});
        for (const auto fault : limit_faults)
            exhaust_limit({what, {2, 1}}, {fault}, {.preemptions = 0});
    }
}

TEST_CASE("limits: tabs that notice a lost database repeat no id and overspend nothing") {
    for (const auto what : {LimitKind::sequence, LimitKind::budget, LimitKind::rate}) {
        exhaust_limit({what, {2, 1}, true}, {Fault::lose_database}, {.preemptions = 0});
        exhaust_limit({what, {1, 1}, true}, {Fault::lose_database},
                      {.preemptions = 1, .ordered = true});
    }
    sample_limits(5'000, 300, true);
}

TEST_CASE("limits: no seeded schedule of three tabs with three faults fails") {
    sample_limits(0, 600);
}

TEST_CASE("limits: no schedule within more preemptions, or of more tabs, fails", "[.][long]") {
    for (const auto what : {LimitKind::sequence, LimitKind::budget, LimitKind::rate}) {
        exhaust_limit({what, {2, 1}}, {}, {.preemptions = 3});
        exhaust_limit({what, {1, 1, 1}}, {}, {.preemptions = 2, .ordered = true});
        for (const auto fault : limit_faults) {
            exhaust_limit({what, {2, 1}}, {fault}, {.preemptions = 1});
            exhaust_limit({what, {2, 1}}, {fault}, {.preemptions = 2, .ordered = true});
        }
    }
}

TEST_CASE("limits: no schedule of three tabs within more preemptions fails", "[.][long]") {
    for (const auto what : {LimitKind::sequence, LimitKind::budget, LimitKind::rate}) {
        exhaust_limit({what, {1, 1, 1}}, {}, {.preemptions = 2});
        exhaust_limit({what, {1, 1, 1}}, {}, {.preemptions = 3, .ordered = true});
    }
}

TEST_CASE("limits: no schedule within more preemptions with a fault fails", "[.][long]") {
    for (const auto what : {LimitKind::sequence, LimitKind::budget, LimitKind::rate}) {
        for (const auto fault : limit_faults) {
            exhaust_limit({what, {2, 1}}, {fault}, {.preemptions = 2});
            exhaust_limit({what, {2, 1}}, {fault}, {.preemptions = 3, .ordered = true});
            exhaust_limit({what, {1, 1}}, {fault}, {.preemptions = 3});
            exhaust_limit({what, {1, 1, 1}}, {fault}, {.preemptions = 1, .ordered = true});
            exhaust_limit({what, {1, 1, 1}}, {fault}, {.preemptions = 1});
        }
    }
}

TEST_CASE("limits: none of 50,000 seeds with three faults each fails", "[.][long]") {
    sample_limits(1'000, 50'000);
}

TEST_CASE("limits: no schedule of tabs that notice a lost database fails", "[.][long]") {
    for (const auto what : {LimitKind::sequence, LimitKind::budget, LimitKind::rate})
        exhaust_limit({what, {2, 1}, true}, {Fault::lose_database}, {.preemptions = 1});
}

}  // namespace tabacus::test
