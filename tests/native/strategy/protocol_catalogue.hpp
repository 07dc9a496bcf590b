// CatalogueScene: a simulated origin whose tabs count by one strategy, for the tests of the
// catalogue.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "explore/counter_judge.hpp"
#include "lab/lab_tab.hpp"
#include "lab/origin.hpp"
#include "protocol/common/store_loss_detector.hpp"
#include "protocol/strategy/stored_counter.hpp"
#include "tabacus/strategy/catalogue.hpp"
#include "time_last_chooser.hpp"

namespace tabacus::test {

/// The page of one tab: its counter, and how the calls to it ended.
class Counting {
  public:
    using Make = std::function<std::unique_ptr<StoredCounter>(const CounterLocation&)>;

    Counting(lab::LabTab& world, CounterJudge& judge, const CounterOptions& options)
        : judge_(judge),
          loss_detector_(world, Names("test"), notices_to()),
          catalogue_(world, "test", loss_detector_, notices_to()),
          counter_(&catalogue_.counter("c", options)) {}
    /// Counts by a counter that `make` makes, which is not in the catalogue.
    Counting(lab::LabTab& world, CounterJudge& judge, const Make& make)
        : judge_(judge),
          loss_detector_(world, Names("test"), notices_to()),
          catalogue_(world, "test", loss_detector_, notices_to()),
          own_(make({world, Names("test"), "c", notices_to()})),
          counter_(own_.get()) {}

    Counter& counter() { return *counter_; }
    Catalogue& catalogue() { return catalogue_; }

    /// Adds `n` `adds` times, one after another, and flushes.
    void count(int adds, std::int64_t n = 1) {
        ++pending;
        scope_.spawn(run(adds, n));
    }
    void read() {
        ++pending;
        run_in(
            scope_, counter_->read(), [this](std::int64_t value) { done(value); },
            [this](const std::exception_ptr& error) { fail(error); });
    }
    void flush() {
        ++pending;
        run_in(
            scope_, counter_->flush(), [this] { --pending; },
            [this](const std::exception_ptr& error) { fail(error); });
    }
    void close() {
        ++pending;
        loss_detector_.stop();
        run_in(
            scope_, catalogue_.close(), [this] { --pending; },
            [this](const std::exception_ptr& error) { fail(error); });
    }

    int pending = 0;
    std::optional<std::int64_t> last_read;
    std::vector<ErrorCode> errors;
    std::vector<Notice> notices;

  private:
    NoticeHandler notices_to() {
        return [this](const Notice& notice) { notices.push_back(notice); };
    }
    void done(std::int64_t value) {
        last_read = value;
        --pending;
    }
    void fail(const std::exception_ptr& error) {
        --pending;
        try {
            std::rethrow_exception(error);
        } catch (const Error& known) {
            errors.push_back(known.code());
        }
    }
    Task<void> run(int adds, std::int64_t n) {
        std::int64_t added = 0;
        for (int i = 0; i < adds; ++i) {
            judge_.attempt(n);
            const auto outcome = co_await attempt(counter_->add(n));
            if (outcome) {
                ++added;
            } else {
                errors.push_back(outcome.error().code());
            }
        }
        const auto flushed = co_await attempt(counter_->flush());
        if (flushed) {
            for (; added > 0; --added) judge_.acknowledge({n > 0 ? n : 0, n < 0 ? -n : 0});
        } else {
            errors.push_back(flushed.error().code());
        }
        --pending;
    }

    CounterJudge& judge_;
    StoreLossDetector loss_detector_;
    Catalogue catalogue_;
    std::unique_ptr<StoredCounter> own_;
    Counter* counter_;
    Scope scope_;  // declared last: its coroutines use all members above
};

/// A simulated origin whose tabs all count by one strategy.
class CatalogueScene {
  public:
    struct Member {
        lab::LabTab* tab;
        Counting* page;
    };
    CatalogueScene(CounterOptions options, lab::StorageModel model, std::uint64_t seed,
                   std::unique_ptr<lab::Chooser> chooser = nullptr)
        : origin({seed, model}, std::move(chooser)), options_(options) {}
    CatalogueScene(Counting::Make make, lab::StorageModel model, std::uint64_t seed,
                   std::unique_ptr<lab::Chooser> chooser = nullptr)
        : origin({seed, model}, std::move(chooser)), make_(std::move(make)) {}

    Member open(lab::Platform platform = {}) {
        auto& tab = origin.open_tab(platform);
        auto& page =
            make_ ? tab.run<Counting>(tab, judge, make_) : tab.run<Counting>(tab, judge, options_);
        members.push_back({&tab, &page});
        return members.back();
    }
    void post(const Member& member, std::function<void(Counting&)> script) const {
        member.tab->post([page = member.page, script = std::move(script)] { script(*page); });
    }
    void count(const Member& member, int adds, std::int64_t n = 1) const {
        post(member, [adds, n](Counting& page) { page.count(adds, n); });
    }
    /// Steps until nothing can happen. Returns the value that a new tab reads then.
    std::int64_t settled() {
        origin.run();
        const auto member = open();
        return read(member);
    }
    std::int64_t read(const Member& member) {
        member.page->last_read.reset();
        post(member, [](Counting& page) { page.read(); });
        origin.run();
        if (!member.page->last_read) throw std::runtime_error("the read failed");
        return *member.page->last_read;
    }
    void steps(std::size_t count) {
        for (; count > 0 && origin.step(); --count) {
        }
    }
    [[nodiscard]] std::int64_t attempted() const { return judge.attempted().plus; }
    [[nodiscard]] std::int64_t acknowledged() const { return judge.acknowledged().plus; }

    CounterJudge judge;  // outlives the pages
    lab::Origin origin;
    std::vector<Member> members;
    Scope scope;  // of the coroutines that a test runs in a tab beside its page

  private:
    CounterOptions options_;
    Counting::Make make_;
};

}  // namespace tabacus::test
