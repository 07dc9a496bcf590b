// Origin: a simulated origin, in which several tabs share storage, locks, a database and channels.
//
// Nothing happens by itself. Whatever a tab starts waits as an event in the queue of its source
// (scheduler.hpp), and step() lets one of them happen, chosen by a Chooser: with the same seed and
// the same scenario, the same run. Faults are calls between two steps.
//
// What it leaves out: a document that navigates, more than one database, versionchange.
#pragma once

#include <cstdint>
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

/// Decides what happens next.
class Chooser {
  public:
    Chooser() = default;
    Chooser(const Chooser&) = delete;
    Chooser& operator=(const Chooser&) = delete;
    Chooser(Chooser&&) = delete;
    Chooser& operator=(Chooser&&) = delete;
    virtual ~Chooser() = default;
    /// The index of one of `choices`, of which there is at least one.
    virtual std::size_t choose(const std::vector<Source>& choices) = 0;
};

class SeededChooser final : public Chooser {
  public:
    explicit SeededChooser(SeededRandom random) : random_(random) {}
    std::size_t choose(const std::vector<Source>& choices) override;

  private:
    /// One draw of the clock in so many counts at once; the others are drawn again.
    static constexpr std::size_t clock_draws = 8;
    SeededRandom random_;
};

/// What the platform of a tab has.
struct Platform {
    bool storage = true;
    bool database = true;
    bool locks = true;
    bool channels = true;
    /// Lifecycle::locks_bar_cache(); and a page never learns what became of the operations that
    /// were under way when it was put there, as in Firefox.
    bool locks_bar_cache = false;
};

/// Which documents get an event for a write to localStorage.
enum class StorageEvents : std::uint8_t {
    to_others,  // HTML §12.2.1: every document but the writer's
    to_all,     // Internet Explorer: the writer's, too
};

class Origin : private LockListener {
  public:
    struct Options {
        std::uint64_t seed = 1;
        StorageModel storage = StorageModel::cached;
        EqualWrites equal_writes = EqualWrites::sent;
        StorageEvents storage_events = StorageEvents::to_others;
    };
    /// Scheduled by a SeededChooser of its own, or by `chooser`.
    explicit Origin(Options options, std::unique_ptr<Chooser> chooser = nullptr);
    Origin(const Origin&) = delete;
    Origin& operator=(const Origin&) = delete;
    Origin(Origin&&) = delete;
    Origin& operator=(Origin&&) = delete;
    ~Origin() override;

    /// A tab in a process of its own. It lives as long as the origin, dead or alive.
    LabTab& open_tab(Platform platform);
    LabTab& open_tab() { return open_tab(Platform{}); }

    // --- The schedule ---
    /// What may happen next, in a fixed order. Valid until the next call.
    [[nodiscard]] const std::vector<Source>& choices();
    /// Lets one thing happen. False when nothing can.
    bool step();
    /// Lets the next event of one of choices() happen. Returns the number of the step that posted
    /// it, counted from 1; 0 when it was posted before the first.
    std::uint32_t take(const Source& source);
    /// What is done to the origin from outside until the next step is a step of its own.
    void begin_step();
    /// Steps until nothing can happen. Throws std::logic_error after `steps_max` steps.
    void run(std::size_t steps_max = 200'000);
    /// Steps until `done()`. Throws std::logic_error when nothing can happen any more before that.
    void run_until(const std::function<bool()>& done, std::size_t steps_max = 200'000);
    [[nodiscard]] std::uint64_t steps() const { return steps_; }
    /// The last steps, for a person.
    [[nodiscard]] std::string recent_steps(std::size_t count) const;

    /// Returns a hash of everything that future behaviour depends on: of what exists and waits, and
    /// of what the tabs have received. It is a sum to which each part adds its own (Run::state()).
    [[nodiscard]] std::uint64_t digest(bool with_disk) const;

    // --- Faults ---
    /// The tab's process dies: its frames are gone at once, its locks a little later; what it had
    /// sent may still arrive.
    void kill(LabTab& tab);
    /// Kills the tab without random choices: the first `writes_kept` of its writes to localStorage
    /// under way arrive; its commits under way abort, or may still happen.
    void kill(LabTab& tab, std::size_t writes_kept, bool commits_kept);
    [[nodiscard]] std::size_t writes_under_way(const LabTab& tab) const;
    [[nodiscard]] bool commits_under_way(const LabTab& tab) const;
    void freeze(LabTab& tab);
    void thaw(LabTab& tab);
    /// The tab stops without an event, as with a stopped process, a debugger or an endless loop.
    void suspend(LabTab& tab);
    void wake(LabTab& tab);
    /// The tab receives no message of any channel from here on.
    void drop_messages(LabTab& tab);
    void hide(LabTab& tab);
    void show(LabTab& tab);
    /// Into the back/forward cache. False, and the tab dies, when it still holds a lock once its
    /// handlers have run, or held one before where the platform looks then: such a page is not
    /// kept.
    bool page_hide(LabTab& tab);
    void page_show(LabTab& tab);
    /// The browser drops the tab's connection; a commit under way happens or does not.
    void close_connection(LabTab& tab);
    void close_connection(LabTab& tab, bool commits_happen);
    [[nodiscard]] bool connected(const LabTab& tab) const;
    /// The database is deleted under everyone.
    void lose_database();
    void lose_database(bool commits_happen);
    /// The site's data is cleared: database and localStorage.
    void clear_site_data();
    void clear_site_data(bool commits_happen);
    /// The whole browser is killed, and what was not on the disk is gone; all tabs are dead.
    void crash();
    struct Kept {
        bool commits = false;  // those that were asked for, and the relaxed ones of late
        bool writes = false;   // to localStorage: those on their way, and the last ones
    };
    void crash(Kept kept);
    [[nodiscard]] bool anybody_alive() const;
    /// A message from outside this library.
    void post_foreign(std::string_view channel, std::string_view message);
    /// localStorage.clear() by a script of the tab. World has none: no protocol clears what is not
    /// its own.
    void clear_storage(LabTab& tab);

    /// Where the steps' footprints and trace lines go.
    [[nodiscard]] FootprintRecorder& recorder() { return recorder_; }
    [[nodiscard]] LabTab& tab(TabId id) { return *tabs_.at(id - 1); }
    [[nodiscard]] std::size_t tab_count() const { return tabs_.size(); }
    [[nodiscard]] StorageArea& storage() { return storage_; }
    [[nodiscard]] MemoryDatabase& database() { return database_; }
    [[nodiscard]] LockManager& locks() { return locks_; }
    [[nodiscard]] VirtualClock& clock() { return clock_; }
    [[nodiscard]] SeededRandom& random() { return random_; }

  private:
    friend class LabTab;

    void end_all();

    [[nodiscard]] bool may_run(const Source& source);
    std::uint32_t perform(const Source& source);
    void note_stop(const LabTab& tab);
    void end_of_turn(LabTab& tab);
    template <typename Script>
    void turn(LabTab& tab, Script script);
    void record(const Source& source);
    template <typename Happens>
    void lose_connections(Happens happens);

    // What tabs do to what they share.
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
    LockManager locks_;
    MemoryDatabase database_;
    ChannelHub channels_;
    StorageEvents storage_events_;
    std::vector<std::unique_ptr<LabTab>> tabs_;
    std::vector<Source> choices_;
    std::uint64_t steps_ = 0;
    std::uint64_t recorded_ = 0;
    std::vector<Source> history_;  // the last steps; a ring
};

}  // namespace tabacus::lab
