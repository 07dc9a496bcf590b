// Matrix: strategy × storage model × fault, each proved up to a bound or broken with a seed, and
// held against what the strategy declares (tabacus/common/guarantee.hpp).
//
// A cell is explored with two tabs of three increments and with three tabs of two, and with at most
// one fault of its class in a run. Where the strategy declares that it may lose, the search for a
// loss is followed by one for a value that is too large.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lab/explore/explorer.hpp"
#include "tabacus/common/guarantee.hpp"

namespace tabacus::lab {

using tabacus::FaultClass;

struct MatrixCell {
    std::string_view strategy;
    StorageModel model = StorageModel::mutexed;
    FaultClass fault = FaultClass::none;
};

/// Row by row: strategies in the order of counting_strategies(), in each the models, in each the
/// classes of faults in the order of their enumeration.
std::vector<MatrixCell> matrix_cells();

std::string_view model_name(StorageModel model);
/// Nothing for a name that is no model.
std::optional<StorageModel> model_named(std::string_view name);
/// "none", or as fault_name() has it.
std::string_view fault_class_name(FaultClass fault);
/// Nothing for a name that is no class of faults.
std::optional<FaultClass> fault_class_named(std::string_view name);

/// False for a strategy that keeps all in the database: its runs are equal in every model.
bool depends_on_model(std::string_view strategy);

struct MatrixBound {
    std::uint64_t work = 0;              // steps of each search where no loss is declared
    std::uint64_t work_declared = 0;     // of each where a loss is declared
    std::uint64_t work_unbounded = 0;    // at most, of each search without a preemption bound
    std::uint64_t work_preemptions = 0;  // at most, of each within a bound of all preemptions
    std::uint64_t seeds = 0;             // of each setup that is not exhausted
    std::uint32_t preemptions = 3;
    MakeHost make = nullptr;  // in place of the cell's strategy, to be compared with its guarantee
};
inline MatrixBound usual_bound() {
    return {.work = 2'000'000,
            .work_declared = 150'000,
            .work_unbounded = 75'000,
            .work_preemptions = 500'000,
            .seeds = 1'000};
}
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
    bool explored = true;  // false: there is no such fault in the laboratory
    bool may_lose = false;
    bool may_exceed = false;
    std::vector<MatrixPart> parts;

    [[nodiscard]] bool found(Finding finding) const;
    [[nodiscard]] Verdict verdict() const;
    /// A loss, an excess or a tab that never finishes, where the strategy declares that there is
    /// none.
    [[nodiscard]] bool contradicts() const;
    /// What it declares to be possible was not seen.
    [[nodiscard]] bool unfound() const;
};

/// One cell, in slices.
class CellExploration {
  public:
    /// What `faultless`, the report of the same strategy and model without faults, has exhausted
    /// is not explored again, and what it found is found here too. It must outlive this.
    CellExploration(const MatrixCell& cell, MatrixBound bound,
                    const CellReport* faultless = nullptr);
    ~CellExploration();
    CellExploration(const CellExploration&) = delete;
    CellExploration& operator=(const CellExploration&) = delete;
    CellExploration(CellExploration&&) = delete;
    CellExploration& operator=(CellExploration&&) = delete;

    /// Explores up to `schedules` more. False when the report is complete.
    bool explore(std::uint64_t schedules);
    [[nodiscard]] const CellReport& report() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace tabacus::lab
