// Leaders and calls to them: terms that rise, one commit for each call, an end for each caller.
#include <catch2/catch_test_macros.hpp>

#include "leader_scene.hpp"
#include "seeds.hpp"

namespace tabacus::test {
namespace {

constexpr std::uint64_t leader_seeds = 30;

struct LeaderScene {
    explicit LeaderScene(std::uint64_t seed, int tabs,
                         std::unique_ptr<lab::Chooser> chooser = nullptr)
        : scene(seed, model_of_seed(seed), std::move(chooser)) {
        for (int i = 0; i < tabs; ++i) open();
    }
    ParliamentPage& open() {
        members.push_back(&scene.origin.open_tab());
        pages.push_back(&members.back()->run<ParliamentPage>(*members.back(), judge));
        return *pages.back();
    }
    Parliament judge;  // outlives the tabs
    LockScene scene;
    std::vector<LabTab*> members;
    std::vector<ParliamentPage*> pages;
};

}  // namespace

TEST_CASE("lock leader: calls are answered in their order, and their rows are removed") {
    for (std::uint64_t seed = 0; seed < leader_seeds; ++seed) {
        CAPTURE(seed);
        LeaderScene all(seed, 3, std::make_unique<TimeLastChooser>(seed));
        auto& [judge, scene, members, pages] = all;
        for (auto* page : pages) page->stand(long_term_ms);
        std::vector<std::string> asked;
        for (int i = 0; i < 6; ++i) {
            asked.push_back("call " + std::to_string(i));
            const auto call = pages[static_cast<std::size_t>(i % 3)]->call(asked.back(), {});
            if (i == 0) scene.until([&] { return call->ended; });
        }
        scene.until([&] { return judge.answered.size() == 6; });
        scene.origin.run();
        judge_calls(judge, scene.origin, [](const std::string&) { return true; });
        CHECK(judge.failure.empty());
        CHECK(std::is_permutation(asked.begin(), asked.end(), judge.answered.begin()));
        CHECK(judge.answered[0] == asked[0]);
        // Calls of one tab are answered in their order.
        for (std::size_t i = 3; i < asked.size(); ++i) {
            CHECK(std::ranges::find(judge.answered, asked[i - 3]) <
                  std::ranges::find(judge.answered, asked[i]));
        }
        CHECK(judge.runs.size() == 6);
        CHECK(calls_kept(scene.origin) == 0);
    }
}

TEST_CASE("lock leader: calls of one key are one call for an hour after its answer") {
    LeaderScene all(1, 2, std::make_unique<TimeLastChooser>(1));
    auto& [judge, scene, members, pages] = all;
    for (auto* page : pages) page->stand(long_term_ms);
    const auto call = [&] {
        const auto asked = pages[0]->call("it", {.key = "k", .timeout_ms = call_timeout_ms});
        scene.until([&] { return asked->ended; });
        CHECK(asked->answer == "did it");
    };
    call();
    call();
    CHECK(judge.runs["it"] == 1);
    for (auto* member : members) member->set_wall_clock(Leader::kept_ms + 1'000);
    call();
    CHECK(judge.runs["it"] == 2);
    CHECK(judge.failure.empty());
}

TEST_CASE("lock leader: the steps of a call do not grow with the number of calls that wait") {
    const auto steps_of = [](int calls) {
        LeaderScene all(1, 2, std::make_unique<TimeLastChooser>(1));
        auto& [judge, scene, members, pages] = all;
        pages[0]->stand(long_term_ms);
        std::vector<std::shared_ptr<Parliament::Call>> asked;
        for (int i = 0; i < calls; ++i) {
            const auto name = "call " + std::to_string(i);
            LeaderCallOptions options;
            if (i % 2 == 0) options.key = name;
            asked.push_back(pages[1]->call(name, std::move(options)));
        }
        scene.until([&] {
            return std::ranges::all_of(asked, [](const auto& call) { return call->ended; });
        });
        CHECK(judge.failure.empty());
        return scene.origin.steps();
    };
    const auto few = steps_of(20);
    CHECK(steps_of(80) < few * 5);
}

TEST_CASE("lock leader: a later call lets a leader remove answers that are an hour old") {
    LeaderScene all(1, 2, std::make_unique<TimeLastChooser>(1));
    auto& [judge, scene, members, pages] = all;
    pages[0]->stand(4 * Leader::kept_ms);
    for (const auto* request : {"a", "b", "c"}) {
        const auto asked = pages[1]->call(request, {.key = request});
        scene.until([&] { return asked->ended; });
    }
    CHECK(calls_kept(scene.origin) == 6);
    scene.origin.clock().jump(Leader::kept_ms + 1'000);
    const auto later = pages[1]->call("later");
    scene.until([&] { return later->ended && calls_kept(scene.origin) == 0; });
    CHECK(judge.failure.empty());
}

}  // namespace tabacus::test
