// StoreLossDetector: every tab that used a database is notified once when that database vanishes.
#include "protocol/common/store_loss_detector.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "lab/lab_tab.hpp"
#include "lab/origin.hpp"
#include "seeds.hpp"

namespace tabacus::test {
namespace {

using lab::LabTab;
using lab::Origin;

/// A page that uses the database, and the notices that it receives.
class Watcher {
  public:
    explicit Watcher(LabTab& tab)
        : loss_detector(tab, Names("test"),
                        [this](const Notice& notice) { notices.push_back(notice); }) {
        tab.post([this] { loss_detector.start(); });
    }
    std::vector<Notice> notices;
    StoreLossDetector loss_detector;
};

struct Watched {
    LabTab* tab;
    Watcher* page;
};

struct Scene {
    explicit Scene(std::uint64_t seed) : origin({.seed = seed}) {
        for (int i = 0; i < 3; ++i) open();
        origin.run();
    }
    void open() {
        auto& tab = origin.open_tab();
        all.push_back({&tab, &tab.run<Watcher>(tab)});
    }
    [[nodiscard]] bool each_received(std::size_t times) const {
        return std::all_of(all.begin(), all.end(),
                           [&](const Watched& one) { return one.page->notices.size() == times; });
    }
    Origin origin;
    std::vector<Watched> all;
};

}  // namespace

TEST_CASE("store loss detector: every tab is notified of each loss, and of nothing else") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        Scene tabs(seed);
        CHECK(tabs.each_received(0));
        for (const auto& one : tabs.all) tabs.origin.close_connection(*one.tab);
        tabs.origin.run();
        CHECK(tabs.each_received(0));
        tabs.origin.lose_database();
        tabs.origin.run();
        CHECK(tabs.each_received(1));
        tabs.origin.clear_site_data();
        tabs.origin.run();
        CHECK(tabs.each_received(2));
        const auto& first = tabs.all.front().page->notices;
        for (const auto& one : tabs.all) {
            const auto& notices = one.page->notices;
            CHECK(notices[0].kind == Notice::Kind::store_lost);
            CHECK(notices[0].subject == notices[1].previous);
            CHECK(notices[0].subject == first[0].subject);
        }
    }
}

TEST_CASE("store loss detector: a database that does not open for a while is asked again") {
    Scene tabs(1);
    tabs.origin.database().refuse(true);
    tabs.origin.clear_site_data();
    auto& clock = tabs.all.front().tab->clock();
    const auto until_ms = clock.monotonic_ms() + 5'000;
    tabs.origin.run_until([&] { return clock.monotonic_ms() >= until_ms; });
    CHECK(tabs.each_received(0));
    tabs.origin.database().refuse(false);
    tabs.origin.run();
    CHECK(tabs.each_received(1));
}

TEST_CASE("store loss detector: a database that never opens is not asked for ever") {
    Scene tabs(1);
    tabs.origin.database().refuse(true);
    tabs.origin.clear_site_data();
    tabs.origin.run(1'000);
    CHECK(tabs.each_received(0));
}

TEST_CASE("store loss detector: a page that was away checks when it is back") {
    Scene tabs(1);
    const auto& cached = tabs.all.front();
    const auto& frozen = tabs.all.back();
    cached.tab->database().close();
    tabs.origin.page_hide(*cached.tab);
    tabs.origin.freeze(*frozen.tab);
    tabs.origin.lose_database();
    tabs.origin.run();
    for (const auto& one : {cached, frozen}) CHECK(one.page->notices.empty());
    tabs.origin.page_show(*cached.tab);
    tabs.origin.thaw(*frozen.tab);
    tabs.origin.run();
    CHECK(tabs.each_received(1));
}

TEST_CASE("store loss detector: it sends no notice after stop()") {
    Scene tabs(1);
    for (const auto& one : tabs.all) one.page->loss_detector.stop();
    tabs.origin.lose_database();
    tabs.origin.run();
    CHECK(tabs.each_received(0));
}

TEST_CASE("store loss detector: a tab that opens after the loss learns of it from localStorage") {
    Scene tabs(1);
    for (const auto& one : tabs.all) tabs.origin.kill(*one.tab);
    tabs.origin.run();
    tabs.origin.lose_database();
    tabs.open();
    tabs.origin.run();
    CHECK(tabs.all.back().page->notices.size() == 1);
}

}  // namespace tabacus::test
