// Scene: a simulated origin, pages that count in it, and the judge of the values that they read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "explore/counter_judge.hpp"
#include "lab/lab_tab.hpp"
#include "lab/origin.hpp"
#include "protocol/common/store_loss_detector.hpp"
#include "tabacus/replica/replicated.hpp"
#include "tabacus/replica/tab.hpp"
#include "tabacus/strategy/catalogue.hpp"

namespace tabacus::test {

/// Returns one of the three storage models, by turns over the seeds.
inline lab::StorageModel model_of(std::uint64_t seed) {
    return static_cast<lab::StorageModel>(seed % 3);
}

using lab::LabTab;
using lab::Origin;
using lab::Platform;
using lab::StorageModel;

struct Plan {
    std::optional<Strategy> strategy = std::nullopt;  // the default counter if it is empty
    Durability durability = Durability::relaxed;
    int adds = 8;
    bool decrements = false;
    bool read_between = true;
    bool flush_between = true;
};

/// The program of one tab. The death of the tab destroys it.
class Page {
  public:
    Page(LabTab& world, CounterJudge& judge)
        : world_(world),
          judge_(judge),
          random_(world.random().bits()),
          tab_(world, "test", [this](const Notice& notice) { notices.push_back(notice); }),
          loss_detector_(world, Names("test"),
                         [this](const Notice& notice) { notices.push_back(notice); }),
          catalogue_(world, "test", loss_detector_,
                     [this](const Notice& notice) { notices.push_back(notice); }) {}

    /// Opens, counts as planned and flushes. Sets `done` at the end.
    void count(const Plan& plan) { scope_.spawn(live(plan)); }
    void open() {
        scope_.spawn([](Page& self) -> Task<void> {
            co_await self.tab_.open();
            self.opened = true;
        }(*this));
    }
    /// Subscribes to the counter, as a page does that shows it.
    void follow() {
        changes_ = counter().on_change([] {});
    }
    ReplicatedCounter& counter(const std::string& name = "c",
                               Durability durability = Durability::relaxed) {
        return tab_.replicated(name, durability);
    }
    Tab& tab() { return tab_; }
    Catalogue& catalogue() { return catalogue_; }

    /// Adds `n` to the counter. Returns the new value, or nothing if it would be out of range.
    std::optional<std::int64_t> add(std::int64_t n) {
        const auto value = counter().increment(n);
        if (value) {
            judge_.attempt(n);
            unflushed_.add(n);
        }
        return value;
    }
    /// Flushes. If that fails, the code of the error is added to `errors`.
    void flush() { scope_.spawn(flush_once()); }
    void read() { scope_.spawn(read_once()); }
    void close() {
        run_in(
            scope_, tab_.close(), [this] { closed = true; },
            [this](const std::exception_ptr& error) {
                closed = true;
                note(error);
            });
    }

    [[nodiscard]] bool warned(const std::string& code) const {
        return std::any_of(notices.begin(), notices.end(), [&](const Notice& notice) {
            return code == (notice.failure ? code_name(*notice.failure) : notice.code);
        });
    }
    [[nodiscard]] std::vector<Notice> losses() const {
        std::vector<Notice> found;
        std::copy_if(notices.begin(), notices.end(), std::back_inserter(found),
                     [](const Notice& n) { return n.kind == Notice::Kind::store_lost; });
        return found;
    }

    bool opened = false;
    bool done = false;
    bool closed = false;
    int flushing = 0;
    int flushed = 0;
    int reading = 0;
    std::optional<std::int64_t> last_read;
    std::vector<ErrorCode> errors;  // of all calls but reads
    std::vector<ErrorCode> read_errors;
    std::vector<Notice> notices;

  private:
    void note(const std::exception_ptr& error) {
        try {
            std::rethrow_exception(error);
        } catch (const Error& known) {
            errors.push_back(known.code());
        }
    }

    Task<void> flush_once() {
        ++flushing;
        const auto covered = unflushed_;
        const auto outcome = co_await attempt(counter().flush());
        if (outcome) {
            // Another flush may have covered some increments already.
            const CounterJudge::Sum rest{
                std::max<std::int64_t>(covered.plus - acknowledged_.plus, 0),
                std::max<std::int64_t>(covered.minus - acknowledged_.minus, 0)};
            acknowledged_.plus += rest.plus;
            acknowledged_.minus += rest.minus;
            judge_.acknowledge(rest);
            ++flushed;
        } else {
            errors.push_back(outcome.error().code());
            // These increments stay unknown for ever: no later flush covers them.
            if (errors.back() == ErrorCode::unknown_commit) acknowledged_ = covered;
        }
        --flushing;
    }

    Task<void> read_once() {
        ++reading;
        const auto reading_from = judge_.begin_read();
        auto value = co_await attempt(counter().read());
        if (value) {
            last_read = value.value();
            judge_.end_read(reading_from, *last_read, "tab " + std::to_string(world_.id()));
        } else {
            read_errors.push_back(value.error().code());
        }
        --reading;
    }

    Task<void> live(Plan plan) {
        if (plan.strategy) {
            co_await live_simple(plan);
        } else {
            if (!opened) co_await tab_.open();
            opened = true;
            co_await live_replicated(plan);
        }
        done = true;
    }

    Task<void> live_replicated(Plan plan) {
        counter("c", plan.durability);
        follow();
        for (int i = 0; i < plan.adds; ++i) {
            add(plan.decrements && random_.coin() ? -1 : 1);
            switch (random_.below(5)) {
                case 0:
                    if (plan.flush_between) co_await flush_once();
                    break;
                case 1:
                    if (plan.read_between) co_await read_once();
                    break;
                case 2:
                    co_await world_.clock().sleep(1);
                    break;
                case 3:
                    co_await world_.clock().end_of_turn();
                    break;
                default:
                    break;
            }
        }
        co_await flush_once();
    }

    Task<void> live_simple(Plan plan) {
        auto& simple = catalogue_.counter("c", {*plan.strategy, plan.durability});
        for (int i = 0; i < plan.adds; ++i) {
            judge_.attempt(1);
            const auto added = co_await attempt(simple.add(1));
            if (added) {
                judge_.acknowledge({1, 0});
            } else {
                errors.push_back(added.error().code());
            }
            if (random_.coin()) co_await world_.clock().sleep(1);
            if (!plan.read_between) continue;
            const auto reading_from = judge_.begin_read();
            auto value = co_await attempt(simple.read());
            if (value) {
                judge_.end_read(reading_from, value.value(), "a simple counter");
            } else {
                read_errors.push_back(value.error().code());
            }
        }
    }

    LabTab& world_;
    CounterJudge& judge_;
    lab::SeededRandom random_;
    Tab tab_;
    StoreLossDetector loss_detector_;
    Catalogue catalogue_;
    CounterJudge::Sum unflushed_;  // all increments of this page
    CounterJudge::Sum acknowledged_;
    Subscription changes_;
    Scope scope_;  // declared last: its coroutines use all members above
};

class Scene {
  public:
    explicit Scene(std::uint64_t seed, StorageModel model = StorageModel::cached,
                   std::unique_ptr<lab::Chooser> chooser = nullptr)
        : origin(Origin::Options{seed, model}, std::move(chooser)),
          random(seed * 7919 + 1),
          usual_{.locks_bar_cache = seed % 2 == 1} {}

    struct Member {
        LabTab* tab;
        Page* page;
    };
    /// Opens a tab on the scene's usual platform. With every other seed that is one where a lock
    /// bars a page from the back/forward cache.
    Member open() { return open(usual_); }
    Member open(Platform platform) {
        auto& tab = origin.open_tab(platform);
        auto& page = tab.run<Page>(tab, judge);
        members.push_back({&tab, &page});
        return members.back();
    }
    /// Opens a tab, and steps until its Tab::open() has ended.
    Member ready() { return ready(usual_); }
    Member ready(Platform platform) {
        const auto member = open(platform);
        member.page->open();
        origin.run_until([&] { return member.page->opened; });
        member.page->counter();
        member.page->follow();
        return member;
    }
    void count(const Member& member, const Plan& plan) const {
        member.tab->post([page = member.page, plan] { page->count(plan); });
    }
    /// Adds `n`, flushes, and steps until the flush has succeeded or failed.
    void add_and_flush(const Member& member, std::int64_t n = 1) {
        member.page->add(n);
        flush(member);
    }
    void flush(const Member& member) {
        member.page->flush();
        origin.run_until([&] { return member.page->flushing == 0; });
    }
    std::int64_t read(const Member& member) {
        member.page->last_read.reset();
        member.page->read();
        origin.run_until([&] { return member.page->reading == 0; });
        if (!member.page->last_read) throw std::runtime_error("the read failed");
        return *member.page->last_read;
    }
    void steps(std::size_t count) {
        for (; count > 0 && origin.step(); --count) {
        }
    }
    [[nodiscard]] std::size_t row_count() { return origin.database().rows(Store::rows).size(); }

    CounterJudge judge;  // outlives the pages
    Origin origin;
    lab::SeededRandom random;
    std::vector<Member> members;

  private:
    Platform usual_;
};

}  // namespace tabacus::test
