// Sequences and budgets under every schedule of a few switches, and with a fault.
#include "lab/explore/scenario.hpp"
#include "lab/explore/search.hpp"
#include "limits_scene.hpp"

namespace tabacus::test {
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
