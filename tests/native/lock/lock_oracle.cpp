// Compares the order in which tabs get a lock with an oracle: one queue for all tabs, as Web Locks
// §4 describes it.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "lab/seeded_random.hpp"
#include "lock_order_scene.hpp"

namespace tabacus::test {
namespace {

enum class State { waiting, holding, over };

struct Asked {
    LockPage::RequestPtr request = nullptr;
    AbortSignal signal{};  // NOLINT(readability-redundant-member-init): so that it may be left out
    LockMode mode = LockMode::exclusive;
    std::size_t tab = 0;
    State state = State::waiting;
};

struct OracleScene : LockOrderScene {
    OracleScene(std::uint64_t seed, int tabs, bool tries)
        : LockOrderScene(seed, tabs),
          tab_count(static_cast<std::size_t>(tabs)),
          with_tries(tries) {}

    const std::size_t tab_count;
    const bool with_tries;
    std::vector<Asked> asked;
    std::string steps_taken;

    [[nodiscard]] std::size_t count(State state) const {
        return static_cast<std::size_t>(std::count_if(
            asked.begin(), asked.end(), [&](const Asked& one) { return one.state == state; }));
    }
    [[nodiscard]] bool grantable(LockMode mode) const {
        return std::all_of(asked.begin(), asked.end(), [&](const Asked& one) {
            return one.state != State::holding ||
                   (mode == LockMode::shared && one.mode == LockMode::shared);
        });
    }
    /// Grants as Web Locks §4.3 does: the first waiter as soon as its mode allows, and then each
    /// waiter behind it, up to the first one that has to wait.
    void grant() {
        for (auto& one : asked) {
            if (one.state != State::waiting) continue;
            if (!grantable(one.mode)) return;
            one.state = State::holding;
        }
    }
    /// Returns a random request of `tab`, or of any tab if `tab` is empty, that is in this state.
    /// Returns null if there is none.
    Asked* one_of(State state, std::optional<std::size_t> tab) {
        std::vector<Asked*> found;
        for (auto& one : asked) {
            if (one.state == state && one.tab == tab.value_or(one.tab)) found.push_back(&one);
        }
        return found.empty() ? nullptr : found[random.below(found.size())];
    }
    void request(std::size_t tab) {
        Asked one{.mode = random.coin() ? LockMode::shared : LockMode::exclusive, .tab = tab};
        LockOptions options{.mode = one.mode, .if_available = with_tries && random.below(5) == 0};
        if (options.if_available) {
            const bool free = count(State::waiting) == 0 && grantable(one.mode);
            one.state = free ? State::holding : State::over;
        } else {
            options.signal = one.signal;
        }
        note(options.if_available ? "tries" : "asks", asked.size(), one);
        one.request = members[tab].page->hold(std::move(options));
        asked.push_back(one);
    }
    /// Lets `tab`, or any tab if `tab` is empty, make a request, release a grant or give up a
    /// request, at random.
    void act(std::optional<std::size_t> tab) {
        const auto what = random.below(10);
        if (what < 5 && count(State::waiting) < 9) {
            request(tab.value_or(random.below(tab_count)));
        } else if (auto* const holder = what < 8 ? one_of(State::holding, tab) : nullptr) {
            note("releases", index_of(*holder), *holder);
            holder->state = State::over;
            holder->request->let_go.complete({});
        } else if (auto* const waiter = one_of(State::waiting, tab)) {
            note("gives up", index_of(*waiter), *waiter);
            waiter->state = State::over;
            waiter->signal.abort();
        }
        grant();
    }
    [[nodiscard]] std::size_t index_of(const Asked& one) const {
        return static_cast<std::size_t>(&one - asked.data());
    }
    void note(std::string_view does, std::size_t index, const Asked& one) {
        steps_taken += "tab " + std::to_string(one.tab) + " " + std::string(does) + " " +
                       std::to_string(index) + (one.mode == LockMode::shared ? "s; " : "x; ");
    }
    /// Whether every request is in the state that the oracle has, and query() in a random tab
    /// reports as many holders and waiters.
    bool agrees() {
        for (const auto& one : asked) {
            if (holds(one.request) == (one.state == State::holding)) continue;
            steps_taken +=
                std::to_string(index_of(one)) + (holds(one.request) ? " holds" : " does not hold");
            return false;
        }
        std::optional<std::vector<LockRequestInfo>> infos_of_all;
        const auto asker = random.below(tab_count);
        auto& page = *members[asker].page;
        run_in(
            page.scope(), page.table().query("l"), [&](const auto& infos) { infos_of_all = infos; },
            [](const Failure&) {});
        until([&] { return infos_of_all.has_value(); });
        const auto held =
            static_cast<std::size_t>(std::count_if(infos_of_all->begin(), infos_of_all->end(),
                                                   [](const auto& info) { return info.held; }));
        const auto waiting = infos_of_all->size() - held;
        steps_taken += "query of tab " + std::to_string(asker) + ": " + std::to_string(held) + "+" +
                       std::to_string(waiting) + "; ";
        return held == count(State::holding) && waiting == count(State::waiting);
    }
    void end() {
        for (const auto& one : asked) {
            one.signal.abort();
            one.request->let_go.complete({});
        }
        origin.run();
    }
};

/// @param in_one_turn  whether, at random, one tab makes two steps before any other tab moves
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
        REQUIRE(scene.judge.failures.empty());
    }
}

}  // namespace

TEST_CASE("lock: requests are granted as from one queue of all tabs") {
    against_oracle(100, false);
}
TEST_CASE("lock: requests are granted as from one queue, even if a tab does two things at once") {
    against_oracle(100, true);
}
TEST_CASE("lock: requests are granted as from one queue of all tabs, many times", "[.][long]") {
    against_oracle(1'500, false);
    against_oracle(2'500, true);
}

}  // namespace tabacus::test
