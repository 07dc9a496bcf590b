// tabacus_matrix [--deep] [--threads n]: every cell of the matrix, a line of JSON each, in the
// order in which they are done. scripts/matrix.js makes tables of them.
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
    MatrixBound bound = ci_bound;
    unsigned threads = std::max(std::thread::hardware_concurrency(), 1U);
};

std::optional<Asked> asked_by(std::span<char*> arguments) {
    Asked asked;
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        const std::string_view word = arguments[i];
        if (word == "--deep") {
            asked.bound = deep_bound;
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

/// Cells that differ only in a model that plays no part are computed once, in the last model.
std::vector<MatrixCell> cells_to_compute() {
    auto cells = matrix_cells();
    std::erase_if(cells, [](const MatrixCell& cell) {
        return cell.model != StorageModel::cached && !depends_on_model(cell.strategy);
    });
    return cells;
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

}  // namespace

int main(int count, char** arguments) {
    const auto asked = asked_by({arguments, static_cast<std::size_t>(count)});
    if (!asked) {
        std::fprintf(stderr, "tabacus_matrix [--deep] [--threads n]\n");
        return 2;
    }
    const auto cells = cells_to_compute();
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::vector<std::thread> threads;
    threads.reserve(asked->threads);
    for (unsigned i = 0; i < asked->threads; ++i) {
        threads.emplace_back([&] {
            for (auto at = next.fetch_add(1); at < cells.size(); at = next.fetch_add(1)) {
                CellExploration exploration(cells[at], asked->bound);
                while (exploration.explore(1'000'000)) {
                }
                print(exploration.report(), mutex);
            }
        });
    }
    for (auto& thread : threads) thread.join();
    return 0;
}
