// The names under which JavaScript finds the laboratory (js/lab/lab-module.js). A request is a text
// that the caller writes to lab_input(); an answer is a text at lab_text(), of lab_text_size()
// bytes, valid until the next call.
#include <emscripten/emscripten.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "lab/explore/sampling.hpp"
#include "lab/report/report_text.hpp"
#include "lab/report/request_text.hpp"

namespace {

using namespace tabacus::lab;

std::string& request() {
    static std::string text;
    return text;
}
std::string& answer() {
    static std::string text;
    return text;
}

/// The report of the last cell without faults, on which the others of its row build.
std::optional<CellReport>& faultless() {
    static std::optional<CellReport> report;
    return report;
}
const CellReport* faultless_of(const MatrixCell& cell) {
    const auto& last = faultless();
    const bool same =
        last && last->cell.strategy == cell.strategy && last->cell.model == cell.model;
    return same && cell.fault != FaultClass::none ? &*last : nullptr;
}

/// Nothing, and what was wrong as the answer, when `make` throws.
template <typename Make>
auto made(Make make) -> decltype(make().release()) {
    answer().clear();
    try {
        return make().release();
    } catch (const std::exception& error) {
        answer() = error.what();
        return nullptr;
    }
}

}  // namespace

extern "C" {

EMSCRIPTEN_KEEPALIVE char* lab_input(std::size_t size) {
    request().assign(size, ' ');
    return request().data();
}
EMSCRIPTEN_KEEPALIVE const char* lab_text() { return answer().data(); }
EMSCRIPTEN_KEEPALIVE std::size_t lab_text_size() { return answer().size(); }

// The request as request_text.hpp has it. Null, and a sentence as the answer, for one that is none.
EMSCRIPTEN_KEEPALIVE Exploration* lab_explore_new() {
    return made([] { return std::make_unique<Exploration>(parse_request(request())); });
}
EMSCRIPTEN_KEEPALIVE bool lab_explore(Exploration* exploration, std::uint32_t schedules) {
    return exploration->explore(schedules);
}
EMSCRIPTEN_KEEPALIVE void lab_explore_report(const Exploration* exploration) {
    answer() = json_of(exploration->report());
}
EMSCRIPTEN_KEEPALIVE void lab_explore_delete(Exploration* exploration) {
    const std::unique_ptr<Exploration> owned(exploration);
}

// The request: a seed text. An empty answer for what is none.
EMSCRIPTEN_KEEPALIVE void lab_replay() {
    const auto report = replay_seed(request());
    answer() = report ? json_of(*report) : std::string();
}

// The hash of the request's first `count` seeds, in hexadecimal.
EMSCRIPTEN_KEEPALIVE void lab_hash(std::uint32_t count) {
    const auto asked = parse_request(request());
    const auto hash = hash_of_seeds(program_of(asked.setup, nullptr, nullptr), asked.first_seed,
                                    count, {.faults_max = asked.setup.faults_max});
    constexpr const char* digits = "0123456789abcdef";
    answer().clear();
    for (int shift = 60; shift >= 0; shift -= 4) answer() += digits[hash >> shift & 15U];
}

EMSCRIPTEN_KEEPALIVE std::uint32_t lab_cells() {
    return static_cast<std::uint32_t>(matrix_cells().size());
}
// In the order of the numbers: the cells of a row build on its first.
EMSCRIPTEN_KEEPALIVE CellExploration* lab_cell_new(std::uint32_t index, double work, double seeds) {
    return made([&] {
        const auto steps = static_cast<std::uint64_t>(work);
        const auto cell = matrix_cells().at(index);
        return std::make_unique<CellExploration>(
            cell,
            MatrixBound{.work = steps,
                        .work_declared = steps,
                        .work_unbounded = steps,
                        .work_preemptions = steps,
                        .seeds = static_cast<std::uint64_t>(seeds)},
            faultless_of(cell));
    });
}
EMSCRIPTEN_KEEPALIVE bool lab_cell(CellExploration* cell, std::uint32_t schedules) {
    if (cell->explore(schedules)) return true;
    const auto& report = cell->report();
    if (report.cell.fault == FaultClass::none) faultless() = report;
    return false;
}
EMSCRIPTEN_KEEPALIVE void lab_cell_report(const CellExploration* cell) {
    answer() = json_of(cell->report());
}
EMSCRIPTEN_KEEPALIVE void lab_cell_delete(CellExploration* cell) {
    const std::unique_ptr<CellExploration> owned(cell);
}
}
