// How many messages the tabs that contend for a lock receive.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <vector>

#include "lock_scene.hpp"
#include "time_last_chooser.hpp"

namespace tabacus::test {
namespace {

constexpr double hold_ms = 5;
constexpr int requests_of_tab = 4;

struct Crowd : LockScene {
    explicit Crowd(int tabs)
        : LockScene(1, StorageModel::cached, std::make_unique<TimeLastChooser>(1)) {
        for (int i = 0; i < tabs; ++i) open();
        // Each tab has used the lock before the tabs contend for it.
        for (const auto& member : members) {
            const auto request = member.page->count({}, 0);
            until([&] { return request->ended; });
        }
        wait_ms(*this, *members.front().page, 100);
    }
    /// Lets each tab request the lock again and again. Returns the messages that were received for
    /// each grant.
    double messages_of_grant() {
        std::vector<lab::TraceLine> lines;
        origin.recorder().trace_into(&lines);
        const auto granted_before = judge.order.size();
        std::vector<LockPage::RequestPtr> last(members.size());
        for (int round = 0; round < requests_of_tab; ++round) {
            for (std::size_t i = 0; i < members.size(); ++i) {
                if (last[i]) until([&] { return last[i]->ended; });
                last[i] = members[i].page->count({}, 1, hold_ms);
                // What all tabs send at once is on the way to all before any closes its channel.
                if (round == 0) wait_ms(*this, *members.front().page, 1);
            }
        }
        for (const auto& request : last) until([&] { return request->ended; });
        origin.run();
        origin.recorder().trace_into(nullptr);
        const auto received = std::count_if(lines.begin(), lines.end(), [](const auto& line) {
            return line.text.starts_with("receives 1;");
        });
        return static_cast<double>(received) /
               static_cast<double>(judge.order.size() - granted_before);
    }
};

}  // namespace

TEST_CASE("lock: a hand-over is received by few tabs, however many wait") {
    const auto few = Crowd(5).messages_of_grant();
    const auto many = Crowd(20).messages_of_grant();
    const auto crowd = Crowd(60).messages_of_grant();
    CAPTURE(few, many, crowd);
    CHECK(few < 8);
    CHECK(many < few + 1);
    CHECK(crowd < few + 1);
}

TEST_CASE("lock: a tab that neither holds a lock nor waits soon receives no message about it") {
    LockScene scene(1, StorageModel::cached, std::make_unique<TimeLastChooser>(1));
    for (int i = 0; i < 3; ++i) scene.open();
    for (const std::size_t tab : {0U, 1U, 2U, 1U, 2U, 1U}) {
        const auto request = scene.members[tab].page->count({}, 0);
        scene.until([&] { return request->ended; });
        wait_ms(scene, *scene.members[0].page, 50);
    }
    std::vector<lab::TraceLine> lines;
    scene.origin.recorder().trace_into(&lines);
    const auto request = scene.members[1].page->count({}, 0);
    scene.until([&] { return request->ended; });
    wait_ms(scene, *scene.members[1].page, 50);
    scene.origin.recorder().trace_into(nullptr);
    CHECK(std::none_of(lines.begin(), lines.end(), [&](const auto& line) {
        return line.tab == scene.members[0].tab->id() && line.text.starts_with("receives 1;");
    }));
}

}  // namespace tabacus::test
