// Origin: a simulated origin, in which several tabs share storage, locks, a database and channels.
//
// Nothing happens by itself. Whatever a tab starts waits as an event in the queue of its source
// (scheduler.hpp). step() performs one event, which a Chooser chooses. The same seed and the same
// scenario therefore make the same run. Faults are calls between two steps.
//
// It models neither documents that navigate, nor more than one database, nor versionchange.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "footprint.hpp"
#include "lab/rules/channel_hub.hpp"
#include "lab/rules/lock_manager.hpp"
#include "lab/rules/memory_database.hpp"
#include "lab/rules/storage_area.hpp"
#include "lab/rules/virtual_clock.hpp"
#include "scheduler.hpp"
#include "seeded_random.hpp"

namespace tabacus::lab {

class LabTab;

/// Chooses the event that happens next.
class Chooser {
  public:
    Chooser() = default;
    Chooser(const Chooser&) = delete;
    Chooser& operator=(const Chooser&) = delete;
    Chooser(Chooser&&) = delete;
    Chooser& operator=(Chooser&&) = delete;
    virtual ~Chooser() = default;
    /// Returns the index of one of `choices`. Requires that there is at least one.
    virtual std::size_t choose(const std::vector<Source>& choices) = 0;
};

/// Chooses at random.
class SeededChooser final : public Chooser {
  public:
    explicit SeededChooser(SeededRandom random) : random_(random) {}
    std::size_t choose(const std::vector<Source>& choices) override;

  private:
    /// If the clock is drawn, the draw counts with a chance of one in clock_draws, and is repeated
    /// otherwise.
    static constexpr std::size_t clock_draws = 8;
    SeededRandom random_;
};

/// The parts that a tab's platform has.
struct Platform {
    bool storage = true;
    bool database = true;
    bool locks = true;
    bool lock_queries = true;  // else Locks::query() probes
    bool channels = true;
    /// The value of Lifecycle::locks_bar_cache(). If true, a page also never learns the outcome of
    /// operations that were pending when it entered the back/forward cache, as in Firefox.
    bool locks_bar_cache = false;
    bool prerendered = false;  // until Origin::activate()
};

/// The documents that get an event for a write to localStorage.
enum class StorageEvents : std::uint8_t {
    to_others,  // every document but the writer's (HTML §12.2.1)
    to_all,     // every document, as in Internet Explorer
};

class Origin : private LockListener {
  public:
    struct Options {
        std::uint64_t seed = 1;
        StorageModel storage = StorageModel::cached;
        EqualWrites equal_writes = EqualWrites::sent;
        StorageEvents storage_events = StorageEvents::to_others;
        /// Whether transactions keep their operations, so that they can be repeated on another
        /// connection: kill_connection() and hang() need that.
        bool connections_die = false;
    };
    /// `chooser` chooses the events; a SeededChooser of the origin if it is null.
    explicit Origin(Options options, std::unique_ptr<Chooser> chooser = nullptr);
    Origin(const Origin&) = delete;
    Origin& operator=(const Origin&) = delete;
    Origin(Origin&&) = delete;
    Origin& operator=(Origin&&) = delete;
    ~Origin() override;

    /// Opens a tab in a process of its own. The object lives as long as the origin, even if the tab
    /// dies.
    LabTab& open_tab(Platform platform);
    LabTab& open_tab() { return open_tab(Platform{}); }

    // --- The schedule ---

    /// Returns the sources of the events that may happen next, in a fixed order. The reference is
    /// valid until the next call.
    [[nodiscard]] const std::vector<Source>& choices();
    /// Performs one event. Returns false if there is none that may happen.
    bool step();
    /// Performs the next event of one of choices(). Returns the number of the step that posted the
    /// event, counted from 1, or 0 if it was posted before the first step.
    std::uint32_t take(const Source& source);
    /// Begins a step for what the caller does to the origin until the next step.
    void begin_step();
    /// Steps until no event may happen. Throws std::logic_error after `steps_max` steps.
    void run(std::size_t steps_max = 200'000);
    /// Steps until `done()` returns true. Throws std::logic_error after `steps_max` steps, or if no
    /// event may happen before that.
    void run_until(const std::function<bool()>& done, std::size_t steps_max = 200'000);
    [[nodiscard]] std::uint64_t steps() const { return steps_; }
    /// Returns the last steps as text.
    [[nodiscard]] std::string recent_steps(std::size_t count) const;

    /// Returns a hash of everything that future behaviour depends on: what exists, which events
    /// wait, and what the tabs have received. It is a sum of one hash for each part (Run::state()).
    /// `with_disk`: whether it includes what a crash of the browser would leave.
    [[nodiscard]] std::uint64_t digest(bool with_disk) const;

    // --- Faults ---
    //
    // If a function has two forms, one makes random choices, and the other one takes them as
    // arguments.

    /// Kills the tab's process. Its frames are destroyed at once, and its locks are released a
    /// little later. What it had sent may still arrive.
    void kill(LabTab& tab);
    /// Kills the tab's process. Of its writes to localStorage that are on their way, the first
    /// `writes_kept` arrive. Its pending commits may still happen if `commits_kept`, else abort.
    void kill(LabTab& tab, std::size_t writes_kept, bool commits_kept);
    [[nodiscard]] std::size_t writes_under_way(const LabTab& tab) const;
    [[nodiscard]] bool commits_under_way(const LabTab& tab) const;
    /// Kills the tab's process, and leaves its locks held by nobody.
    void orphan_locks(LabTab& tab);
    void freeze(LabTab& tab);
    void thaw(LabTab& tab);
    /// Stops the tab without an event, as a stopped process, a debugger or an endless loop does.
    void suspend(LabTab& tab);
    void wake(LabTab& tab);
    /// From here on the tab receives no message of any channel.
    void drop_messages(LabTab& tab);
    /// Shows a prerendered page.
    void activate(LabTab& tab);
    /// Sets the wall clock of all tabs, those opened later included, ahead by so much.
    void jump_wall_clock(double delta_ms);
    void hide(LabTab& tab);
    void show(LabTab& tab);
    /// Puts the tab into the back/forward cache. Kills it and returns false if the browser does not
    /// keep such a page: the tab still holds a lock after its handlers have run, or, with
    /// Platform::locks_bar_cache, held one before.
    bool page_hide(LabTab& tab);
    void page_show(LabTab& tab);
    /// Drops the tab's connection to the database. Pending commits happen or do not.
    void close_connection(LabTab& tab);
    void close_connection(LabTab& tab, bool commits_happen);
    [[nodiscard]] bool connected(const LabTab& tab) const;
    /// Lets the tab's connection to the database die without an event. The tab repeats its
    /// transactions on another connection. Replies that were on their way are lost.
    void kill_connection(LabTab& tab);
    /// Lets the tab's transactions wait for ever, until the tab gives its connection up and repeats
    /// them on another one. What was being committed may then still happen, after answer_again().
    void hang(LabTab& tab);
    void answer_again(LabTab& tab);
    [[nodiscard]] bool hung(const LabTab& tab) const;
    /// Whether the tab has given up a connection that hung, and it still hangs.
    [[nodiscard]] bool gave_up(const LabTab& tab) const;
    /// Deletes the database while tabs use it.
    void lose_database();
    void lose_database(bool commits_happen);
    /// Whether the database was deleted while tabs used it.
    [[nodiscard]] bool has_lost_database() const { return database_lost_; }
    /// Clears the site's data, that is, the database and localStorage.
    void clear_site_data();
    void clear_site_data(bool commits_happen);
    /// Gives tabs that open later a lock manager of their own, as Chromium does when site data is
    /// cleared.
    void add_lock_manager();
    /// Kills the whole browser, and so all tabs. What was not on the disk is lost.
    void crash();
    struct Kept {
        bool commits = false;  // keeps pending commits and the latest relaxed ones
        bool writes = false;   // keeps writes to localStorage that are on their way, and the latest
    };
    void crash(Kept kept);
    [[nodiscard]] bool anybody_alive() const;
    /// Posts a message that does not come from this library.
    void post_foreign(std::string_view channel, std::string_view message);
    /// Calls localStorage.clear() in the tab. World has no such call, because a protocol never
    /// clears what belongs to others.
    void clear_storage(LabTab& tab);

    /// Returns the recorder of the steps' footprints and trace lines.
    [[nodiscard]] FootprintRecorder& recorder() { return recorder_; }
    [[nodiscard]] LabTab& tab(TabId id) { return *tabs_.at(id - 1); }
    [[nodiscard]] std::size_t tab_count() const { return tabs_.size(); }
    [[nodiscard]] StorageArea& storage() { return storage_; }
    [[nodiscard]] MemoryDatabase& database() { return database_; }
    /// Returns the lock manager of new tabs.
    [[nodiscard]] LockManager& locks() { return locks_.back(); }
    [[nodiscard]] VirtualClock& clock() { return clock_; }
    [[nodiscard]] SeededRandom& random() { return random_; }

  private:
    friend class LabTab;

    void end_all();
    [[nodiscard]] LockManager& locks(const LabTab& tab);

    [[nodiscard]] bool may_run(const Source& source);
    std::uint32_t perform(const Source& source);
    void note_stop(const LabTab& tab);
    void end_of_turn(LabTab& tab);
    template <typename Script>
    void turn(LabTab& tab, Script script);
    void record(const Source& source);
    template <typename Happens>
    void lose_connections(Happens happens);

    // Actions of tabs on the shared parts.
    void write_storage(LabTab& writer, std::string_view key, std::optional<std::string_view> value);
    void pass_on(StorageArea::Write write);
    void send_write(StorageArea::Write write);
    void receive_write(ProcessId process, const StorageArea::Write& write);
    void broadcast(TabId sender, ChannelHub::EndpointId endpoint, std::string_view name,
                   std::string_view message);

    // LockListener
    void granted(RequestId id) override;
    void not_available(RequestId id) override;
    void stolen(RequestId id) override;

    FootprintRecorder recorder_;
    SeededRandom random_;
    std::unique_ptr<Chooser> chooser_;
    Scheduler scheduler_;
    VirtualClock clock_;
    StorageArea storage_;
    std::deque<LockManager> locks_;
    MemoryDatabase database_;
    ChannelHub channels_;
    StorageEvents storage_events_;
    bool connections_die_;
    bool database_lost_ = false;
    double wall_ahead_ms_ = 0;  // by how much the wall clock is ahead of `clock_`
    std::vector<std::unique_ptr<LabTab>> tabs_;
    std::vector<Source> choices_;
    std::uint64_t steps_ = 0;
    std::uint64_t recorded_ = 0;
    std::vector<Source> history_;  // a ring buffer of the last steps
};

}  // namespace tabacus::lab
