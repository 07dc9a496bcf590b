// Older tabs: a tab of version 0.1.0 is noticed by its slot.
#include "protocol/common/older_tabs.hpp"

#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lab/lab_tab.hpp"
#include "lab/origin.hpp"
#include "protocol/common/record.hpp"

namespace tabacus::test {
namespace {

using lab::LabTab;
using lab::StoredValue;

/// A page that holds the lock of the first slot.
class SlotHolder {
  public:
    SlotHolder(LabTab& tab, const Names& names) {
        scope_.spawn([](SlotHolder& self, LabTab& world, std::string name) -> Task<void> {
            self.held_ = co_await world.locks().request({.name = std::move(name)});
        }(*this, tab, names.slot_lock("0")));
    }
    void release() { held_.reset(); }

  private:
    std::unique_ptr<HeldLock> held_;
    Scope scope_;
};

/// A page that looks for older tabs.
class Looking {
  public:
    Looking(LabTab& tab, const Names& names) {
        scope_.spawn(report_older_tabs(
            tab, names, [this](const Notice& notice) { codes.push_back(notice.code); }));
    }
    std::vector<std::string> codes;

  private:
    Scope scope_;
};

/// A database with a claim of the first slot.
struct Claimed {
    explicit Claimed(std::int64_t epoch, std::uint64_t seed = 1) : origin({.seed = seed}) {
        put(epoch);
    }
    void put(std::int64_t epoch) {
        auto& database = origin.database();
        if (!holder.empty()) database.overwrite(Store::claims, holder, std::nullopt);
        holder = format_holder({"g", "0", epoch});
        database.overwrite(Store::claims, holder, StoredValue{"slot/0"});
    }
    LabTab& hold() {
        auto& tab = origin.open_tab();
        tab.run<SlotHolder>(tab, names);
        origin.run();
        return tab;
    }
    Looking& look() {
        auto& tab = origin.open_tab();
        return tab.run<Looking>(tab, names);
    }
    void pass(double time_ms) {
        const auto& clock = origin.open_tab().clock();
        const auto until_ms = clock.monotonic_ms() + time_ms;
        origin.run_until([&] { return clock.monotonic_ms() >= until_ms; });
    }
    lab::Origin origin;
    Names names{"test"};
    std::string holder;
};

}  // namespace

TEST_CASE("older tabs: a held slot with an epoch of version 0.1.0 causes one warning") {
    for (const auto epoch : {std::int64_t{1}, std::int64_t{7}, epochs_per_adoption - 1}) {
        CAPTURE(epoch);
        Claimed claimed(epoch);
        claimed.hold();
        const auto& page = claimed.look();
        claimed.origin.run();
        CHECK(page.codes == std::vector<std::string>{"older-version"});
    }
}

TEST_CASE("older tabs: a slot of a dead tab, or of a tab of this version, causes no warning") {
    Claimed dead(7);
    dead.origin.kill(dead.hold());
    dead.origin.run();
    const auto& beside_dead = dead.look();
    dead.origin.run();
    CHECK(beside_dead.codes.empty());

    Claimed present(epochs_per_adoption);
    present.hold();
    const auto& beside_present = present.look();
    present.origin.run();
    CHECK(beside_present.codes.empty());
}

TEST_CASE("older tabs: tabs that look at once beside a dead tab cause each other no warning") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        Claimed dead(7, seed);
        const std::vector<const Looking*> pages{&dead.look(), &dead.look(), &dead.look()};
        dead.origin.run();
        for (const auto* page : pages) CHECK(page->codes.empty());
    }
}

TEST_CASE("older tabs: a slot whose lock is only held for a moment causes no warning") {
    Claimed claimed(7);
    auto& tab = claimed.origin.open_tab();
    auto& holder = tab.run<SlotHolder>(tab, claimed.names);
    claimed.origin.run();
    const auto& page = claimed.look();
    claimed.pass(500);
    holder.release();
    claimed.origin.run();
    CHECK(page.codes.empty());
}

TEST_CASE("older tabs: a slot that a tab of this version is about to take over causes no warning") {
    Claimed claimed(7);
    claimed.hold();
    const auto& page = claimed.look();
    claimed.pass(500);
    claimed.put(epochs_per_adoption + 7);
    claimed.origin.run();
    CHECK(page.codes.empty());
}

}  // namespace tabacus::test
