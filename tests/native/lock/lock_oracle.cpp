// The order of locks over tabs against an oracle: one queue for all of them, as Web Locks §4 has
// it.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "lab/seeded_random.hpp"
#include "lock_order_scene.hpp"

namespace tabacus::test {
namespace {

enum class Stand { waiting, holding, over };

struct Standing {
    LockPage::RequestPtr request = nullptr;
    AbortSignal signal{};  // NOLINT(readability-redundant-member-init): so that it may be left out
    LockMode mode = LockMode::exclusive;
    std::size_t tab = 0;
    Stand stand = Stand::waiting;
};

struct OracleScene : LockOrderScene {
    OracleScene(std::uint64_t seed, int tabs, bool tries)
        : LockOrderScene(seed, tabs),
          tab_count(static_cast<std::size_t>(tabs)),
          with_tries(tries) {}

    const std::size_t tab_count;
    const bool with_tries;
    std::vector<Standing> asked;
    std::string steps_taken;

    [[nodiscard]] std::size_t count(Stand stand) const {
        return static_cast<std::size_t>(std::count_if(
            asked.begin(), asked.end(), [&](const Standing& one) { return one.stand == stand; }));
    }
    [[nodiscard]] bool grantable(LockMode mode) const {
        return std::all_of(asked.begin(), asked.end(), [&](const Standing& one) {
            return one.stand != Stand::holding ||
                   (mode == LockMode::shared && one.mode == LockMode::shared);
        });
    }
    /// Web Locks §4.3: the first in line as soon as it can be, and then who is behind it.
    void grant() {
        for (auto& one : asked) {
            if (one.stand != Stand::waiting) continue;
            if (!grantable(one.mode)) return;
            one.stand = Stand::holding;
        }
    }
    /// One of that tab's in this state; of any tab's if there is none.
    Standing* one_of(Stand stand, std::optional<std::size_t> tab) {
        std::vector<Standing*> found;
        for (auto& one : asked) {
            if (one.stand == stand && one.tab == tab.value_or(one.tab)) found.push_back(&one);
        }
        return found.empty() ? nullptr : found[random.below(found.size())];
    }
    void request(std::size_t tab) {
        Standing one{.mode = random.coin() ? LockMode::shared : LockMode::exclusive, .tab = tab};
        LockOptions options{.mode = one.mode, .if_available = with_tries && random.below(5) == 0};
        if (options.if_available) {
            const bool free = count(Stand::waiting) == 0 && grantable(one.mode);
            one.stand = free ? Stand::holding : Stand::over;
        } else {
            options.signal = one.signal;
        }
        note(options.if_available ? "tries" : "asks", asked.size(), one);
        one.request = members[tab].page->hold(std::move(options));
        asked.push_back(one);
    }
    /// Something of this tab's, or of any.
    void act(std::optional<std::size_t> tab) {
        const auto what = random.below(10);
        if (what < 5 && count(Stand::waiting) < 9) {
            request(tab.value_or(random.below(tab_count)));
        } else if (auto* const holder = what < 8 ? one_of(Stand::holding, tab) : nullptr) {
            note("releases", place_of(*holder), *holder);
            holder->stand = Stand::over;
            holder->request->let_go.complete({});
        } else if (auto* const waiter = one_of(Stand::waiting, tab)) {
            note("gives up", place_of(*waiter), *waiter);
            waiter->stand = Stand::over;
            waiter->signal.abort();
        }
        grant();
    }
    [[nodiscard]] std::size_t place_of(const Standing& one) const {
        return static_cast<std::size_t>(&one - asked.data());
    }
    void note(std::string_view does, std::size_t place, const Standing& one) {
        steps_taken += "tab " + std::to_string(one.tab) + " " + std::string(does) + " " +
                       std::to_string(place) + (one.mode == LockMode::shared ? "s; " : "x; ");
    }
    /// Whether everybody stands where the oracle has them, and query() counts as many.
    bool agrees() {
        for (const auto& one : asked) {
            if (holds(one.request) == (one.stand == Stand::holding)) continue;
            steps_taken +=
                std::to_string(place_of(one)) + (holds(one.request) ? " holds" : " does not hold");
            return false;
        }
        std::optional<std::vector<LockRequestInfo>> told;
        const auto asker = random.below(tab_count);
        auto& page = *members[asker].page;
        run_in(
            page.scope(), page.table().query("l"), [&](const auto& infos) { told = infos; },
            [](const Failure&) {});
        until([&] { return told.has_value(); });
        const auto held = static_cast<std::size_t>(
            std::count_if(told->begin(), told->end(), [](const auto& info) { return info.held; }));
        const auto waiting = told->size() - held;
        steps_taken += "query of tab " + std::to_string(asker) + ": " + std::to_string(held) + "+" +
                       std::to_string(waiting) + "; ";
        return held == count(Stand::holding) && waiting == count(Stand::waiting);
    }
    void end() {
        for (const auto& one : asked) {
            one.signal.abort();
            one.request->let_go.complete({});
        }
        origin.run();
    }
};

/// @param in_one_turn  Every other time two steps of one tab before anybody else moves.
void against_oracle(std::uint64_t seeds_count, bool in_one_turn) {
    for (std::uint64_t seed = 0; seed < seeds_count; ++seed) {
        OracleScene scene(seed, 2 + static_cast<int>(seed % 3), !in_one_turn && seed % 2 == 1);
        for (int step = 0; step < 20; ++step) {
            std::optional<std::size_t> tab;
            if (in_one_turn && scene.random.coin()) {
                tab = scene.random.below(scene.tab_count);
                scene.act(tab);
            }
            scene.act(tab);
            scene.settle(130);
            const bool agrees = scene.agrees();
            CAPTURE(seed, scene.steps_taken);
            REQUIRE(agrees);
        }
        scene.end();
        CAPTURE(seed, scene.steps_taken);
        REQUIRE(scene.nothing_left());
        REQUIRE(scene.judge.complaints.empty());
    }
}

}  // namespace

TEST_CASE("lock: granted as from one queue of all tabs") { against_oracle(100, false); }
TEST_CASE("lock: granted as from one queue, also when a tab does two things at once") {
    against_oracle(100, true);
}
TEST_CASE("lock: granted as from one queue of all tabs, many times", "[.][long]") {
    against_oracle(1'500, false);
    against_oracle(2'500, true);
}

}  // namespace tabacus::test
