// Situations that need no fault, only a schedule: late messages, slots that are used again, and a
// browser whose storage events also reach the writer.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "lab/explore/counting_scenario.hpp"
#include "lab/explore/sampling.hpp"
#include "lab/explore/search.hpp"

namespace tabacus::lab::test {
namespace {

using Ends = std::set<std::string>;

/// Logs the messages that it receives.
class Receiver {
  public:
    /// Requires that `log` outlives the tab.
    Receiver(LabTab& tab, std::string& log) : in_(tab.channel("c")) {
        in_->on_message([&log](std::string_view text) { log.append(text); });
    }

  private:
    std::unique_ptr<Channel> in_;
};
struct Sender {
    explicit Sender(LabTab& tab) : out(tab.channel("c")) {}
    std::unique_ptr<Channel> out;
};

class Mail final : public Workload {
  public:
    explicit Mail(Ends& ends) : ends_(ends) {}
    void begin(Origin& origin) override {
        sender_ = &origin.open_tab();
        auto& tab = origin.open_tab();
        auto& sender = sender_->run<Sender>(*sender_);
        tab.run<Receiver>(tab, log_);
        sender_->post([&sender] { sender.out->post("m"); });
        for (int i = 1; i <= 3; ++i) {
            tab.post([this, i] { log_ += std::to_string(i); });
        }
    }
    std::string at_rest(Origin& /*origin*/) override {
        ends_.insert(log_ + (sender_->alive() ? "" : " of the dead"));
        return {};
    }

  private:
    Ends& ends_;
    LabTab* sender_ = nullptr;
    std::string log_;  // what the other tab received and did
};

Ends ends_of_mail(Faults faults, const Bound& bound) {
    Ends ends;
    Search search(
        program_of(Scenario{.origin = {},
                            .faults = faults,
                            .faults_max = faults.empty() ? 0U : 1U,
                            .workload = [&ends] { return std::make_unique<Mail>(ends); }}),
        bound);
    search.explore(UINT64_MAX);
    CHECK(search.exhausted());
    return ends;
}

}  // namespace

TEST_CASE("a message may arrive as late as possible, and after its sender's death") {
    const Ends anywhere{"m123", "1m23", "12m3", "123m"};
    CHECK(ends_of_mail({}, {}) == anywhere);
    CHECK(ends_of_mail({}, {.reduction = false}) == anywhere);

    const auto with_deaths = [](const std::string& suffix) {
        auto ends = ends_of_mail({Fault::kill}, {});
        std::erase_if(ends, [&](const std::string& end) { return !end.ends_with(suffix); });
        return ends;
    };
    CHECK(with_deaths(" of the dead") == Ends{"m123 of the dead", "1m23 of the dead",
                                              "12m3 of the dead", "123m of the dead",
                                              "123 of the dead"});
}

namespace {

/// A workload that records its rows at the end.
class Rows final : public Workload {
  public:
    Rows(std::unique_ptr<Workload> workload, Ends& rows)
        : workload_(std::move(workload)), rows_(rows) {}
    void begin(Origin& origin) override { workload_->begin(origin); }
    std::string at_rest(Origin& origin) override {
        for (const auto& [key, value] : origin.database().rows(Store::rows)) {
            rows_.insert(key.substr(key.rfind('/')) + " " + value.text);
        }
        return workload_->at_rest(origin);
    }

  private:
    std::unique_ptr<Workload> workload_;
    Ends& rows_;
};

Scenario replicated(StorageEvents events, Faults faults, CountingScenario scenario) {
    return {.origin = {.storage_events = events},
            .faults = faults,
            .faults_max = 1,
            .workload = counting_workload(hosts_of("replicated"), scenario)};
}

}  // namespace

TEST_CASE("replicated: a tab that opens after a death continues the slot of the dead tab") {
    Ends rows;
    auto scenario =
        replicated(StorageEvents::to_others, {Fault::kill, Fault::bfcache}, {.tabs = 2, .adds = 1});
    scenario.workload = [&rows, workload = scenario.workload] {
        return std::make_unique<Rows>(workload(), rows);
    };
    Search search(program_of(scenario), {.preemptions = 0});
    search.explore(UINT64_MAX);
    CHECK(search.exhausted());
    CHECK_FALSE(search.failed_run());
    // Slot 0 has counted one increment of either tab.
    CAPTURE(rows);
    CHECK(std::any_of(rows.begin(), rows.end(), [](const std::string& row) {
        return row.starts_with("/0 ") && row.find(";2;") != std::string::npos;
    }));
}

TEST_CASE("replicated: a writer that gets events for its own writes counts exactly") {
    const auto program = program_of(replicated(StorageEvents::to_all, {Fault::kill, Fault::bfcache},
                                               {.tabs = 3, .adds = 2, .all_read = true}));
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        CAPTURE(seed);
        const auto outcome = sample(program, seed, {.faults_max = 1});
        CHECK(outcome.failure.empty());
        CHECK_FALSE(outcome.cut);
    }
}

}  // namespace tabacus::lab::test
