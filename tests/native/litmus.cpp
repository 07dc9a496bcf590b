// The sets of outcomes in tests/litmus/allowed.json, which browsers are held to, are what the model
// gives, and what a program forbids is in none of them.
//
//   tabacus_tests "[write-litmus]"   writes that file anew

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <source_location>
#include <sstream>

#include "litmus_model.hpp"

namespace {

using namespace tabacus::test;

std::filesystem::path litmus_file(const char* name) {
    const std::filesystem::path here = std::source_location::current().file_name();
    return here.parent_path().parent_path() / "litmus" / name;
}

std::vector<LitmusProgram> programs() {
    return read_litmus_programs(litmus_file("programs.litmus").string());
}

std::string allowed_by_the_model() {
    std::string json = "{";
    for (const auto& program : programs()) {
        json += std::string(json.size() > 1 ? "," : "") + "\n    \"" + program.name + "\": [";
        std::string separator = "\n";
        for (const auto& outcome : explore_litmus(program).outcomes) {
            json += std::exchange(separator, ",\n") + "        \"" + outcome + "\"";
        }
        json += "\n    ]";
    }
    return json + "\n}\n";
}

bool has_all(const std::string& outcome, const Words& parts) {
    const auto words = words_of(outcome);
    return std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
        return std::find(words.begin(), words.end(), part) != words.end();
    });
}

}  // namespace

TEST_CASE("litmus: the outcomes allowed in browsers are those of the cached model") {
    std::ifstream file(litmus_file("allowed.json"));
    const std::string committed((std::istreambuf_iterator<char>(file)), {});
    CHECK(committed == allowed_by_the_model());
}

TEST_CASE("litmus: the model gives nothing that a program forbids") {
    for (const auto& program : programs()) {
        for (const auto& outcome : explore_litmus(program).outcomes) {
            for (const auto& parts : program.forbidden) {
                INFO(program.name << ": " << outcome);
                CHECK_FALSE(has_all(outcome, parts));
            }
        }
    }
}

TEST_CASE("litmus: reduced and unreduced search find the same outcomes") {
    constexpr std::array names{"store-buffering", "message-by-channel", "clear-against-set",
                               "remove-against-set", "same-value-over-stale"};
    for (const auto& program : programs()) {
        if (std::find(names.begin(), names.end(), program.name) == names.end()) continue;
        const auto reduced = explore_litmus(program, true);
        const auto whole = explore_litmus(program, false);
        INFO(program.name);
        CHECK(reduced.outcomes == whole.outcomes);
        CHECK(reduced.schedules < whole.schedules);
    }
}

TEST_CASE("litmus: writes tests/litmus/allowed.json", "[.write-litmus]") {
    std::ofstream(litmus_file("allowed.json")) << allowed_by_the_model();
    for (const auto& program : programs()) {
        const auto result = explore_litmus(program);
        std::cerr << program.name << ": " << result.schedules << " schedules, " << result.redundant
                  << " redundant\n";
    }
}
