// tabacus_matrix [--brief | --deep] [--threads n] [--strategy name] [--model name] [--fault name]…
//
// Computes the cells of the matrix, and prints a line of JSON for each cell as soon as it is
// computed. The options restrict the cells to one strategy, to one storage model, and to the named
// faults and no fault (`--fault none`: no fault alone). Each thread computes one cell at a time. scripts/matrix.js makes tables of
// the lines.
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

struct Options {
    MatrixBound bound = usual_bound();
    std::string_view strategy;          // all if empty
    std::optional<StorageModel> model;  // all if nothing
    /// All if empty. Nothing stands for no fault.
    std::vector<std::optional<Fault>> faults;
    unsigned threads = std::max(std::thread::hardware_concurrency(), 1U);
};

/// Returns the options of the command line; nothing if they are not valid.
std::optional<Options> parse_options(std::span<char*> arguments) {
    Options options;
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        const std::string_view option = arguments[i];
        if (option == "--deep") {
            options.bound = deep_bound();
        } else if (option == "--brief") {
            options.bound = brief_bound();
        } else if (option == "--strategy" && i + 1 < arguments.size()) {
            options.strategy = arguments[++i];
            if (!hosts_of(options.strategy)) return {};
        } else if (option == "--model" && i + 1 < arguments.size()) {
            options.model = model_named(arguments[++i]);
            if (!options.model) return {};
        } else if (option == "--fault" && i + 1 < arguments.size()) {
            const std::string_view name = arguments[++i];
            const auto fault = fault_named(name);
            if (!fault && name != "none") return {};
            options.faults.push_back(fault);
        } else if (option == "--threads" && i + 1 < arguments.size()) {
            const std::string_view count = arguments[++i];
            const auto* const end = count.data() + count.size();
            const auto read = std::from_chars(count.data(), end, options.threads);
            if (read.ec != std::errc() || read.ptr != end || options.threads == 0) return {};
        } else {
            return {};
        }
    }
    return options;
}

/// Returns the cells with a fault if `faulty`, else those without. If the storage model makes no
/// difference for a strategy, its cells are computed once, in the last model.
std::vector<MatrixCell> cells_to_compute(const Options& options, bool faulty) {
    auto cells = matrix_cells();
    std::erase_if(cells, [&](const MatrixCell& cell) {
        const auto& faults = options.faults;
        return cell.fault.has_value() != faulty ||
               (!options.strategy.empty() && cell.strategy != options.strategy) ||
               cell.model != options.model.value_or(cell.model) ||
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

/// Computes the cells, and prints each report as soon as it is done. Returns the reports in the
/// order of the cells.
std::vector<CellReport> compute_all(const std::vector<MatrixCell>& cells, const Options& options,
                                    const std::vector<CellReport>& faultless) {
    std::vector<CellReport> reports(cells.size());
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::vector<std::thread> threads;
    threads.reserve(options.threads);
    for (unsigned i = 0; i < options.threads; ++i) {
        threads.emplace_back([&] {
            for (auto at = next.fetch_add(1); at < cells.size(); at = next.fetch_add(1)) {
                reports[at] = compute(cells[at], options.bound, row_of(cells[at], faultless));
                print(reports[at], mutex);
            }
        });
    }
    for (auto& thread : threads) thread.join();
    return reports;
}

}  // namespace

int main(int count, char** arguments) {
    const auto options = parse_options({arguments, static_cast<std::size_t>(count)});
    if (!options) {
        std::fprintf(stderr,
                     "tabacus_matrix [--brief | --deep] [--threads n] [--strategy name] "
                     "[--model name] [--fault name]...\n");
        return 2;
    }
    const auto faultless = compute_all(cells_to_compute(*options, false), *options, {});
    compute_all(cells_to_compute(*options, true), *options, faultless);
    return 0;
}
