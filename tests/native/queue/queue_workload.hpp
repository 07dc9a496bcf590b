// The workload of the tests of queues: jobs with numbered names that tabs enqueue and run, and the check
// that each was settled once.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "queue_scene.hpp"
#include "seeds.hpp"

namespace tabacus::test {

constexpr std::uint64_t queue_seeds = sanitized ? 4 : 12;
using Names = std::vector<std::string>;

inline std::string name(int number) { return "job" + std::to_string(number); }

/// Lets all living tabs enqueue jobs in four rounds, with random steps between. `fault(round)` is
/// called in each round.
template <typename Fault>
void work_through(QueueScene& scene, int tabs, Fault fault, bool at_most_once = false) {
    for (int i = 0; i < tabs; ++i) scene.open();
    int last = 0;
    for (int round = 0; round < 4; ++round) {
        for (std::size_t i = 0; i < scene.members.size(); ++i) {
            const auto& member = scene.members[i];
            if (!member.tab->active()) continue;
            if (round == 0) member.page->work();
            for (int n = 0; n < 2; ++n) {
                member.page->enqueue(
                    {.payload = {name(last++), false}, .at_most_once = at_most_once});
            }
            scene.steps(scene.random.below(60));
        }
        fault(round);
        scene.steps(scene.random.below(60));
    }
}

inline void check_exactly_once(QueueScene& scene) {
    const auto effects = scene.effects();
    const auto dead = scene.dead();
    for (const auto& payload : scene.judge.accepted) {
        CAPTURE(payload);
        const auto found = effects.find(payload);
        CHECK((found == effects.end() ? 0 : found->second) +
                  static_cast<int>(dead.contains(payload)) ==
              1);
    }
    for (const auto& [payload, count] : effects) CHECK(count == 1);
}

inline void finish(QueueScene& scene) {
    for (const auto& member : scene.members) {
        if (member.tab->alive() && !member.tab->active()) scene.origin.kill(*member.tab);
    }
    scene.open().page->work();
    scene.until([&] { return scene.all_settled(); });
    check_exactly_once(scene);
    CHECK(static_cast<int>(scene.judge.most_running) <= scene.options.concurrency);
}

/// Lets a new tab, which does not work yet, enqueue `count` jobs with keys. All are accepted, in
/// their order, when this returns.
inline QueuePage& with_jobs(QueueScene& scene, int count) {
    auto& page = *scene.open().page;
    for (int number = 0; number < count; ++number) {
        page.enqueue({.payload = {name(number), false}, .key = name(number)});
    }
    const auto accepted = static_cast<std::size_t>(count);
    scene.until([&] { return scene.judge.accepted.size() == accepted; });
    return page;
}

}  // namespace tabacus::test
