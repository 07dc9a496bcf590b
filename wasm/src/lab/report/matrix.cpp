#include "matrix.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tabacus::lab {
namespace {

constexpr std::array<std::string_view, storage_model_count> models = {"mutexed", "interleaved",
                                                                      "cached"};

/// The faults, in the order of the columns.
constexpr std::array<Fault, fault_count> columns = {Fault::kill,
                                                    Fault::freeze,
                                                    Fault::throttle,
                                                    Fault::bfcache,
                                                    Fault::close_connection,
                                                    Fault::dead_connection,
                                                    Fault::hang_transaction,
                                                    Fault::lose_database,
                                                    Fault::clear_storage,
                                                    Fault::quota,
                                                    Fault::corrupt,
                                                    Fault::browser_crash,
                                                    Fault::suspend,
                                                    Fault::orphaned_lock,
                                                    Fault::clock_jump};

/// Returns the class of faults in which a guarantee counts a fault.
FaultClass declared_as(std::optional<Fault> fault) {
    if (!fault) return FaultClass::none;
    switch (*fault) {
        case Fault::kill:
        case Fault::orphaned_lock:
            return FaultClass::kill;
        case Fault::freeze:
        case Fault::suspend:
            return FaultClass::freeze;
        case Fault::throttle:
            return FaultClass::throttle;
        case Fault::bfcache:
            return FaultClass::bfcache;
        case Fault::close_connection:
        case Fault::dead_connection:
        case Fault::hang_transaction:
            return FaultClass::connection_closed;
        case Fault::lose_database:
            return FaultClass::database_lost;
        case Fault::clear_storage:
            return FaultClass::storage_cleared;
        case Fault::quota:
            return FaultClass::quota;
        case Fault::corrupt:
            return FaultClass::corrupt_record;
        case Fault::browser_crash:
            return FaultClass::browser_crash;
        case Fault::clock_jump:
            break;
    }
    return FaultClass::none;
}

/// Whether a strategy does something about a fault. A strategy that waits for a lock waits for ever
/// if nobody holds it.
bool explores(const MatrixCell& cell) {
    return cell.fault != Fault::orphaned_lock || cell.strategy == counting_strategies().front();
}

Finding finding_of(const ExploreReport& report) {
    if (report.verdict != Verdict::broken) return Finding::nothing;
    if (report.failure.starts_with("an update is lost")) return Finding::lost;
    if (report.failure.starts_with("an update is counted twice")) return Finding::exceeded;
    return Finding::stuck;
}

}  // namespace

std::vector<MatrixCell> matrix_cells() {
    std::vector<MatrixCell> cells;
    for (const auto strategy : counting_strategies()) {
        for (std::size_t model = 0; model < storage_model_count; ++model) {
            cells.push_back({strategy, static_cast<StorageModel>(model)});
            for (const auto fault : columns) {
                cells.push_back({strategy, static_cast<StorageModel>(model), fault});
            }
        }
    }
    return cells;
}

std::string_view model_name(StorageModel model) {
    return models.at(static_cast<std::size_t>(model));
}

std::optional<StorageModel> model_named(std::string_view name) {
    for (std::size_t i = 0; i < models.size(); ++i) {
        if (models.at(i) == name) return static_cast<StorageModel>(i);
    }
    return std::nullopt;
}

std::string_view fault_name_of(const MatrixCell& cell) {
    return cell.fault ? fault_name(*cell.fault) : "none";
}

bool depends_on_model(std::string_view strategy) {
    return guarantee_of(strategy).needs != "indexeddb";
}

bool CellReport::found(Finding finding) const {
    return std::any_of(parts.begin(), parts.end(),
                       [finding](const MatrixPart& part) { return part.finding == finding; });
}

/// One broken part makes the cell broken, even if a later part, which searches for something else,
/// is not.
Verdict CellReport::verdict() const {
    auto verdict = Verdict::proved;
    for (const auto& part : parts) {
        if (part.report.verdict == Verdict::broken) return Verdict::broken;
        if (part.report.verdict != Verdict::proved) verdict = part.report.verdict;
    }
    return parts.empty() ? Verdict::open : verdict;
}

bool CellReport::contradicts() const {
    return found(Finding::stuck) || (found(Finding::lost) && !may_lose) ||
           (found(Finding::exceeded) && !may_exceed);
}

bool CellReport::unfound() const {
    if (!explored) return false;
    return (may_lose && !found(Finding::lost)) || (may_exceed && !found(Finding::exceeded));
}

struct CellExploration::State {
    State(const MatrixCell& cell, MatrixBound asked, const CellReport* without)
        : bound(std::move(asked)), faultless(without) {
        const auto losses = guarantee_of(cell.strategy).losses;
        report.cell = cell;
        report.may_lose = losses.may_lose(cell.model, declared_as(cell.fault));
        report.may_exceed = losses.may_exceed(cell.model, declared_as(cell.fault));
        report.explored = explores(cell);
        if (!report.explored) return;
        plan(false);
        if (report.may_lose) plan(true);
        begin();
    }

    void plan(bool may_lose) {
        for (const auto& [tabs, adds] : {std::pair{2U, 3U}, std::pair{3U, 2U}}) {
            CountingSetup setup{.strategy = std::string(report.cell.strategy),
                                .model = report.cell.model,
                                .counting = {.tabs = tabs, .adds = adds, .may_lose = may_lose},
                                .faults = {},
                                .faults_max = 0};
            if (report.cell.fault) {
                setup.faults = {*report.cell.fault};
                setup.faults_max = 1;
            }
            setups.push_back(std::move(setup));
        }
    }

    /// Begins the next setup that may find something that was not found yet.
    void begin() {
        exploration.reset();
        for (; next < setups.size(); ++next) {
            const auto& setup = setups[next];
            const auto sought = setup.counting.may_lose ? Finding::exceeded : Finding::lost;
            if (report.found(sought)) continue;
            exploration = std::make_unique<Exploration>(
                ExploreRequest{.setup = setup,
                               .schedules_max = UINT64_MAX,
                               .work_max = report.may_lose ? bound.work_declared : bound.work,
                               .unbounded_work_max = bound.work_unbounded,
                               .preemptions_work_max = bound.work_preemptions,
                               .preemptions_max = bound.preemptions,
                               .seeds = bound.seeds,
                               .steps_max = 500,
                               .make = bound.make,
                               .faultless = level_without_faults(setup.counting)});
            return;
        }
    }

    /// Adds the findings of the cell without faults. What can happen without a fault can happen
    /// with any fault, even if the bounded search did not find it again.
    void inherit() {
        if (faultless == nullptr || !report.explored) return;
        for (const auto& part : faultless->parts) {
            if (part.finding != Finding::nothing && !report.found(part.finding)) {
                report.parts.push_back(part);
            }
        }
    }

    /// Returns the level without faults of a part with the same tabs and adds. A part that searched
    /// for a loss will do for a search for an excess, too: if it ended unbroken, it found neither.
    [[nodiscard]] std::optional<ExploredLevel> level_without_faults(
        const CountingScenario& counting) const {
        if (faultless == nullptr) return std::nullopt;
        for (const auto& part : faultless->parts) {
            const auto& other = part.setup.counting;
            if (other.tabs == counting.tabs && other.adds == counting.adds &&
                (!other.may_lose || counting.may_lose) && part.report.verdict != Verdict::broken) {
                return part.report.levels.front();
            }
        }
        return std::nullopt;
    }

    MatrixBound bound;
    const CellReport* faultless;
    CellReport report;
    std::vector<CountingSetup> setups;
    std::size_t next = 0;
    std::unique_ptr<Exploration> exploration;
};

CellExploration::CellExploration(const MatrixCell& cell, MatrixBound bound,
                                 const CellReport* faultless)
    : state_(std::make_unique<State>(cell, std::move(bound), faultless)) {}
CellExploration::~CellExploration() = default;

bool CellExploration::explore(std::uint64_t schedules) {
    if (!state_->exploration) return false;
    if (state_->exploration->explore(schedules)) return true;
    auto report = state_->exploration->report();
    const auto finding = finding_of(report);
    state_->report.parts.push_back({state_->setups[state_->next++], std::move(report), finding});
    state_->begin();
    if (state_->exploration) return true;
    state_->inherit();
    return false;
}

const CellReport& CellExploration::report() const { return state_->report; }

}  // namespace tabacus::lab
