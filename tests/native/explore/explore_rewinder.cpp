// Going back to where a run was, instead of repeating it, changes nothing that a search reports.
#include <catch2/catch_test_macros.hpp>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "lab/explore/explorer.hpp"
#include "rewinding.hpp"

namespace tabacus::lab::test {
namespace {

/// What lives in an arena: it is never destroyed, for its memory is forgotten.
template <typename T, typename... Arguments>
T& made_in(RunArena& arena, Arguments&&... arguments) {
    const RunArena::Stay stay(arena);
    return *std::make_unique<T>(std::forward<Arguments>(arguments)...).release();
}

/// Searches as searched() does, and also counts how often each fault happened.
Searched searched_with_faults(const CountingSetup& setup, const Bound& bound, bool rewinding) {
    FaultCounts faults{};
    auto all = searched(program_of(setup, nullptr, &faults), bound, rewinding);
    all.counted.insert(all.counted.end(), faults.begin(), faults.end());
    return all;
}

CountingSetup setup_of(std::string_view strategy, StorageModel model, Faults faults) {
    return {.strategy = std::string(strategy),
            .model = model,
            .counting = {.tabs = 2, .adds = 2},
            .faults = faults,
            .faults_max = faults.empty() ? 0U : 1U};
}

}  // namespace

TEST_CASE("what lies in an arena is put back as it was") {
    if (!RunArena::available()) SKIP("no arenas: malloc is not replaced in this program");
    RunArena arena;
    auto& words = made_in<std::map<int, std::string>>(arena);
    const auto write = [&](int key, const std::string& text) {
        const RunArena::Stay stay(arena);
        words[key] = text;
    };
    const std::string lengthy(5'000, 'a');
    write(1, "one");
    write(2, lengthy);
    RunArena::Copy early;
    arena.save(early);
    write(1, lengthy + lengthy);
    write(3, "three");
    {
        const RunArena::Stay stay(arena);
        words.erase(2);
    }
    RunArena::Copy late;
    arena.save(late);

    for (int time = 0; time < 2; ++time) {
        arena.restore(early);
        CHECK(words == std::map<int, std::string>{{1, "one"}, {2, lengthy}});
        write(4, "forgotten");
        arena.restore(late);
        CHECK(words == std::map<int, std::string>{{1, lengthy + lengthy}, {3, "three"}});
    }
}

TEST_CASE("memory of an arena is aligned as it is asked for, and used again") {
    if (!RunArena::available()) SKIP("no arenas: malloc is not replaced in this program");
    struct alignas(256) Wide {
        std::uint64_t word = 7;
    };
    RunArena arena(std::size_t{1} << 20U);
    int wrong = 0;
    // Some hundred times what it holds.
    for (int i = 0; i < 100'000; ++i) {
        const RunArena::Stay stay(arena);
        const auto wide = std::make_unique<Wide>();
        const auto bytes = std::make_unique<std::vector<char>>(3'000);
        // Volatile, or the compiler takes it for what `new` promises.
        const volatile auto address = reinterpret_cast<std::uintptr_t>(wide.get());
        if (address % alignof(Wide) != 0) ++wrong;
        if (wide->word + static_cast<std::uint64_t>(bytes->back()) != 7) ++wrong;
    }
    CHECK(wrong == 0);
}

TEST_CASE("an exception thrown out of an arena is freed outside") {
    if (!RunArena::available()) SKIP("no arenas: malloc is not replaced in this program");
    RunArena arena;
    RunArena::Copy empty;
    arena.save(empty);
    for (int i = 0; i < 1'000; ++i) {
        try {
            const RunArena::Stay stay(arena);
            throw std::runtime_error(std::string(200, 'x'));
        } catch (const std::runtime_error& error) {
            REQUIRE(std::string(error.what()).size() == 200);
        }
        arena.restore(empty);
    }
}

// NOLINTBEGIN(*-no-malloc,bugprone-suspicious-realloc-usage): what is tested is malloc.
TEST_CASE("memory of an arena grows, is cleared and is given back as the C library's is") {
    if (!RunArena::available()) SKIP("no arenas: malloc is not replaced in this program");
    RunArena arena;
    const std::string text(100, 'x');
    auto* const before = static_cast<char*>(std::malloc(text.size()));
    text.copy(before, text.size());
    char* within = nullptr;
    char* outside = nullptr;
    bool clear = true;
    {
        const RunArena::Stay stay(arena);
        // What was asked for before the stay stays where it is.
        outside = static_cast<char*>(std::realloc(before, 4'000));
        within = static_cast<char*>(std::malloc(text.size()));
        text.copy(within, text.size());
        within = static_cast<char*>(std::realloc(within, 4'000));
        std::free(std::memset(std::malloc(600), 1, 600));
        const auto* const zeros = static_cast<const char*>(std::calloc(60, 10));
        for (int i = 0; i < 600; ++i) clear = clear && zeros[i] == 0;
    }
    CHECK(clear);
    CHECK(RunArena::holding(outside) == nullptr);
    CHECK(RunArena::holding(within) == &arena);
    CHECK(std::string(within, text.size()) == text);
    CHECK(std::string(outside, text.size()) == text);
    std::free(outside);
    std::free(within);
}
// NOLINTEND(*-no-malloc,bugprone-suspicious-realloc-usage)

TEST_CASE("a search that goes back and one that repeats report the same") {
    if (!RunArena::available()) SKIP("nothing goes back: malloc is not replaced in this program");
    const std::vector<Faults> faults = {{},
                                        {Fault::kill},
                                        {Fault::freeze},
                                        {Fault::throttle},
                                        {Fault::bfcache},
                                        {Fault::close_connection},
                                        {Fault::lose_database, Fault::clear_storage},
                                        {Fault::quota},
                                        {Fault::corrupt},
                                        {Fault::browser_crash}};
    const std::vector<Bound> bounds = {
        {}, {.reduction = false}, {.preemptions = 2}, {.preemptions = 3, .ordered = true}};
    std::uint64_t broken = 0;
    for (const auto* strategy : {"replicated", "log", "locked", "optimistic"}) {
        for (const auto& of : faults) {
            for (std::size_t bound = 0; bound < bounds.size(); ++bound) {
                CAPTURE(strategy, of.bits(), bound);
                const auto setup = setup_of(strategy, StorageModel::cached, of);
                const auto repeating = searched_with_faults(setup, bounds[bound], false);
                CHECK(repeating == searched_with_faults(setup, bounds[bound], true));
                if (!repeating.failure.empty()) ++broken;
            }
        }
    }
    CHECK(broken > 10);
}

}  // namespace tabacus::lab::test
