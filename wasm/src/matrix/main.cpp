// tabacus_matrix [--deep] [--threads n] [--strategy name] [--model name] [--fault name]…:
// every cell of the matrix (or of one strategy, in one model, of these faults and without), a line
// of JSON each, in the order in which they are done. A thread takes a cell. scripts/matrix.js makes
// tables of them.
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

#include "lab/report/report_text.hpp"

namespace {

using namespace tabacus::lab;

struct Asked {
    MatrixBound bound = usual_bound();
    std::string_view strategy;          // empty: all
    std::optional<StorageModel> model;  // nothing: all
    std::vector<FaultClass> faults;     // none: all
    unsigned threads = std::max(std::thread::hardware_concurrency(), 1U);
};

std::optional<Asked> asked_by(std::span<char*> arguments) {
    Asked asked;
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        const std::string_view option = arguments[i];
        if (option == "--deep") {
            asked.bound = deep_bound();
        } else if (option == "--strategy" && i + 1 < arguments.size()) {
            asked.strategy = arguments[++i];
            if (!hosts_of(asked.strategy)) return {};
        } else if (option == "--model" && i + 1 < arguments.size()) {
            asked.model = model_named(arguments[++i]);
            if (!asked.model) return {};
        } else if (option == "--fault" && i + 1 < arguments.size()) {
            const auto fault = fault_class_named(arguments[++i]);
            if (!fault) return {};
            asked.faults.push_back(*fault);
        } else if (option == "--threads" && i + 1 < arguments.size()) {
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

/// Those without a fault, or those with one. Cells that differ only in a model that plays no part
/// are computed once, in the last model.
std::vector<MatrixCell> cells_to_compute(const Asked& asked, bool faulty) {
    auto cells = matrix_cells();
    std::erase_if(cells, [&](const MatrixCell& cell) {
        const auto& faults = asked.faults;
        return (cell.fault != FaultClass::none) != faulty ||
               (!asked.strategy.empty() && cell.strategy != asked.strategy) ||
               cell.model != asked.model.value_or(cell.model) ||
               (cell.model != StorageModel::cached && !depends_on_model(cell.strategy)) ||
               (faulty && !faults.empty() &&
                std::find(faults.begin(), faults.end(), cell.fault) == faults.end());
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

CellReport compute(const MatrixCell& cell, const MatrixBound& bound, const CellReport* faultless) {
    CellExploration exploration(cell, bound, faultless);
    while (exploration.explore(1'000'000)) {
    }
    return exploration.report();
}

/// Returns the report of the same strategy in the same model, without faults.
const CellReport* row_of(const MatrixCell& cell, const std::vector<CellReport>& faultless) {
    const auto found = std::find_if(faultless.begin(), faultless.end(), [&](const auto& report) {
        return report.cell.strategy == cell.strategy && report.cell.model == cell.model;
    });
    return found == faultless.end() ? nullptr : &*found;
}

/// Printed as they are done; in the cells' order.
std::vector<CellReport> compute_all(const std::vector<MatrixCell>& cells, const Asked& asked,
                                    const std::vector<CellReport>& faultless) {
    std::vector<CellReport> reports(cells.size());
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::vector<std::thread> threads;
    threads.reserve(asked.threads);
    for (unsigned i = 0; i < asked.threads; ++i) {
        threads.emplace_back([&] {
            for (auto at = next.fetch_add(1); at < cells.size(); at = next.fetch_add(1)) {
                reports[at] = compute(cells[at], asked.bound, row_of(cells[at], faultless));
                print(reports[at], mutex);
            }
        });
    }
    for (auto& thread : threads) thread.join();
    return reports;
}

}  // namespace

int main(int count, char** arguments) {
    const auto asked = asked_by({arguments, static_cast<std::size_t>(count)});
    if (!asked) {
        std::fprintf(stderr,
                     "tabacus_matrix [--deep] [--threads n] [--strategy name] "
                     "[--model name] [--fault name]...\n");
        return 2;
    }
    const auto faultless = compute_all(cells_to_compute(*asked, false), *asked, {});
    compute_all(cells_to_compute(*asked, true), *asked, faultless);
    return 0;
}
