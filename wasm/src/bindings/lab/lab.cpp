// The laboratory for JavaScript, bound by embind. The build writes the types of the bindings to
// lab.d.ts (cmake/wasm.cmake), and js/lab.js and js/lab are checked against them. Reports are JSON,
// as the native programs write it.
#include <emscripten/bind.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lab/explore/sampling.hpp"
#include "lab/report/matrix.hpp"
#include "lab/report/report_text.hpp"

namespace {

using namespace tabacus::lab;
using emscripten::val;

EMSCRIPTEN_DECLARE_VAL_TYPE(FaultList);

/// The options of explore() (js/lab/request.js). The doubles are integers that may exceed 32 bits,
/// which a double holds without a BigInt.
struct Request {
    std::string strategy;
    StorageModel model = StorageModel::cached;
    std::uint32_t tabs = 0;
    std::uint32_t adds = 0;
    FaultList faults{val::array()};
    std::uint32_t fault_budget = 0;
    std::uint32_t preemptions = 0;
    double seeds = 0;
    double work = 0;
};

Faults faults_of(const FaultList& list) {
    Faults faults;
    for (const auto fault : emscripten::vecFromJSArray<Fault>(list)) faults.insert(fault);
    return faults;
}

ExploreRequest request_of(const Request& asked) {
    ExploreRequest request{
        .setup = {.strategy = asked.strategy,
                  .model = asked.model,
                  .counting = {.tabs = asked.tabs, .adds = asked.adds},
                  .faults = faults_of(asked.faults),
                  .faults_max = asked.fault_budget},
    };
    request.preemptions_max = asked.preemptions;
    request.seeds = static_cast<std::uint64_t>(asked.seeds);
    request.work_max = static_cast<std::uint64_t>(asked.work);
    return request;
}

/// Calls `make`. Throws an exception of C++ as an Error of JavaScript, because JavaScript cannot
/// read the text of a C++ exception.
template <typename Make>
auto with_js_errors(Make make) -> decltype(make().release()) {
    std::string refusal;
    try {
        return make().release();
    } catch (const std::exception& error) {
        refusal = error.what();
    }
    val::global("Error").new_(refusal).throw_();
}

Exploration* exploration_of(const Request& asked) {
    return with_js_errors([&] { return std::make_unique<Exploration>(request_of(asked)); });
}

/// The report of the last cell without faults. The other cells of its row need it.
using Faultless = std::shared_ptr<std::optional<CellReport>>;

/// The exploration of one cell of a matrix. The matrix may be destroyed before it.
class ExploredCell {
  public:
    ExploredCell(const MatrixCell& cell, MatrixBound bound, Faultless faultless)
        : faultless_(std::move(faultless)),
          exploration_(cell, std::move(bound), faultless_of(cell)) {}

    bool explore(std::uint32_t schedules) {
        if (exploration_.explore(schedules)) return true;
        const auto& report = exploration_.report();
        if (!report.cell.fault) *faultless_ = report;
        return false;
    }
    [[nodiscard]] std::string report() const { return json_of(exploration_.report()); }

  private:
    [[nodiscard]] const CellReport* faultless_of(const MatrixCell& cell) const {
        const auto& last = *faultless_;
        const bool same =
            last && last->cell.strategy == cell.strategy && last->cell.model == cell.model;
        return same && cell.fault ? &*last : nullptr;
    }

    Faultless faultless_;
    CellExploration exploration_;
};

class Matrix {
  public:
    Matrix(double work, double seeds)
        : work_(static_cast<std::uint64_t>(work)), seeds_(static_cast<std::uint64_t>(seeds)) {}

    [[nodiscard]] std::size_t cell_count() const { return cells_.size(); }
    /// Returns the exploration of a cell. Requires that cells are explored in the order of their
    /// numbers, because the cells of a row need the report of the row's first cell.
    [[nodiscard]] ExploredCell* cell(std::uint32_t index) const {
        return with_js_errors([&] {
            return std::make_unique<ExploredCell>(cells_.at(index),
                                                  MatrixBound{.work = work_,
                                                              .work_declared = work_,
                                                              .work_unbounded = work_,
                                                              .work_preemptions = work_,
                                                              .seeds = seeds_},
                                                  faultless_);
        });
    }

  private:
    std::uint64_t work_;
    std::uint64_t seeds_;
    std::vector<MatrixCell> cells_ = matrix_cells();
    Faultless faultless_ = std::make_shared<std::optional<CellReport>>();
};

/// Returns a hash of the request's first `count` seeds, in hexadecimal.
std::string hash_of(const Request& asked, std::uint32_t count) {
    const auto request = request_of(asked);
    const auto hash = hash_of_seeds(program_of(request.setup, nullptr, nullptr), request.first_seed,
                                    count, {.faults_max = request.setup.faults_max});
    constexpr const char* digits = "0123456789abcdef";
    std::string text;
    for (int shift = 60; shift >= 0; shift -= 4) text += digits[hash >> shift & 15U];
    return text;
}

}  // namespace

EMSCRIPTEN_BINDINGS(tabacus_lab) {
    using namespace emscripten;

    enum_<StorageModel> model("StorageModel", enum_value_type::string);
    for (std::size_t i = 0; i < tabacus::storage_model_count; ++i) {
        const auto value = static_cast<StorageModel>(i);
        model.value(std::string(model_name(value)).c_str(), value);
    }
    enum_<Fault> fault("Fault", enum_value_type::string);
    for (std::size_t i = 0; i < fault_count; ++i) {
        const auto value = static_cast<Fault>(i);
        fault.value(std::string(fault_name(value)).c_str(), value);
    }
    register_type<FaultList>("Fault[]");
    value_object<Request>("Request")
        .field("strategy", &Request::strategy)
        .field("model", &Request::model)
        .field("tabs", &Request::tabs)
        .field("adds", &Request::adds)
        .field("faults", &Request::faults)
        .field("faultBudget", &Request::fault_budget)
        .field("preemptions", &Request::preemptions)
        .field("seeds", &Request::seeds)
        .field("work", &Request::work);

    class_<Exploration>("Exploration")
        .constructor(&exploration_of, allow_raw_pointers())
        .function(
            "explore(schedules)",
            +[](Exploration& exploration, std::uint32_t schedules) {
                return exploration.explore(schedules);
            })
        .function(
            "report",
            +[](const Exploration& exploration) { return json_of(exploration.report()); });
    class_<ExploredCell>("CellExploration")
        .function("explore(schedules)", &ExploredCell::explore)
        .function("report", &ExploredCell::report);
    class_<Matrix>("Matrix")
        .constructor<double, double>()
        .function("cellCount", &Matrix::cell_count)
        .function("cell(index)", &Matrix::cell, allow_raw_pointers());

    // replay() returns nothing for a text that is not a seed.
    register_optional<std::string>();
    function(
        "replay(seed)", +[](const std::string& seed) -> std::optional<std::string> {
            const auto report = replay_seed(seed);
            if (!report) return std::nullopt;
            return json_of(*report);
        });
    function("hashOfSeeds(request, count)", &hash_of);
}
