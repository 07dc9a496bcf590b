// Scheduler: the events that wait in a simulated origin, and the orders in which they may happen.
//
// An event waits in the queue of its source. Events of one source happen in their order. The caller
// (a seed, an explorer) chooses the source of each next event; its choices are the schedule.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "action.hpp"
#include "footprint.hpp"

namespace tabacus::lab {

/// The number of a tab, from 1. 0 is the browser, or code outside that posts to a channel.
using TabId = std::uint32_t;

/// Returns the id of the `number`-th object of a tab. Each tab numbers its objects by itself, so
/// that the ids do not depend on what other tabs do.
constexpr std::uint64_t owned_id(TabId owner, std::uint32_t number) {
    return std::uint64_t{owner} << 32U | number;
}
constexpr TabId owner_of(std::uint64_t id) { return static_cast<TabId>(id >> 32U); }
constexpr std::uint32_t number_of(std::uint64_t id) { return static_cast<std::uint32_t>(id); }

/// Numbers the objects of each tab, from 1.
class OwnedIds {
  public:
    std::uint64_t next(TabId owner) {
        if (given_.size() <= owner) given_.resize(owner + 1);
        return owned_id(owner, ++given_[owner]);
    }

  private:
    std::vector<std::uint32_t> given_;
};

struct Source {
    enum class Kind : std::uint8_t {
        // Events in a tab. A tab runs one event at a time, and none while it is frozen.
        script,    // a script of the scenario
        inside,    // an operation inside the current turn, before any other event of the tab
        timer,     // a timer that is due
        database,  // an IndexedDB event of the connection `peer`
        grant,     // an answer of the lock manager
        message,   // a message from `peer`
        change,    // a storage event
        // Events in the browser. They happen whatever the tab does.
        transaction,  // the transaction `peer` of the tab executes
        request,      // a message from the tab to the lock manager
        outgoing,     // a write to localStorage on its way from a process to the area
        incoming,     // a write to localStorage on its way from the area to a process
        clock,        // time passes until the next timer is due
        // An event in a tab: the work `peer` that the tab's host does for it, such as a hash, is
        // complete. It is last, so that seeds of the laboratory, which has none, stay what they are.
        host,
    };
    Kind kind = Kind::script;
    TabId tab = 0;
    std::uint64_t peer = 0;

    friend auto operator<=>(const Source&, const Source&) = default;
};

/// Whether events of that kind run in the tab, so that none happens while the tab is frozen or
/// dead.
[[nodiscard]] bool runs_in_tab(Source::Kind kind);
/// Returns the source as text for traces, such as "tab 2 database".
[[nodiscard]] std::string describe(const Source& source);

/// Returns a number that differs for different sources, and has their order. Requires that `peer`
/// is below 2^44.
constexpr std::uint64_t key_of(const Source& source) {
    return static_cast<std::uint64_t>(source.kind) << 56U | std::uint64_t{source.tab} << 44U |
           source.peer;
}

class Scheduler {
  public:
    using Event = Action;
    /// An event, the number of the step that posted it, and the number of its content.
    struct Taken {
        Event event;
        std::uint32_t cause = 0;
        std::uint64_t content = 0;
    };

    explicit Scheduler(FootprintRecorder& recorder) : recorder_(&recorder) {}

    /// Adds an event to the queue of its source. `content` is equal for events of one source that
    /// do the same.
    void post(const Source& source, Event event, std::uint64_t content);
    /// Returns the sources that have an event, in a fixed order.
    [[nodiscard]] const std::vector<Source>& sources() const { return sources_; }
    [[nodiscard]] bool has(const Source& source) const;
    [[nodiscard]] std::size_t pending(const Source& source) const;
    /// Returns the number of the step that posted the oldest event of sources()[at].
    [[nodiscard]] std::uint32_t cause(std::size_t at) const;
    /// Takes the oldest event of a source. Requires that the source has one.
    Taken take(const Source& source);
    /// Drops all but the oldest `kept` events of a source.
    void truncate(const Source& source, std::size_t kept);
    /// Drops the events that would run in the tab.
    void drop(TabId tab);

    /// Returns a hash of the events that wait.
    [[nodiscard]] std::uint64_t digest() const;

    /// Sets the number of the current step, which is the cause of all events that it posts.
    void begin_step(std::uint32_t number) { step_ = number; }
    /// Drops all events.
    void clear();

  private:
    struct Queue {
        std::vector<Taken> events;
        std::size_t head = 0;
        [[nodiscard]] std::size_t size() const { return events.size() - head; }
    };
    [[nodiscard]] std::size_t find(const Source& source) const;
    void erase(std::size_t at);

    std::vector<Source> sources_;  // sorted; no queue is empty
    std::vector<Queue> queues_;    // the queues of `sources_`
    std::vector<Queue> spare_;     // empty queues with memory that can be used again
    FootprintRecorder* recorder_;
    std::uint32_t step_ = 0;
};

}  // namespace tabacus::lab
