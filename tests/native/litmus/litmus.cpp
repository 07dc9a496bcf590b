// Checks that tests/litmus/allowed.json has the outcomes that the model allows. Browsers may show
// no others. tests/node/litmus.test.js checks that no program forbids any of them.
//
// `tabacus_tests "[write-litmus]"` writes that file anew.

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
using tabacus::lab::EqualWrites;

std::filesystem::path litmus_file(const char* name) {
    const std::filesystem::path here = std::source_location::current().file_name();
    return here.parent_path().parent_path().parent_path() / "litmus" / name;
}

std::vector<LitmusProgram> programs() {
    return read_litmus_programs(litmus_file("programs.litmus").string());
}

struct Vendor {
    const char* name;  // the key in allowed.json
    EqualWrites equal_writes;
};
constexpr std::array vendors{Vendor{"sent", EqualWrites::sent},
                             Vendor{"dropped", EqualWrites::dropped}};

std::string in_quotes(const std::string& text) { return '"' + text + '"'; }

/// Returns the elements of a JSON array or object, one in each line.
std::string lines_of(const Words& elements, const std::string& indent) {
    std::string text;
    for (const auto& element : elements) {
        text += text.empty() ? "\n" : ",\n";
        text += indent;
        text += element;
    }
    return text + "\n";
}

std::string allowed_by(EqualWrites equal_writes) {
    Words entries;
    for (const auto& program : programs()) {
        Words outcomes;
        for (const auto& outcome : explore_litmus(program, equal_writes).outcomes) {
            outcomes.push_back(in_quotes(outcome));
        }
        entries.push_back(in_quotes(program.name) + ": [" + lines_of(outcomes, "            ") +
                          "        ]");
    }
    return "{" + lines_of(entries, "        ") + "    }";
}

std::string allowed_by_the_model() {
    Words entries;
    for (const auto& [name, equal_writes] : vendors) {
        entries.push_back(in_quotes(name) + ": " + allowed_by(equal_writes));
    }
    return "{" + lines_of(entries, "    ") + "}\n";
}

}  // namespace

TEST_CASE("litmus: the outcomes allowed in browsers are those of the cached model") {
    std::ifstream file(litmus_file("allowed.json"));
    const std::string committed((std::istreambuf_iterator<char>(file)), {});
    CHECK(committed == allowed_by_the_model());
}

TEST_CASE("litmus: reduced and unreduced search find the same outcomes") {
    constexpr std::array names{"store-buffering", "message-by-channel", "clear-against-set",
                               "remove-against-set", "same-value-over-stale"};
    for (const auto& program : programs()) {
        if (std::find(names.begin(), names.end(), program.name) == names.end()) continue;
        const auto reduced = explore_litmus(program, EqualWrites::sent, true);
        const auto whole = explore_litmus(program, EqualWrites::sent, false);
        INFO(program.name);
        CHECK(reduced.outcomes == whole.outcomes);
        CHECK(reduced.schedules < whole.schedules);
    }
}

TEST_CASE("litmus: tests/litmus/allowed.json is written from the model", "[.write-litmus]") {
    std::ofstream(litmus_file("allowed.json")) << allowed_by_the_model();
    for (const auto& program : programs()) {
        const auto result = explore_litmus(program, EqualWrites::sent);
        std::cerr << program.name << ": " << result.schedules << " schedules, " << result.redundant
                  << " redundant\n";
    }
}
