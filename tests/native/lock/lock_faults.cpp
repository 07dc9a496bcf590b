// Locks under faults: killed, frozen, cached and hung holders, stolen locks, lost messages, a lost
// database.
#include <catch2/catch_test_macros.hpp>

#include "lock_scene.hpp"
#include "seeds.hpp"

namespace tabacus::test {
namespace {

using Failures = std::vector<std::string>;

/// Lets every living tab count in four rounds, with random steps between. `fault(round)` is called
/// in each round.
template <typename Fault>
void count_through(LockScene& scene, int tabs, Fault fault, Platform platform = {}) {
    for (int i = 0; i < tabs; ++i) scene.open(platform);
    std::vector<LockPage::RequestPtr> requests;
    for (int round = 0; round < 4; ++round) {
        for (const auto& member : scene.members) {
            if (!member.tab->active()) continue;
            requests.push_back(
                member.page->count({.max_hold_ms = 1'000}, 1, scene.random.coin() ? 1 : 0));
            scene.steps(scene.random.below(40));
        }
        fault(round);
        scene.steps(scene.random.below(40));
    }
}

/// Checks that the stored count has all acknowledged increments, and beyond them at most those of
/// unknown outcome and `unreported` ones.
void check_counts(LockScene& scene, int unreported) {
    CHECK(scene.stored() >= scene.judge.committed);
    CHECK(scene.stored() <= scene.judge.committed + scene.judge.unknown + unreported);
}

void check_free(LockScene& scene, Platform platform = {}) {
    const auto late = scene.open(platform);
    const auto request = late.page->count({});
    scene.until([&] { return request->ended; });
    CHECK(request->granted);
    CHECK(request->commit_errors.empty());
    scene.origin.run();
}

}  // namespace

TEST_CASE(
    "lock: killed tabs, holders or waiters, delay no other tab for ever and write nothing late") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        count_through(scene, 4, [&](int round) {
            if (round < 3) scene.origin.kill(*scene.members[scene.random.below(4)].tab);
        });
        scene.origin.run();
        check_counts(scene, 3);
        check_free(scene);
        CHECK(scene.judge.failures == Failures{});
        CHECK(scene.nothing_left());
    }
}

TEST_CASE("lock: a frozen holder is notified before it can write, and the others go on at once") {
    int notified = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        const auto frozen = scene.open();
        const auto other = scene.open();
        const auto slow = frozen.page->count({}, 3, 5);
        scene.until([&] { return slow->granted; });
        scene.steps(scene.random.below(30));
        if (slow->ended) continue;
        scene.origin.freeze(*frozen.tab);
        CHECK(slow->loss == "frozen");
        ++notified;
        const auto next = other.page->count({});
        scene.until([&] { return next->ended; });
        CHECK(next->granted);
        scene.origin.thaw(*frozen.tab);
        scene.origin.run();
        // Either a commit was refused, or all commits had been asked for before the freeze.
        CHECK((!slow->commit_errors.empty() || scene.judge.committed == 4));
        check_counts(scene, 1);
        check_free(scene);
        CHECK(scene.judge.failures == Failures{});
    }
    CHECK(notified > static_cast<int>(seeds) / 2);
}

TEST_CASE(
    "lock: a page in the back/forward cache releases the lock, and counts again when it is back") {
    int kept = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        count_through(scene, 3, [&](int round) {
            const auto& tab = *scene.members[0].tab;
            if (round == 1 && scene.origin.page_hide(*scene.members[0].tab)) ++kept;
            if (round == 3 && tab.alive()) scene.origin.page_show(*scene.members[0].tab);
        });
        scene.origin.run();
        check_counts(scene, 1);
        check_free(scene);
        CHECK(scene.judge.failures == Failures{});
        CHECK(scene.nothing_left());
    }
    CHECK(kept > static_cast<int>(seeds) / 3);
}

TEST_CASE(
    "lock: a previous holder is notified and cannot write; the stealer gets a greater token") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        scene.judge.lenient = true;
        const auto victim = scene.open();
        const auto stealer = scene.open();
        const auto previous = victim.page->count({}, 40, 1);
        scene.until([&] { return previous->granted; });
        scene.steps(scene.random.below(40));
        const auto own = seed % 4 == 0;  // the stealer is a request of the holder's own tab
        const auto stolen = (own ? victim : stealer).page->count({.steal = true}, 2, 1);
        scene.until([&] { return previous->ended && stolen->ended; });
        CHECK(stolen->granted);
        CHECK(stolen->commit_errors.empty());
        // The holder notices first either the steal or the stealer's epoch.
        CHECK((previous->loss == "stolen" || previous->loss == "fenced"));
        CHECK_FALSE(previous->commit_errors.empty());
        scene.origin.run();
        check_counts(scene, 0);
        check_free(scene);
        CHECK(scene.judge.failures == Failures{});
    }
}

TEST_CASE("lock: a steal voids the tokens that the next tab in line has reserved") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        scene.judge.lenient = true;
        for (int i = 0; i < 3; ++i) scene.open();
        const auto holder = scene.members[0].page->hold();
        scene.until([&] { return holder->granted; });
        const auto next = scene.members[1].page->count({});
        scene.steps(scene.random.below(80));
        const auto stolen = scene.members[2].page->count({.steal = true});
        scene.until([&] { return next->ended && stolen->ended; });
        CHECK(stolen->commit_errors.empty());
        CHECK(next->commit_errors.empty());
        holder->let_go.complete({});
        scene.origin.run();
        CHECK(scene.stored() == 2);
        CHECK(scene.judge.failures == Failures{});
    }
}

TEST_CASE("lock: a tab that grants again and again takes no token of the next tab") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed), std::make_unique<TimeLastChooser>(seed));
        const auto busy = scene.open();
        const auto other = scene.open();
        const auto first = busy.page->hold();
        scene.until([&] { return first->granted; });
        for (int i = 0; i < 600; ++i) busy.page->count({}, 0);
        const auto next = other.page->count({});
        scene.steps(scene.random.below(60));
        first->let_go.complete({});
        scene.origin.run();
        CHECK(next->commit_errors.empty());
        CHECK(scene.judge.order.size() == 602);
        CHECK(scene.judge.failures == Failures{});
    }
}

TEST_CASE("lock: many stealers at once leave one lock and exact data") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        scene.judge.lenient = true;
        std::vector<LockPage::RequestPtr> requests;
        for (int i = 0; i < 3; ++i) scene.open();
        for (int i = 0; i < 9; ++i) {
            const auto& member = scene.members[scene.random.below(3)];
            requests.push_back(member.page->count({.steal = scene.random.coin()}, 2));
            scene.steps(scene.random.below(20));
        }
        scene.origin.run();
        for (const auto& request : requests) CHECK(request->ended);
        check_counts(scene, 0);
        check_free(scene);
        CHECK(scene.nothing_left());
    }
}

TEST_CASE("lock: a hung holder is evicted within a bound, once, and its late write is refused") {
    // The first observation, maxHold, the margin (lock_evictor.cpp), a few messages and
    // transactions.
    constexpr double bound_ms = 250 + 500 + 150 + 50;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        // Where timers may overtake messages for ever, the eviction comes, but within no bound.
        const bool timely = seed / 3 % 2 == 0;
        LockScene scene(seed, model_of_seed(seed),
                        timely ? std::make_unique<TimeLastChooser>(seed) : nullptr);
        scene.judge.lenient = true;
        const auto hung = scene.open();
        for (int i = 0; i < 4; ++i) scene.open();
        const auto slow = hung.page->count({.max_hold_ms = 500}, 2, 1);
        scene.until([&] { return slow->granted; });
        scene.steps(scene.random.below(20));
        if (slow->ended) continue;
        scene.origin.suspend(*hung.tab);
        const auto committed = scene.stored();
        const auto began_ms = scene.origin.clock().now_ms();
        std::vector<LockPage::RequestPtr> waiting;
        for (std::size_t i = 1; i < 5; ++i) {
            const bool shared = i % 2 == 0;
            waiting.push_back(scene.members[i].page->count(
                {.mode = shared ? LockMode::shared : LockMode::exclusive}, shared ? 0 : 1));
            scene.steps(scene.random.below(40));
        }
        scene.until([&] {
            return std::all_of(waiting.begin(), waiting.end(),
                               [](const auto& request) { return request->ended; });
        });
        if (timely) CHECK(scene.origin.clock().now_ms() - began_ms < bound_ms);
        // The lock and the entry lock are stolen. They may be stolen again from a tab that the
        // schedule delays for as long.
        CHECK(scene.origin.locks().steals() <= (timely ? 2 : 8));
        scene.origin.wake(*hung.tab);
        scene.origin.run();
        CHECK(slow->ended);
        const auto kept = scene.stored() - committed;
        CHECK(kept <= 2 + 1);  // the two writers' commits, and perhaps one that was under way
        check_counts(scene, 1);
        CHECK(scene.judge.failures == Failures{});
        check_free(scene);
    }
}

TEST_CASE("lock: a tab that hangs while it waits is passed, wherever it is in the queue") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        scene.judge.lenient = true;
        for (int i = 0; i < 4; ++i) scene.open();
        const auto holder = scene.members[0].page->hold();
        scene.until([&] { return holder->granted; });
        scene.members[1].page->count({.max_hold_ms = 500});
        scene.steps(scene.random.below(60));
        scene.origin.suspend(*scene.members[1].tab);
        const auto third = scene.members[2].page->count({.max_hold_ms = 500});
        const auto fourth = scene.members[3].page->count({.max_hold_ms = 500});
        scene.steps(scene.random.below(60));
        holder->let_go.complete({});
        scene.until([&] { return third->ended && fourth->ended; });
        CHECK(third->granted);
        CHECK(fourth->granted);
        // The lock and the entry lock of the hung tab are stolen. They may be stolen again from a
        // tab that the schedule delays for as long.
        CHECK(scene.origin.locks().steals() <= 8);
        scene.origin.wake(*scene.members[1].tab);
        scene.origin.run();
        check_counts(scene, 0);
        check_free(scene);
        CHECK(scene.judge.failures == Failures{});
    }
}

TEST_CASE("lock: a tab that receives no messages evicts no holder, however long it waits") {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        scene.judge.lenient = true;
        const auto hung = scene.open();
        const auto silenced = scene.open();
        scene.origin.drop_messages(*silenced.tab);
        const auto slow = hung.page->hold({.max_hold_ms = 500});
        scene.until([&] { return slow->granted; });
        scene.origin.suspend(*hung.tab);
        const auto waiting = silenced.page->count({.max_hold_ms = 500});
        const auto until_ms = scene.origin.clock().now_ms() + 60'000;
        scene.until([&] { return scene.origin.clock().now_ms() > until_ms; });
        CHECK(scene.origin.locks().steals() == 0);
        CHECK_FALSE(waiting->ended);
        // Once a tab opens that receives messages, both requests are granted.
        const auto receiving = scene.open().page->count({.max_hold_ms = 500});
        scene.until([&] { return waiting->ended && receiving->ended; });
        CHECK(scene.origin.locks().steals() <= 4);
    }
}

TEST_CASE("lock: a living holder loses the lock after maxHold by its own timer, without eviction") {
    int evicted = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        const auto forgetful = scene.open();
        const auto other = scene.open();
        const auto forgotten = forgetful.page->hold({.max_hold_ms = 500});
        scene.until([&] { return forgotten->granted; });
        const auto next = other.page->count({});
        scene.until([&] { return next->ended; });
        CHECK(next->granted);
        evicted += forgotten->loss == "max-hold" ? 0 : 1;
    }
    // A schedule may delay the holder's timer for so long that the holder counts as hung.
    CHECK(evicted * 20 < static_cast<int>(seeds));
}

TEST_CASE("lock: tokens go on rising after a lost database, cleared site data or a changed clock") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        for (int i = 0; i < 3; ++i) scene.open();
        for (int round = 0; round < 6; ++round) {
            const auto& member = scene.members[scene.random.below(scene.members.size())];
            const auto request = member.page->count({}, 0);
            scene.until([&] { return request->ended; });
            CHECK(request->granted);
            scene.steps(scene.random.below(30));
            constexpr double year_ms = 365.0 * 86'400'000;
            // If everything is cleared and the clock is set back as well, no token can rise.
            const bool clocks = seed % 2 == 0;
            switch (scene.random.below(4)) {
                case 0:
                    if (clocks) scene.origin.run();  // the backup reaches every process
                    scene.origin.lose_database();
                    break;
                case 1:
                    if (!clocks) scene.origin.clear_site_data();
                    break;
                case 2:
                    if (clocks) scene.origin.clock().jump(scene.random.coin() ? year_ms : -year_ms);
                    break;
                default:
                    scene.origin.kill(*member.tab);
                    scene.open();
                    break;
            }
            // In a real browser a transaction takes more microseconds than it takes tokens.
            scene.origin.clock().jump(1);
            if (scene.members.size() > 9) break;
            std::erase_if(scene.members, [](const auto& other) { return !other.tab->alive(); });
        }
        CHECK(scene.judge.failures == Failures{});
    }
}

TEST_CASE("lock: a commit under a vanished database fails only with known errors") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        const auto one = scene.open();
        const auto request = one.page->count({}, 6, 1);
        scene.until([&] { return request->granted; });
        scene.steps(scene.random.below(30));
        scene.origin.lose_database();
        scene.until([&] { return request->ended; });
        for (const auto code : request->commit_errors) {
            CHECK((code == ErrorCode::fenced || code == ErrorCode::lock_lost ||
                   code == ErrorCode::store_failed || code == ErrorCode::unknown_commit));
        }
        check_free(scene);
        CHECK(scene.judge.failures == Failures{});
    }
}

TEST_CASE("lock: a request that cannot get a token fails, and keeps no other tab from the lock") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        const auto one = scene.open();
        const auto two = scene.open();
        scene.origin.database().set_quota(0);
        const auto refused = one.page->count({});
        scene.until([&] { return refused->ended; });
        CHECK(refused->error == ErrorCode::quota_exceeded);
        scene.origin.database().set_quota({});
        const auto next = two.page->count({});
        scene.until([&] { return next->ended; });
        CHECK(next->granted);
        CHECK(scene.origin.locks().steals() == 0);
        CHECK(scene.judge.failures == Failures{});
    }
}

TEST_CASE("lock: a request that prefers a fence is granted while the disk is full") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        const auto one = scene.open();
        const auto two = scene.open();
        scene.origin.database().set_quota(0);
        const auto unfenced = one.page->count({.fence_optional = true}, 2, 5);
        const auto refused = one.page->count({});
        const auto other = two.page->count({.fence_optional = true});
        scene.until([&] { return unfenced->ended && refused->ended && other->ended; });
        CHECK((unfenced->granted && other->granted));
        CHECK(unfenced->commit_errors == std::vector(2, ErrorCode::unavailable));
        CHECK(refused->error == ErrorCode::quota_exceeded);
        CHECK(one.page->notices.at(0).code == "unfenced-lock");
        scene.origin.database().set_quota({});
        const auto fenced = two.page->count({.fence_optional = true});
        scene.until([&] { return fenced->ended; });
        CHECK(scene.judge.failures == Failures{});
        CHECK(scene.judge.committed == 1);
    }
}

TEST_CASE("lock: a lost release or request message delays others for a bounded time") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        const auto keeper = scene.open();
        const auto other = scene.open();
        scene.origin.drop_messages(*keeper.tab);
        const auto first = keeper.page->count({}, 0);
        scene.until([&] { return first->ended; });
        const auto next = other.page->count({}, 0);
        scene.until([&] { return next->ended; });
        CHECK(next->granted);
        CHECK(scene.origin.locks().steals() == 0);
    }
}

TEST_CASE("lock: foreign records and messages keep no tab from the lock") {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        const auto one = scene.open();
        const auto two = scene.open();
        const auto first = one.page->count({});
        scene.until([&] { return first->ended; });
        scene.origin.database().overwrite(
            Store::locks, "l", lab::StoredValue{seed % 2 == 0 ? "1;nonsense" : "", seed % 2 != 0});
        const auto channel = "tabacus/test/locks";
        for (const auto* text : {"", "1;p;l;x", "1;i;l;x;a;b", "1;p;l;x;1;a;b", "2;w;l;x",
                                 "1;p;l;x;1;a;b;c;d", "1;v;l;x;a", "1;t;%zz;x"}) {
            scene.origin.post_foreign(channel, text);
        }
        const auto second = two.page->count({});
        scene.until([&] { return second->ended; });
        CHECK(second->granted);
        scene.origin.run();
        CHECK(scene.judge.failures == Failures{});
        CHECK(scene.origin.database().rows(Store::quarantine).size() <= 1);
    }
}

// --- Without Web Locks --------------------------------------------------------------------------

TEST_CASE("lease: tabs that increment a row under the lease lose nothing, even if holders die") {
    constexpr Platform without{.locks = false};
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        const bool deadly = seed % 2 == 0;
        count_through(
            scene, 3,
            [&](int round) {
                if (deadly && round < 2)
                    scene.origin.kill(*scene.members[static_cast<std::size_t>(round)].tab);
            },
            without);
        scene.origin.run();
        check_counts(scene, deadly ? 2 : 0);
        check_free(scene, without);
        CHECK(scene.judge.failures == Failures{});
    }
}

TEST_CASE("lease: a holder that was suspended past its lease is refused and notified") {
    constexpr Platform without{.locks = false};
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        scene.judge.lenient = true;
        const auto hung = scene.open(without);
        const auto other = scene.open(without);
        const auto slow = hung.page->count({}, 2, 1);
        scene.until([&] { return slow->granted; });
        scene.origin.suspend(*hung.tab);
        const auto began_ms = scene.origin.clock().now_ms();
        const auto next = other.page->count({});
        scene.until([&] { return next->ended; });
        CHECK(next->granted);
        CHECK(scene.origin.clock().now_ms() - began_ms < 20'000);
        scene.origin.wake(*hung.tab);
        scene.until([&] { return slow->ended; });
        CHECK_FALSE(slow->commit_errors.empty());
        check_counts(scene, 1);
    }
}

}  // namespace tabacus::test
