// Counters of the catalogue in a tab whose lock manager is not that of new tabs.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <exception>
#include <optional>
#include <string>

#include "lab/lab_tab.hpp"
#include "lab/origin.hpp"
#include "protocol/common/store_loss_detector.hpp"
#include "protocol/strategy/locked.hpp"
#include "protocol/strategy/log.hpp"

namespace tabacus::test {
namespace {

using lab::LabTab;
using lab::Origin;

/// A page that counts by the strategies that take locks, and rests on a watched database.
class CutOffPage final : private StoreUser {
  public:
    explicit CutOffPage(LabTab& tab)
        : detector_(
              tab, Names("test"), [](const Notice&) {}, this),
          locked_(location(tab, "k")),
          log_(location(tab, "g"), {.fold_after_ms = 100}) {
        tab.post([this] { detector_.start(); });
    }
    void add(Counter& counter) {
        run_in(
            scope_, counter.add(1), [this](std::int64_t) { ++added; },
            [this](const std::exception_ptr& failure) { error = error_of(failure).code(); });
    }
    Counter& locked() { return locked_; }
    Counter& log() { return log_; }

    int added = 0;
    bool cut_off = false;
    std::optional<ErrorCode> error;

  private:
    CounterLocation location(LabTab& tab, const std::string& name) {
        CounterLocation made{tab, Names("test"), name, [](const Notice&) {}};
        made.loss_detector = &detector_;
        return made;
    }
    void store_vanished() override {}
    void store_settled(bool shared) override { cut_off = cut_off || !shared; }

    StoreLossDetector detector_;
    LockedCounter locked_;
    LogCounter log_;
    Scope scope_;
};

struct CutOffScene {
    CutOffPage& open() {
        last_tab = &origin.open_tab();
        return last_tab->run<CutOffPage>(*last_tab);
    }
    /// Returns how many keys of localStorage have this part.
    [[nodiscard]] std::ptrdiff_t keys(const std::string& part) {
        const lab::StorageArea::Values values(origin.storage().values());
        return std::count_if(values.begin(), values.end(), [&](const auto& entry) {
            return entry.first.find(part) != std::string::npos;
        });
    }
    Origin origin{Origin::Options{1, lab::StorageModel::mutexed}};
    LabTab* last_tab = nullptr;
    CutOffPage& old{open()};
};

}  // namespace

TEST_CASE("catalogue: a tab that is cut off adds nothing by the strategy locked") {
    for (const bool cut_off : {true, false}) {
        CAPTURE(cut_off);
        CutOffScene scene;
        scene.old.add(scene.old.locked());
        scene.origin.run();
        REQUIRE(scene.old.added == 1);
        scene.origin.clear_site_data();
        if (cut_off) scene.origin.add_lock_manager();
        scene.origin.run();
        REQUIRE(scene.old.cut_off == cut_off);
        scene.old.add(scene.old.locked());
        scene.origin.run();
        CHECK(scene.old.added == (cut_off ? 1 : 2));
        CHECK(scene.old.error.has_value() == cut_off);
        if (cut_off) CHECK(scene.old.error == ErrorCode::unavailable);
    }
}

TEST_CASE("catalogue: a tab that is cut off folds no entries of tabs that it takes for dead") {
    for (const bool cut_off : {true, false}) {
        CAPTURE(cut_off);
        CutOffScene scene;
        scene.origin.run();
        scene.origin.clear_site_data();
        if (cut_off) scene.origin.add_lock_manager();
        scene.origin.run();
        auto& fresh = scene.open();
        fresh.add(fresh.log());
        scene.origin.run();
        REQUIRE(fresh.added == 1);
        if (!cut_off) scene.origin.kill(*scene.last_tab);
        scene.old.add(scene.old.log());
        scene.origin.run();
        CHECK(scene.old.added == 1);
        CHECK(scene.keys("/fold/") == (cut_off ? 0 : 1));
    }
}

}  // namespace tabacus::test
