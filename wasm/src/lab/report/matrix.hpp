// Matrix: the cells strategy × storage model × fault. Each cell is proved up to a bound,
// or broken with a seed, and compared with what the strategy declares
// (tabacus/common/guarantee.hpp).
//
// A cell is explored with two tabs of three increments and with three tabs of two, and with at most
// one fault of its kind in a run. If the strategy declares that it may lose increments, the search
// for a loss is followed by a search for a value that is too large.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lab/explore/explorer.hpp"
#include "tabacus/common/guarantee.hpp"

namespace tabacus::lab {

struct MatrixCell {
    std::string_view strategy;
    StorageModel model = StorageModel::mutexed;
    std::optional<Fault> fault = std::nullopt;  // nothing if tabs only compete
};

/// Returns all cells: for each strategy of counting_strategies() the models, and for each model no
/// fault, then the faults in the order of the columns.
std::vector<MatrixCell> matrix_cells();

std::string_view model_name(StorageModel model);
/// Returns the model of that name; nothing if there is none.
std::optional<StorageModel> model_named(std::string_view name);
/// Returns "none", or the fault_name() of the cell's fault.
std::string_view fault_name_of(const MatrixCell& cell);

/// Whether runs of the strategy depend on the storage model. A strategy that keeps everything in
/// the database does not.
bool depends_on_model(std::string_view strategy);

struct MatrixBound {
    std::uint64_t work = 0;              // the steps of a search if no loss is declared
    std::uint64_t work_declared = 0;     // the steps of a search if a loss is declared
    std::uint64_t work_unbounded = 0;    // the most steps of a search without a preemption bound
    std::uint64_t work_preemptions = 0;  // the most steps within a bound on all preemptions
    std::uint64_t seeds = 0;             // the seeds of each setup that is not exhausted
    std::uint32_t preemptions = 3;
    MakeHost make = nullptr;  // makes the counters that are compared with the cell's guarantee
};
/// The bound of `npm run matrix` and `npm run proof`.
inline MatrixBound usual_bound() {
    return {.work = 2'000'000,
            .work_declared = 150'000,
            .work_unbounded = 75'000,
            .work_preemptions = 500'000,
            .seeds = 1'000};
}
/// The bound of `npm test`, which looks for contradictions only.
inline MatrixBound brief_bound() {
    auto bound = usual_bound();
    bound.work_preemptions = 100'000;
    bound.seeds = 200;
    return bound;
}
/// The bound of `npm run matrix -- --deep`.
inline MatrixBound deep_bound() {
    return {.work = 20'000'000'000,
            .work_declared = 50'000'000,
            .work_unbounded = 10'000'000,
            .work_preemptions = 20'000'000,
            .seeds = 500'000};
}

enum class Finding : std::uint8_t { nothing, lost, exceeded, stuck };

/// One exploration of a cell.
struct MatrixPart {
    CountingSetup setup;
    ExploreReport report;
    Finding finding = Finding::nothing;
};

struct CellReport {
    MatrixCell cell;
    bool explored = true;  // false if the strategy does nothing about the fault
    bool may_lose = false;
    bool may_exceed = false;
    std::vector<MatrixPart> parts;

    [[nodiscard]] bool found(Finding finding) const;
    [[nodiscard]] Verdict verdict() const;
    /// Whether there is a finding that the strategy declares to be impossible: a loss, an excess,
    /// or a tab that never finishes.
    [[nodiscard]] bool contradicts() const;
    /// Whether something that the strategy declares to be possible was not found.
    [[nodiscard]] bool unfound() const;
};

/// The exploration of one cell.
class CellExploration {
  public:
    /// `faultless` is the report of the same strategy and model without faults, or null. What it
    /// has exhausted is not explored again, and its findings are added to the report. It must
    /// outlive this.
    CellExploration(const MatrixCell& cell, MatrixBound bound,
                    const CellReport* faultless = nullptr);
    ~CellExploration();
    CellExploration(const CellExploration&) = delete;
    CellExploration& operator=(const CellExploration&) = delete;
    CellExploration(CellExploration&&) = delete;
    CellExploration& operator=(CellExploration&&) = delete;

    /// Explores up to `schedules` more runs. Returns false once the report is complete.
    bool explore(std::uint64_t schedules);
    [[nodiscard]] const CellReport& report() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace tabacus::lab
