// LimitScene: a simulated origin, pages that use sequences, budgets and rate limits in it, and the
// judge of what they receive.
#pragma once

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lock/lock_scene.hpp"
#include "protocol/common/store_loss_detector.hpp"
#include "tabacus/limit/limits.hpp"

namespace tabacus::test {

/// Checks what all tabs together receive.
struct LimitJudge {
    std::string failure;  // the first failure, or empty

    void report_failure(const std::string& what) {
        if (failure.empty()) failure = what;
    }

    // The sequence.
    std::set<std::int64_t> ids;
    void got(SequenceRange range, std::int64_t& last_of_tab) {
        if (range.first <= last_of_tab) report_failure("the numbers of a tab do not rise");
        last_of_tab = range.last;
        for (auto id = range.first; id <= range.last; ++id) {
            if (!ids.insert(id).second) report_failure(std::to_string(id) + " is given twice");
        }
    }

    // The budget.
    std::int64_t limit = 0;
    std::int64_t spent = 0;
    int refused = 0;
    void took(std::int64_t n) {
        spent += n;
        if (spent > limit) report_failure("the budget is overspent");
    }

    // The rate limit.
    std::deque<double> granted_ms;
    double interval_ms = 0;
    int granted = 0;
    void let_through(double at_ms) {
        ++granted;
        granted_ms.push_back(at_ms);
        while (granted_ms.front() + interval_ms <= at_ms) granted_ms.pop_front();
        if (static_cast<std::int64_t>(granted_ms.size()) > limit) {
            report_failure("a window has more grants than the limit");
        }
    }
};

class LimitPage final : private StoreUser {
  public:
    /// `watched`: whether the page notices the loss of its database by itself, as a tab does.
    LimitPage(LabTab& world, LimitJudge& judge, bool watched = false)
        : world_(world),
          judge_(judge),
          limits_(world, "test", [this](const Notice& notice) { notices.push_back(notice); }) {
        if (watched) loss_detector_.start();
    }

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
        // The judge counts first, because another tab may spend these units once they are given.
        judge_.spent -= n;
        ++running;
        scope_.spawn([](LimitPage& self, std::int64_t much) -> Task<void> {
            (void)co_await attempt(self.budget().give(much));
            --self.running;
        }(*this, n));
    }
    /// Asks the rate limit `times` times, one after another.
    void pass(int times, bool waits, std::optional<double> timeout_ms = {}) {
        ++running;
        scope_.spawn(
            [](LimitPage& self, int count, bool waits, std::optional<double> end_ms) -> Task<void> {
                auto& rate = self.rate();
                for (int i = 0; i < count; ++i) {
                    bool through = waits;
                    if (waits) {
                        auto taken = co_await attempt(rate.take(std::nullopt, end_ms));
                        through = static_cast<bool>(taken);
                    } else {
                        auto tried = co_await attempt(rate.try_take());
                        through = tried && tried.value();
                    }
                    if (through) self.judge_.let_through(self.true_ms());
                }
                --self.running;
            }(*this, times, waits, timeout_ms));
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
    void store_vanished() override { limits_.store_vanished(); }
    void store_settled(bool shared) override {
        if (shared) return;
        limits_.store_vanished();
        limits_.cut_off();
    }

    LabTab& world_;
    LimitJudge& judge_;
    std::int64_t last_id_ = 0;
    Limits limits_;
    StoreLossDetector loss_detector_{world_, Names("test"), [](const Notice&) {}, this};
    Scope scope_;  // declared last: its coroutines use all members above
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
    Member& open(double wall_ms = 0, Platform platform = {}, bool watched = false) {
        auto& tab = origin.open_tab(platform);
        tab.set_wall_clock(wall_ms);
        auto& page = tab.run<LimitPage>(tab, judge, watched);
        members.push_back({&tab, &page});
        return members.back();
    }
    void steps(std::size_t count) {
        for (; count > 0 && origin.step(); --count) {
        }
    }
    Member& any() { return members[random.below(members.size())]; }

    /// Lets a fault happen to a random tab, or restores all stopped tabs. A new tab opens for each
    /// that ends.
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
    /// Whether a commit of any tab is under way.
    [[nodiscard]] bool committing() const {
        return std::ranges::any_of(
            members, [&](const auto& member) { return origin.commits_under_way(*member.tab); });
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
        CHECK(judge.failure == "");
    }

    LimitJudge judge;  // outlives the pages
    Origin origin;
    lab::SeededRandom random;
    std::deque<Member> members;
};

}  // namespace tabacus::test
