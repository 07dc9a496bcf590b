// tabacus_matrix [--deep] [--threads n] [--strategy name] [--model name]: every cell of the matrix
// (or of one strategy, or in one model), a line of JSON each, in the order in which they are done.
// A thread takes a row. scripts/matrix.js makes tables of them.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "lab/explore/report_text.hpp"

namespace {

using namespace tabacus::lab;

struct Asked {
    MatrixBound bound = ci_bound();
    std::string_view strategy;          // empty: all
    std::optional<StorageModel> model;  // nothing: all
    unsigned threads = std::max(std::thread::hardware_concurrency(), 1U);
};

std::optional<Asked> asked_by(std::span<char*> arguments) {
    Asked asked;
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        const std::string_view word = arguments[i];
        if (word == "--deep") {
            asked.bound = deep_bound();
        } else if (word == "--strategy" && i + 1 < arguments.size()) {
            asked.strategy = arguments[++i];
            if (!hosts_of(asked.strategy)) return {};
        } else if (word == "--model" && i + 1 < arguments.size()) {
            asked.model = model_named(arguments[++i]);
            if (!asked.model) return {};
        } else if (word == "--threads" && i + 1 < arguments.size()) {
            const std::string_view count = arguments[++i];
            const auto* const end = count.data() + count.size();
            const auto read = std::from_chars(count.data(), end, asked.threads);
            if (read.ec != std::errc() || read.ptr != end || asked.threads == 0) return {};
        } else {
            return {};
        }
    }
    return asked;
}

using Row = std::vector<MatrixCell>;

/// Of a strategy and a model, the cell without faults first. Rows that differ only in a model that
/// plays no part are computed once, in the last model.
std::vector<Row> rows_to_compute(const Asked& asked) {
    std::vector<Row> rows;
    for (const auto& cell : matrix_cells()) {
        if (!asked.strategy.empty() && cell.strategy != asked.strategy) continue;
        if (cell.model != asked.model.value_or(cell.model)) continue;
        if (cell.model != StorageModel::cached && !depends_on_model(cell.strategy)) continue;
        if (cell.fault == FaultClass::none) rows.emplace_back();
        rows.back().push_back(cell);
    }
    return rows;
}

void print(CellReport report, std::mutex& mutex) {
    const bool alone = depends_on_model(report.cell.strategy);
    const std::lock_guard guard(mutex);
    for (const auto model :
         {StorageModel::mutexed, StorageModel::interleaved, StorageModel::cached}) {
        if (alone && model != report.cell.model) continue;
        report.cell.model = model;
        std::printf("%s\n", json_of(report).c_str());
    }
    std::fflush(stdout);
}

CellReport compute(const MatrixCell& cell, const MatrixBound& bound, const CellReport* faultless) {
    CellExploration exploration(cell, bound, faultless);
    while (exploration.explore(1'000'000)) {
    }
    return exploration.report();
}

}  // namespace

int main(int count, char** arguments) {
    const auto asked = asked_by({arguments, static_cast<std::size_t>(count)});
    if (!asked) {
        std::fprintf(stderr,
                     "tabacus_matrix [--deep] [--threads n] [--strategy name] [--model name]\n");
        return 2;
    }
    const auto rows = rows_to_compute(*asked);
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::vector<std::thread> threads;
    threads.reserve(asked->threads);
    for (unsigned i = 0; i < asked->threads; ++i) {
        threads.emplace_back([&] {
            for (auto at = next.fetch_add(1); at < rows.size(); at = next.fetch_add(1)) {
                const auto faultless = compute(rows[at].front(), asked->bound, nullptr);
                print(faultless, mutex);
                for (const auto& cell : std::span(rows[at]).subspan(1)) {
                    print(compute(cell, asked->bound, &faultless), mutex);
                }
            }
        });
    }
    for (auto& thread : threads) thread.join();
    return 0;
}
