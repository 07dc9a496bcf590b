// Scenario: a simulated origin, what its tabs do, which faults may happen to them, and what must
// hold: everything that a run over tabs is made of.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lab/origin.hpp"
#include "run.hpp"

namespace tabacus::lab {

/// What may happen to tabs, or to what they share.
enum class Fault : std::uint8_t {
    kill,              // the tab's process dies
    freeze,            // and thaws, whenever
    throttle,          // hidden: its timers run once a minute; and shown again, whenever
    bfcache,           // into the back/forward cache and out again, whenever
    lose_database,     // deleted under everyone
    close_connection,  // the browser drops one tab's
    quota,             // exceeded for everybody, until it is not
    clear_storage,     // localStorage and the database
    corrupt,           // one record becomes nonsense
    browser_crash,     // with all tabs; what was not on the disk is gone
};
constexpr std::size_t fault_count = 10;

std::string_view fault_name(Fault fault);
/// Nothing for a name that is no fault.
std::optional<Fault> fault_named(std::string_view name);

/// A set of them.
class Faults {
  public:
    constexpr Faults() = default;
    constexpr Faults(std::initializer_list<Fault> faults) {
        for (const auto fault : faults) insert(fault);
    }
    constexpr void insert(Fault fault) { bits_ |= bit(fault); }
    [[nodiscard]] constexpr bool contains(Fault fault) const { return (bits_ & bit(fault)) != 0; }
    [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
    [[nodiscard]] constexpr std::uint32_t bits() const { return bits_; }
    /// Bits that stand for no fault are dropped.
    static constexpr Faults of_bits(std::uint32_t bits) {
        Faults faults;
        faults.bits_ = bits & ((1U << fault_count) - 1);
        return faults;
    }

  private:
    static constexpr std::uint32_t bit(Fault fault) { return 1U << static_cast<unsigned>(fault); }
    std::uint32_t bits_ = 0;
};

/// How often each fault happened.
using FaultCounts = std::array<std::uint64_t, fault_count>;

/// What the tabs of one run do, and the checks that judge it. Made anew for each run, before its
/// origin, and outlives it.
class Workload {
  public:
    Workload() = default;
    Workload(const Workload&) = delete;
    Workload& operator=(const Workload&) = delete;
    Workload(Workload&&) = delete;
    Workload& operator=(Workload&&) = delete;
    virtual ~Workload() = default;

    /// Opens the tabs and posts what they do. Not a part of the schedule.
    virtual void begin(Origin& origin) = 0;
    /// What is wrong, in one sentence, or nothing. Looked at after every step: it must be cheap.
    /// What it knows of several tabs is noted as Object::scenario by the steps that change it.
    virtual std::string after_step() { return {}; }
    /// Returns a hash of all that it knows beside what the tabs received; see Run::state().
    [[nodiscard]] virtual std::optional<std::uint64_t> state() const { return std::nullopt; }
    /// Returns what is wrong when nothing can happen any more: also if a tab has not finished. It
    /// may open further tabs and let the origin run.
    virtual std::string at_rest(Origin& origin) = 0;
};

struct Scenario {
    Origin::Options origin;
    Faults faults;                 // that may happen
    std::uint32_t faults_max = 0;  // how many of them in one run
    /// The tabs begin alike, and nothing that they do depends on how their names are ordered, nor
    /// on the amount of a random number: the tab that begins first may as well be the first.
    bool alike = false;
    /// The database at most once in a run: what goes on by the clock after a loss supposes that
    /// time passes before the next.
    bool lost_once = false;
    /// The workload changes nothing that is not its own: see Run::rewinds().
    bool rewinds = false;
    std::function<std::unique_ptr<Workload>()> workload;
    FaultCounts* fault_counts = nullptr;  // of all runs; null: not counted
};

/// Runs of the scenario. Whatever else a scenario's workload holds, runs share nothing.
Program program_of(Scenario scenario);

/// "kill 2": a choice of such a program, for a person.
std::string describe_process(std::uint64_t process);

}  // namespace tabacus::lab
