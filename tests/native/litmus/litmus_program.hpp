// The litmus programs of tests/litmus/programs.litmus, which describes their syntax.
#pragma once

#include <fstream>
#include <ranges>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tabacus::test {

using Words = std::vector<std::string>;

struct LitmusProgram {
    std::string name;
    std::vector<std::pair<std::string, std::string>> init;
    std::vector<std::vector<Words>> tabs;  // each tab's operations, each as words
    Words finally;
    Words events;
    std::vector<Words> forbidden;
};

inline Words words_of(const std::string& text) {
    std::istringstream stream(text);
    Words words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

inline std::vector<Words> operations_of(const std::string& text) {
    std::vector<Words> operations;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, ';');) operations.push_back(words_of(part));
    return operations;
}

/// Adds one line to `program`. Throws std::invalid_argument if the line has an unknown first word.
inline void read_litmus_line(const std::string& line, LitmusProgram& program) {
    auto words = words_of(line);
    const auto head = words.front();
    words.erase(words.begin());
    if (head == "init") {
        for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
            program.init.emplace_back(words[i], words[i + 1]);
        }
    } else if (head == "tab") {
        program.tabs.push_back(operations_of(line.substr(line.find("tab") + 3)));
    } else if (head == "finally") {
        program.finally.push_back(words.front());
    } else if (head == "events") {
        program.events.push_back(words.front());
    } else if (head == "forbid") {
        program.forbidden.push_back(std::move(words));
    } else {
        throw std::invalid_argument("unknown line in a litmus program: " + line);
    }
}

inline std::vector<LitmusProgram> read_litmus_programs(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path);
    std::vector<LitmusProgram> programs;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.front() == '#') continue;
        if (line.starts_with("program ")) {
            programs.emplace_back().name = line.substr(8);
            std::getline(file, line);  // the question that it asks, which is for people
        } else {
            read_litmus_line(line, programs.back());
        }
    }
    return programs;
}

}  // namespace tabacus::test
