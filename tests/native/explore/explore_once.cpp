// once() in memory and on the disk, and forget(), under every schedule up to a preemption bound,
// and under seeded schedules beyond it. At any moment a tab is killed, frozen or cached.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <string>
#include <vector>

#include "lab/explore/sampling.hpp"
#include "lab/explore/scenario.hpp"
#include "lab/explore/search.hpp"
#include "lock/once_scene.hpp"

namespace tabacus::test {
namespace {

constexpr lab::Faults once_faults{lab::Fault::kill, lab::Fault::freeze, lab::Fault::bfcache};

struct OnceCast {
    int tabs = 2;
    int calls = 2;  // of each tab
    bool memory = true;
    double ttl_ms = 0;
    bool forgets = false;  // whether a further tab forgets the key meanwhile, and then calls
    bool faulty = false;   // whether a tab may be killed, frozen or cached
};

class OnceWorkload final : public lab::Workload {
  public:
    explicit OnceWorkload(OnceCast cast) : cast_(cast) {}

    void begin(Origin& origin) override {
        origin_ = &origin;
        for (int i = 0; i < cast_.tabs; ++i) {
            auto& keeper = open(origin);
            const auto tab = members_.size() - 1;
            for (int n = 0; n < cast_.calls; ++n) {
                members_[tab]->post([this, &keeper, tab] { call(keeper, tab); });
            }
        }
        if (!cast_.forgets) return;
        auto& forgetter = open(origin);
        const auto tab = members_.size() - 1;
        members_[tab]->post([this, &forgetter, tab] {
            forgetting_ = forgetter.forget();
            runs_before_ = runs_;
            // The next call begins in the turn in which the promise of forget() resolves, and one of
            // another tab as soon as that tab has a turn, before it can have received a message.
            forgetting_->then = [this, &forgetter, tab] {
                const bool later = !forgetting_->error;
                call(forgetter, tab, later);
                members_[0]->post([this, later] { call(*first_, 0, later); });
            };
        });
    }
    std::string after_step() override {
        return cast_.memory && on_disk(*origin_) ? "a secret is on the disk" : "";
    }
    std::string at_rest(Origin& origin) override {
        static_cast<void>(origin);
        for (const auto& [tab, call, later] : calls_) {
            if (!members_[tab]->alive()) continue;
            if (!call->ended) return "a call never ends";
            // A page that is frozen or left loses the lock under which it runs.
            if (later && call->error && *call->error == ErrorCode::aborted)
                return "a call after forget() is aborted";
            if (later && call->error && !cast_.faulty) return "a call after forget() fails";
            if (later && !call->error && std::stoi(call->value.substr(6)) <= runs_before_)
                return "a call that began after forget() got an earlier value";
            if (call->error && !cast_.forgets && *call->error == ErrorCode::aborted)
                return "a call is aborted though nobody forgets the key";
        }
        if (forgetting_ && members_.back()->alive() && !forgetting_->ended)
            return "forget() never ends";
        return "";
    }

  private:
    struct Call {
        std::size_t tab;
        Keeper::CallPtr call;
        bool later = false;  // whether it began after forget() had succeeded
    };
    void call(Keeper& keeper, std::size_t tab, bool later = false) {
        calls_.push_back(
            {tab, keeper.call({.ttl_ms = cast_.ttl_ms, .memory = cast_.memory}), later});
    }
    Keeper& open(Origin& origin) {
        auto& tab = origin.open_tab();
        members_.push_back(&tab);
        auto& keeper = tab.run<Keeper>(tab, runs_);
        if (first_ == nullptr) first_ = &keeper;
        return keeper;
    }

    OnceCast cast_;
    Origin* origin_ = nullptr;
    int runs_ = 0;
    int runs_before_ = 0;      // runs that had begun when the key was forgotten
    Keeper* first_ = nullptr;  // that of the first tab
    Keeper::CallPtr forgetting_;
    std::vector<Call> calls_;
    std::vector<LabTab*> members_;
};

lab::Program program(OnceCast cast, lab::Faults faults = {}) {
    cast.faulty = !faults.empty();
    return lab::program_of({.origin = {},
                            .faults = faults,
                            .faults_max = faults.empty() ? 0U : 1U,
                            .workload = [cast] { return std::make_unique<OnceWorkload>(cast); }});
}

void exhaust(OnceCast cast, std::uint32_t preemptions, lab::Faults faults = {}) {
    lab::Search search(program(cast, faults), {.preemptions = preemptions, .steps = 20'000});
    search.explore(UINT64_MAX);
    if (search.failed_run()) UNSCOPED_INFO(search.failed_run()->failure);
    CHECK_FALSE(search.failed_run());
    CHECK(search.exhausted());
}

void sample(OnceCast cast, std::uint64_t seeds, lab::Faults faults = {}) {
    const auto run = program(cast, faults);
    const lab::Sampling sampling{faults.empty() ? 0U : 1U, lab::default_schedule_length(run)};
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        CAPTURE(seed);
        const auto outcome = lab::sample(run, seed, sampling);
        CHECK(outcome.failure == "");
        CHECK_FALSE(outcome.cut);
    }
}

constexpr std::uint64_t once_seeds = 100;
constexpr double hour_ms = 3'600'000;

}  // namespace

TEST_CASE("once in memory: every call ends, and no disk has the secret, at any moment of a fault") {
    exhaust({.calls = 1}, 0);
    exhaust({.calls = 1, .ttl_ms = hour_ms}, 0, once_faults);
    sample({.tabs = 3}, once_seeds);
    sample({.tabs = 3, .ttl_ms = hour_ms}, once_seeds, once_faults);
}

TEST_CASE("forget: at any moment, even with a fault, no later call gets an earlier value") {
    for (const bool memory : {true, false}) {
        exhaust({.tabs = 1, .calls = 1, .memory = memory, .ttl_ms = hour_ms, .forgets = true}, 0);
        const OnceCast cast{.memory = memory, .ttl_ms = hour_ms, .forgets = true};
        sample(cast, once_seeds);
        sample(cast, once_seeds, once_faults);
    }
}

TEST_CASE("once in memory, forget: no schedule within bounds that take long fails", "[.][long]") {
    exhaust({.calls = 1, .ttl_ms = hour_ms}, 1);
    for (const bool memory : {true, false}) {
        const OnceCast cast{.memory = memory, .ttl_ms = hour_ms, .forgets = true};
        exhaust({.tabs = 1, .calls = 1, .memory = memory, .ttl_ms = hour_ms, .forgets = true}, 1);
        sample(cast, 20 * once_seeds, once_faults);
    }
}

}  // namespace tabacus::test
