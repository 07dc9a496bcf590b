// Queues and time: delays run by the monotonic clock, and jobs that nobody handles are reported.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "queue_scene.hpp"
#include "time_last_chooser.hpp"

namespace tabacus::test {
namespace {

constexpr double day_ms = 86'400'000;
constexpr std::uint64_t clock_seeds = 20;

struct ClockScene : QueueScene {
    explicit ClockScene(std::uint64_t seed)
        : QueueScene(seed, {}, {.effects = 0}, std::make_unique<TimeLastChooser>(seed)) {}
    [[nodiscard]] bool begun(const std::string& payload) const {
        return judge.begun.contains(payload);
    }
    /// Lets that much time pass and no more: a timer ends it.
    void pass_by_timer(double delay_ms) {
        const auto over = std::make_shared<bool>(false);
        members[0].page->scope().spawn(
            [](LabTab& tab, double nap_ms, std::shared_ptr<bool> done) -> Task<void> {
                co_await tab.clock().sleep(nap_ms);
                *done = true;
            }(*members[0].tab, delay_ms, over));
        until([&] { return *over; });
    }
    void enqueue(QueuePage& page, const std::string& payload, double delay_ms) {
        const auto asked = page.enqueue({.payload = {payload, false}, .delay_ms = delay_ms});
        until([&] { return asked->ended; });
    }
};

int warnings(const QueuePage& page) {
    return static_cast<int>(std::ranges::count_if(
        page.notices, [](const Notice& notice) { return notice.code == "unhandled-job"; }));
}

}  // namespace

TEST_CASE("queue: a wall clock that jumps by a day neither hurries nor holds up a delayed job") {
    for (std::uint64_t seed = 0; seed < clock_seeds; ++seed) {
        for (const double jump_ms : {-day_ms, day_ms}) {
            CAPTURE(seed, jump_ms);
            ClockScene scene(seed);
            const auto first = scene.open();
            first.page->work();
            scene.enqueue(*first.page, "early", 10'000);
            scene.pass_by_timer(1'000);
            scene.origin.jump_wall_clock(jump_ms);
            // A tab that is opened later agrees with the others, whatever it enqueues.
            const auto late = scene.open();
            late.page->work();
            scene.pass_by_timer(100);
            scene.enqueue(*late.page, "late", 10'000);
            scene.pass_by_timer(8'000);
            CHECK_FALSE(scene.begun("early"));
            scene.pass_by_timer(1'000);
            CHECK(scene.begun("early"));
            CHECK_FALSE(scene.begun("late"));
            scene.pass_by_timer(1'500);
            CHECK(scene.begun("late"));
        }
    }
}

TEST_CASE("queue: a wall clock that jumps while the page is cached holds up no job of any tab") {
    for (const bool late_tab : {false, true}) {
        for (const double jump_ms : {-day_ms, day_ms}) {
            CAPTURE(late_tab, jump_ms);
            ClockScene scene(1);
            const auto first = scene.open();
            first.page->work();
            scene.enqueue(*first.page, "early", 10'000);
            REQUIRE(scene.origin.page_hide(*first.tab));
            scene.origin.jump_wall_clock(jump_ms);
            if (late_tab) scene.open();
            scene.origin.page_show(*first.tab);
            scene.pass_by_timer(8'000);
            CHECK_FALSE(scene.begun("early"));
            scene.pass_by_timer(2'500);
            CHECK(scene.begun("early"));
            if (!late_tab) continue;
            auto& late = *scene.members[1].page;
            scene.enqueue(late, "late", 10'000);
            scene.pass_by_timer(8'000);
            CHECK_FALSE(scene.begun("late"));
            scene.pass_by_timer(2'500);
            CHECK(scene.begun("late"));
        }
    }
}

TEST_CASE(
    "queue: a due job that no tab handles for 10 s gives one warning, in the tab that made it") {
    for (std::uint64_t seed = 0; seed < clock_seeds; ++seed) {
        CAPTURE(seed);
        ClockScene scene(seed);
        const auto maker = scene.open();
        const auto other = scene.open();
        scene.enqueue(*maker.page, "now", 0);
        scene.pass_by_timer(9'500);
        CHECK(warnings(*maker.page) == 0);
        scene.pass_by_timer(1'000);
        CHECK(warnings(*maker.page) == 1);
        scene.pass_by_timer(600'000);
        CHECK(warnings(*maker.page) == 1);
        CHECK(warnings(*other.page) == 0);
        other.page->work();
        scene.pass_by_timer(100);
        CHECK(scene.begun("now"));
    }
}

TEST_CASE("queue: no warning says that a job is unhandled which is delayed, paused, or in hand") {
    ClockScene scene(1);
    const auto maker = scene.open();
    scene.enqueue(*maker.page, "delayed", 60'000);
    scene.pass_by_timer(65'000);
    CHECK(warnings(*maker.page) == 0);
    const auto paused = maker.page->pause(true);
    scene.until([&] { return *paused; });
    scene.pass_by_timer(100'000);
    CHECK(warnings(*maker.page) == 0);
    maker.page->work();
    const auto resumed = maker.page->pause(false);
    scene.until([&] { return *resumed; });
    scene.pass_by_timer(100'000);
    CHECK(scene.begun("delayed"));
    CHECK(warnings(*maker.page) == 0);
}

}  // namespace tabacus::test
