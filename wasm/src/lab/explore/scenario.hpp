// Scenario: everything that a run over tabs consists of: a simulated origin, what its tabs do, the
// faults that may happen to them, and the checks.
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

/// The faults of tabs and of the parts that they share. A fault that ends may do so at any time.
enum class Fault : std::uint8_t {
    kill,              // the tab's process dies
    freeze,            // the tab is frozen, until it thaws
    throttle,          // the tab is hidden, so that timers run once a minute, until it is shown
    bfcache,           // the tab is in the back/forward cache, until it comes back
    lose_database,     // the database is deleted while tabs use it
    close_connection,  // the browser drops one tab's connection to the database
    quota,             // the quota is used up for all tabs, until it is lifted
    clear_storage,     // localStorage and the database are cleared
    corrupt,           // one record becomes unreadable
    browser_crash,     // the browser dies with all tabs; what was not on the disk is lost
    suspend,           // the tab runs nothing and receives no event, until it wakes
    orphaned_lock,     // the tab's process dies, and its locks stay held by nobody
    clock_jump,        // the wall clock jumps by a day, forward or back
    dead_connection,   // one tab's connection dies without an event; its transactions are repeated
    hang_transaction,  // one tab's connection does not answer, until the tab has given it up
};
constexpr std::size_t fault_count = 15;

std::string_view fault_name(Fault fault);
/// Returns the fault of that name; nothing if there is none.
std::optional<Fault> fault_named(std::string_view name);

/// A set of faults.
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
    /// Returns the set for bits(). Drops bits that stand for no fault.
    static constexpr Faults of_bits(std::uint32_t bits) {
        Faults faults;
        faults.bits_ = bits & ((1U << fault_count) - 1);
        return faults;
    }

  private:
    static constexpr std::uint32_t bit(Fault fault) { return 1U << static_cast<unsigned>(fault); }
    std::uint32_t bits_ = 0;
};

/// The number of times that each fault happened.
using FaultCounts = std::array<std::uint64_t, fault_count>;

/// What the tabs of one run do, and the checks of the run. Each run makes its own workload, before
/// its origin, and the workload outlives the origin.
class Workload {
  public:
    Workload() = default;
    Workload(const Workload&) = delete;
    Workload& operator=(const Workload&) = delete;
    Workload(Workload&&) = delete;
    Workload& operator=(Workload&&) = delete;
    virtual ~Workload() = default;

    /// Opens the tabs and posts their scripts. It is not a part of the schedule.
    virtual void begin(Origin& origin) = 0;
    /// Returns a failure, in one sentence, or an empty text. It is called after every step, so it
    /// must be fast. A step that changes what the workload knows of several tabs must note
    /// Object::scenario.
    virtual std::string after_step() { return {}; }
    /// Returns a hash of everything that the workload knows in addition to what the tabs received;
    /// see Run::state().
    [[nodiscard]] virtual std::optional<std::uint64_t> state() const { return std::nullopt; }
    /// Returns a failure, or an empty text. Called once no event can happen. A tab that has not
    /// finished is a failure. This function may open further tabs and let the origin run.
    virtual std::string at_rest(Origin& origin) = 0;
};

struct Scenario {
    Origin::Options origin;
    Faults faults;                 // the faults that may happen
    std::uint32_t faults_max = 0;  // the most faults in one run
    /// Whether all tabs begin in the same way, and no tab depends on the order of names or on the
    /// value of a random number. Then only runs need be explored in which tab 1 begins first, tab 2
    /// next, and so on.
    bool alike = false;
    /// Whether the database is lost at most once in a run. A program that waits after a loss
    /// assumes that time passes before the next loss.
    bool lost_once = false;
    /// Whether the workload changes only its own objects; see Run::rewinds().
    bool rewinds = false;
    std::function<std::unique_ptr<Workload>()> workload;
    FaultCounts* fault_counts = nullptr;  // the sum over all runs; not counted if null
};

/// Returns the program of a scenario. Its runs share nothing but what the workloads share.
Program program_of(Scenario scenario);

/// Returns the process of a choice as text, such as "tab 2 dies".
std::string describe_process(std::uint64_t process);

}  // namespace tabacus::lab
