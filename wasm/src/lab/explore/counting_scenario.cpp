#include "counting_scenario.hpp"

#include <algorithm>
#include <utility>

#include "protocol/common/store_loss_detector.hpp"
#include "tabacus/replica/replicated.hpp"
#include "tabacus/replica/tab.hpp"
#include "tabacus/strategy/catalogue.hpp"

namespace tabacus::lab {
namespace {

constexpr std::string_view replicated = "replicated";

class TabHost final : public CounterHost {
  public:
    TabHost(LabTab& world, Durability durability)
        : tab_(world, "t", [](const Notice&) {}), durability_(durability) {}
    Task<void> open() override { return tab_.open(); }
    Task<void> close() override { return tab_.close(); }
    Counter& counter() override { return tab_.replicated("c", durability_); }

  private:
    Tab tab_;
    Durability durability_;
};

class CatalogueHost final : public CounterHost {
  public:
    CatalogueHost(LabTab& world, const CounterOptions& options)
        : loss_detector_(world, Names("t"), [](const Notice&) {}),
          catalogue_(world, "t", loss_detector_, [](const Notice&) {}),
          counter_(&catalogue_.counter("c", options)) {}
    Task<void> open() override { co_return; }
    Task<void> close() override {
        loss_detector_.stop();
        return catalogue_.close();
    }
    Counter& counter() override { return *counter_; }

  private:
    StoreLossDetector loss_detector_;
    Catalogue catalogue_;
    Counter* counter_;
};

/// The numbers of adds of all tabs. It outlives the tabs.
struct Totals {
    std::int64_t attempted = 0;
    std::int64_t acknowledged = 0;
    std::uint32_t refused = 0;
};

/// The program of one tab.
class CountingPage {
  public:
    CountingPage(LabTab& world, const MakeHost& make, Totals& totals)
        : world_(world), totals_(totals), host_(make(world)) {}

    void count(const CountingScenario& counting, double after_ms) {
        scope_.spawn(live(counting, after_ms));
    }
    void read() { scope_.spawn(read_once()); }

    bool done = false;
    bool read_done = false;
    std::int64_t value = 0;
    std::string error;

  private:
    void trace(const std::string& text) {
        world_.origin().recorder().trace(world_.id(), Object::tab, [&] { return text; });
    }

    Task<void> live(CountingScenario counting, double after_ms) {
        co_await pause(after_ms);
        co_await open();
        for (std::uint32_t i = 0; i < counting.adds; ++i) {
            ++totals_.attempted;
            trace("adds 1");
            if (co_await succeeds(add_once())) ++pending_;
            if (counting.flush_each) co_await flush_once();
            co_await pause(counting.pause_ms);
        }
        if (!counting.flush_each) co_await flush_once();
        done = true;
        trace("has finished");
    }
    Task<void> pause(double pause_ms) {
        if (pause_ms > 0) co_await world_.clock().sleep(pause_ms);
    }
    Task<void> open() {
        if (!std::exchange(open_, true)) co_await host_->open();
    }
    Task<void> add_once() {
        const auto value = co_await host_->counter().add(1);
        trace("its add gave " + std::to_string(value));
    }
    Task<void> flush_once() {
        if (!co_await succeeds(host_->counter().flush())) co_return;
        totals_.acknowledged += std::exchange(pending_, 0);
        trace("has its adds acknowledged");
    }
    Task<void> read_once() {
        co_await open();
        value = co_await host_->counter().read();
        read_done = true;
    }
    /// Returns whether the task succeeds. After a failure, its effect may have happened or not.
    Task<bool> succeeds(Task<void> task) {
        const auto outcome = co_await attempt(Task<void>(std::move(task)));
        if (outcome) co_return true;
        ++totals_.refused;
        trace(std::string("is refused: ") + outcome.error().what());
        co_return false;
    }

    LabTab& world_;
    Totals& totals_;
    std::unique_ptr<CounterHost> host_;
    bool open_ = false;
    std::int64_t pending_ = 0;  // the adds that are not acknowledged yet
    Scope scope_;               // last, because its tasks use all of the above
};

class CountingWorkload final : public Workload {
  public:
    CountingWorkload(MakeHost make, CountingScenario counting)
        : make_(std::move(make)), counting_(counting) {}

    void begin(Origin& origin) override {
        for (std::uint32_t i = 0; i < counting_.tabs; ++i) {
            auto& page = open(origin);
            members_.back().tab->post(
                [&page, counting = counting_, i] { page.count(counting, i * counting.pause_ms); });
        }
    }

    [[nodiscard]] std::optional<std::uint64_t> state() const override {
        // A step adds a multiple of a constant, whatever the numbers are before it.
        return static_cast<std::uint64_t>(totals_.attempted) * mixed(1) +
               static_cast<std::uint64_t>(totals_.acknowledged) * mixed(2) +
               totals_.refused * mixed(3);
    }

    std::string at_rest(Origin& origin) override {
        bool all_live = true;
        for (const auto& member : members_) {
            all_live = all_live && member.tab->alive();
            if (member.tab->alive() && !member.page->done) {
                return "tab " + std::to_string(member.tab->id()) + " never finishes";
            }
        }
        const bool exact = all_live && totals_.refused == 0;
        const auto min = counting_.may_lose ? 0 : exact ? totals_.attempted : totals_.acknowledged;
        auto failure = judge(origin, open(origin), min);
        for (std::size_t i = 0; counting_.all_read && i < counting_.tabs; ++i) {
            const auto& member = members_[i];
            if (!failure.empty() || !member.tab->alive()) continue;
            failure = judge(origin, *member.page, min);
        }
        return failure;
    }

  private:
    struct Member {
        LabTab* tab;
        CountingPage* page;
    };
    CountingPage& open(Origin& origin) {
        auto& tab = origin.open_tab({.locks_bar_cache = counting_.locks_bar_cache});
        auto& page = tab.run<CountingPage>(tab, make_, totals_);
        members_.push_back({&tab, &page});
        return page;
    }

    std::string judge(Origin& origin, CountingPage& reader, std::int64_t min) const {
        reader.read_done = false;
        reader.read();
        origin.run_until([&] { return reader.read_done; });
        if (reader.value >= min && reader.value <= totals_.attempted) return {};
        const auto lost = reader.value < min;
        return std::string(lost ? "an update is lost: " : "an update is counted twice: ") +
               std::to_string(totals_.attempted) + " were added, " +
               std::to_string(totals_.acknowledged) + " of them acknowledged, and the value is " +
               std::to_string(reader.value);
    }

    MakeHost make_;
    CountingScenario counting_;
    Totals totals_;
    std::vector<Member> members_;
};

}  // namespace

const std::vector<std::string_view>& counting_strategies() {
    static const auto names = [] {
        std::vector<std::string_view> all{replicated};
        for (const auto strategy : all_strategies()) all.push_back(strategy_name(strategy));
        return all;
    }();
    return names;
}

MakeHost hosts_of(std::string_view strategy, Durability durability) {
    if (strategy == replicated) {
        return [durability](LabTab& tab) { return std::make_unique<TabHost>(tab, durability); };
    }
    const auto found = strategy_named(strategy);
    if (!found) return nullptr;
    return [options = CounterOptions{*found, durability, {}}](LabTab& tab) {
        return std::make_unique<CatalogueHost>(tab, options);
    };
}

Guarantee guarantee_of(std::string_view strategy) {
    Origin origin({});
    const auto host = hosts_of(strategy)(origin.open_tab());
    Scope scope;
    scope.spawn(host->open());
    origin.run();
    return host->counter().guarantee();
}

std::function<std::unique_ptr<Workload>()> counting_workload(MakeHost make,
                                                             CountingScenario counting) {
    return [make = std::move(make), counting] {
        return std::make_unique<CountingWorkload>(make, counting);
    };
}

}  // namespace tabacus::lab
