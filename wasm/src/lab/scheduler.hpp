// Scheduler: everything that is about to happen in a simulated origin, and in which orders it may.
//
// An event waits in the queue of its source. Events of one source happen in their order; which
// source goes next is somebody else's choice (a seed's, an explorer's), and that choice is the
// schedule.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "action.hpp"
#include "footprint.hpp"

namespace tabacus::lab {

/// 0 is the browser (or whoever writes to a channel from outside); tabs count from 1.
using TabId = std::uint32_t;

/// Numbers that a tab gives by itself, so that they do not depend on what others do meanwhile.
constexpr std::uint64_t owned_id(TabId owner, std::uint32_t number) {
    return std::uint64_t{owner} << 32U | number;
}
constexpr TabId owner_of(std::uint64_t id) { return static_cast<TabId>(id >> 32U); }
constexpr std::uint32_t number_of(std::uint64_t id) { return static_cast<std::uint32_t>(id); }

/// Gives them: to each tab its first, second, …
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
        // In a tab. A tab runs one event at a time, and none while it is frozen.
        script,    // what the scenario makes the tab do
        inside,    // an operation inside the turn that is under way: nothing else of the tab runs
        timer,     // a timer that is due
        database,  // an IndexedDB event, of the connection `peer`
        grant,     // the lock manager's answer
        message,   // a message of `peer`
        change,    // a storage event
        // In the browser, whatever the tab does.
        transaction,  // the transaction `peer` of the tab executes
        request,      // the tab's messages to the lock manager
        outgoing,     // a process's writes to localStorage on their way to the others
        incoming,     // the others' writes on their way to a process
        clock,        // time passes until the next timer is due
    };
    Kind kind = Kind::script;
    TabId tab = 0;
    std::uint64_t peer = 0;

    friend auto operator<=>(const Source&, const Source&) = default;
};

/// True when its events run in the tab, and so never while the tab is frozen or dead.
[[nodiscard]] bool runs_in_tab(Source::Kind kind);
/// For traces: "tab 2 database".
[[nodiscard]] std::string describe(const Source& source);

/// Different for different sources, and in their order. Fewer than 2^44 peers.
constexpr std::uint64_t key_of(const Source& source) {
    return static_cast<std::uint64_t>(source.kind) << 56U | std::uint64_t{source.tab} << 44U |
           source.peer;
}

class Scheduler {
  public:
    using Event = Action;
    /// The event, and the number of the step that posted it.
    struct Taken {
        Event event;
        std::uint32_t cause = 0;
        std::uint64_t content = 0;
    };

    explicit Scheduler(FootprintRecorder& recorder) : recorder_(&recorder) {}

    /// `content` is equal for events of one source that do the same.
    void post(const Source& source, Event event, std::uint64_t content);
    /// The sources that have an event, in a fixed order.
    [[nodiscard]] const std::vector<Source>& sources() const { return sources_; }
    [[nodiscard]] bool has(const Source& source) const;
    [[nodiscard]] std::size_t pending(const Source& source) const;
    /// The number of the step that posted the oldest event of one of sources(), by its index there.
    [[nodiscard]] std::uint32_t cause(std::size_t at) const;
    /// Takes the oldest event of a source that has one.
    Taken take(const Source& source);
    /// Drops all but the oldest `kept` events of a source.
    void truncate(const Source& source, std::size_t kept);
    /// Drops what would run in the tab.
    void drop(TabId tab);

    /// Returns a hash of what waits.
    [[nodiscard]] std::uint64_t digest() const;

    /// What is posted from here on has this step for its cause.
    void begin_step(std::uint32_t number) { step_ = number; }
    /// Nothing is about to happen any more.
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
    std::vector<Queue> queues_;    // those of `sources_`
    std::vector<Queue> spare_;     // memory to use again
    FootprintRecorder* recorder_;
    std::uint32_t step_ = 0;
};

}  // namespace tabacus::lab
