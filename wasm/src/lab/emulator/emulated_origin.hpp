// EmulatedOrigin: the rules of an origin for tabs that run JavaScript.
//
// It consists of the laboratory's parts (storage areas, lock manager, channels, clock, scheduler),
// for programs that run outside. Whatever a tab starts waits as an event in the queue of its
// source. step() performs one event and returns it. The caller runs the code of tabs.
//
// - A process has one copy of localStorage. It sends its writes, and its messages to the lock
//   manager, in order.
// - An agent is an event loop: a tab with its frames, or a worker. All its contexts die, freeze and
//   resume together.
// - A context is a global object of an agent. It gets no event for its own write to a storage, and
//   it is the client of its locks.
//
// A Search may choose the schedule (run_by_search()). It learns what each step touches, up to the
// next step: the objects of the rules, and the memory of the process in which code of a tab runs. A
// step that touches more conflicts with every other step: it opens or ends something, is a fault,
// or does what the rules cannot see (note_everything()).
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/emulator/origin_trace.hpp"
#include "lab/emulator/schedule_search.hpp"
#include "lab/emulator/searched_run.hpp"
#include "lab/emulator/step_times.hpp"
#include "lab/emulator/writes_under_way.hpp"
#include "lab/explore/random_choices.hpp"
#include "lab/explore/schedule.hpp"
#include "lab/footprint.hpp"
#include "lab/rules/channel_hub.hpp"
#include "lab/rules/lock_manager.hpp"
#include "lab/rules/storage_area.hpp"
#include "lab/rules/virtual_clock.hpp"
#include "lab/scheduler.hpp"

namespace tabacus::lab {

using ContextId = std::uint32_t;
/// The number of a storage area: 0 for localStorage, others for sessionStorages.
using AreaId = std::uint32_t;

/// The event that step() performed.
struct OriginEvent {
    enum class Kind : std::uint32_t {
        nothing,      // no event can happen
        unseen,       // an event in the browser, which no tab sees
        changed,      // a `storage` event
        granted,      // the lock manager grants the request `number`
        unavailable,  // the lock of the `ifAvailable` request `number` is held
        stolen,       // the lock of the request `number` is stolen
        released,     // the lock of the request `number` is released, or the request aborted
        snapshot,     // the answer to the query `number`
        message,      // a message for the channel `endpoint`
        timer,        // the timer `number` is due
        task,         // a task that the caller posted
        fault,        // the fault `number` of those that the caller offered
    };
    Kind kind = Kind::nothing;
    ContextId context = 0;
    ContextId from = 0;
    AreaId area = 0;
    double number = 0;
    double endpoint = 0;
    StorageChange change{};
    LockSnapshot locks{};
};

class EmulatedOrigin final : private LockListener {
  public:
    struct Options {
        StorageModel storage = StorageModel::cached;
        EqualWrites equal_writes = EqualWrites::sent;
        bool wake_after_abort = true;
    };
    explicit EmulatedOrigin(Options options);
    EmulatedOrigin(const EmulatedOrigin&) = delete;
    EmulatedOrigin& operator=(const EmulatedOrigin&) = delete;
    EmulatedOrigin(EmulatedOrigin&&) = delete;
    EmulatedOrigin& operator=(EmulatedOrigin&&) = delete;
    ~EmulatedOrigin() override = default;

    // --- Processes, agents, contexts ---

    ProcessId open_process();
    TabId open_agent(ProcessId process);
    /// Opens a context. With the `session` 0 it has no storage, as a worker.
    ContextId open_context(TabId agent, AreaId session);
    /// Opens a sessionStorage with the items of another one (HTML §12.2.2, for an auxiliary
    /// browsing context), or an empty one if `copied` is 0.
    AreaId open_session(AreaId copied);
    /// Ends a context, as for an iframe that is removed or a worker that is terminated.
    void close_context(ContextId context);
    /// Kills an agent with all its contexts. If it is the last agent of its process, the first
    /// `writes_kept` of the process's writes that are on their way arrive, and no others.
    void kill(TabId agent, std::size_t writes_kept);
    /// Leaves the locks of an agent held by nobody. Requires that it is killed next.
    void orphan_locks(TabId agent);
    [[nodiscard]] std::size_t writes_under_way(TabId agent) const;
    void set_active(TabId agent, bool active) {
        note_everything();
        agents_.at(agent - 1).active = active;
    }
    /// Puts an agent into the back/forward cache or takes it out. Returns false, and changes
    /// nothing, if it holds a lock, because such a page is not kept.
    bool set_cached(TabId agent, bool cached);

    // --- Storage. Texts are WTF-8 ---

    /// Returns the values that a context reads of an area.
    [[nodiscard]] const StorageArea::Values& values(ContextId context, AreaId area);
    /// Returns the value that a context reads of a key, or null.
    [[nodiscard]] const std::string* find(ContextId context, AreaId area, std::string_view key);
    /// Sets or removes an item. Throws quota_exceeded, and changes nothing, if it does not fit.
    void set_item(ContextId context, AreaId area, std::string_view key,
                  std::optional<std::string_view> value);
    void clear(ContextId context, AreaId area);
    void set_quota(std::optional<std::size_t> bytes);
    /// Clears the site's data, as a user does. No event is fired. With `new_lock_manager`, contexts
    /// that open later have another lock manager, as in Chromium after a response that clears it.
    void wipe(bool new_lock_manager = false);
    /// Sets or removes a value in every process at once. No event is fired.
    void overwrite(const std::string& key, std::optional<std::string> value);
    /// Returns a number that rises whenever a value that a context reads may have changed.
    [[nodiscard]] const std::uint32_t& version() const { return version_; }

    // --- Locks. Each context numbers its requests ---

    void request_lock(ContextId context, std::uint32_t number, LockManager::Request request);
    void release_lock(ContextId context, std::uint32_t number);
    void abort_lock(ContextId context, std::uint32_t number);
    void query_locks(ContextId context, std::uint32_t number);

    // --- Channels. The caller keeps the messages, and passes their numbers ---

    ChannelHub::EndpointId open_channel(ContextId context, std::string_view name);
    void close_channel(ChannelHub::EndpointId endpoint);
    /// Posts a message. Returns the number of channels that will receive it.
    std::size_t post(ContextId context, ChannelHub::EndpointId endpoint, double message);

    // --- Time and tasks ---

    struct Timer {
        double delay_ms = 0;
        /// The delay with which a script has set it, for traces.
        double set_ms = delay_ms;
    };
    std::uint64_t start_timer(ContextId context, const Timer& timer);
    void cancel_timer(std::uint64_t timer);
    [[nodiscard]] double now_ms() const { return clock_.now_ms(); }
    void jump(double delta_ms);
    /// Posts a task of the caller. Tasks of one `kind` and `peer` stay in order.
    void post_task(ContextId context, Source::Kind kind, std::uint64_t peer, double number);

    // --- The schedule ---

    /// Sets when time may pass while events can happen, if events are explored: the next timer is
    /// due at most this much later than each of these events was posted. With 0, time passes only
    /// if no other event can happen.
    void set_timer_window(double window_ms) { timer_window_ms_ = window_ms; }
    /// From here on the oldest event happens first, and time passes only if no other event can
    /// happen.
    void run_default_schedule() { random_choices_.reset(), schedule_.reset(); }
    /// From here on a seed chooses the events. With `explored`, time may pass earlier, too.
    void run_by_seed(std::uint64_t seed, const Sampling& sampling, bool explored);
    /// From here on the schedule chooses the events.
    void run_by(Schedule schedule);
    /// From here on the search chooses the events, and learns what each step touches. Requires that
    /// the search lives until end_search().
    void run_by_search(ScheduleSearch& search);
    /// Ends a run that a search chooses, because no event can happen any more. Does nothing if the
    /// search has given the run up.
    void end_search() { searched_.end(); }
    /// Whether the search has given the run up.
    [[nodiscard]] bool given_up() const { return searched_.given_up(); }
    /// Notes that the current step touches what the rules cannot see.
    void note_everything() { searched_.note_everything(); }
    /// Sets whether work is under way beside the schedule, so that steps touch what the rules
    /// cannot see.
    void set_beside(bool beside) { searched_.set_beside(beside); }
    /// Notes that code of a context runs in the current step. step() notes it for each event except
    /// `changed`, which runs no code if nobody listens for it.
    void note_memory(ContextId context) {
        recorder_.note(Object::tab, process(context), AccessKind::write);
    }
    /// Notes that in the current step a context began or ceased to listen for `changed` events.
    void note_listener(ContextId context) {
        recorder_.note(Object::alive, context, AccessKind::write);
    }
    /// Notes that the current step decides whether time may pass (step()).
    void note_may_wait() { searched_.note_may_wait(); }
    /// Offers `count` faults. At each step one of them may be chosen; see OriginEvent::Kind::fault.
    void offer_faults(std::uint32_t count) { faults_ = count; }
    /// Performs one event and returns it. `may_wait`: whether time may pass.
    const OriginEvent& step(bool may_wait);
    [[nodiscard]] const OriginEvent& event() const { return event_; }
    /// Returns the choice of each step; 0 is the choice of the default schedule.
    [[nodiscard]] const Schedule& taken() const { return taken_; }
    /// Returns a hash of the events of the run so far, in their order. It does not cover values:
    /// those that a cipher makes differ from run to run.
    [[nodiscard]] std::uint64_t hash() const { return hash_; }

    // --- Traces ---

    [[nodiscard]] OriginTrace& trace() { return trace_; }
    [[nodiscard]] const OriginTrace& trace() const { return trace_; }
    /// Returns the latest write to a key of localStorage that has not reached the context's
    /// process, if it differs from the value that the context reads. Requires a trace.
    [[nodiscard]] std::optional<WritesUnderWay::Unseen> unseen_write(ContextId context,
                                                                     std::string_view key) const;
    /// Adds a line for each lock request that waits to the trace.
    void trace_waiting_requests();
    [[nodiscard]] TabId agent_of(ContextId context) const {
        return contexts_.at(context - 1).agent;
    }

  private:
    struct Agent {
        ProcessId process = 0;
        bool alive = true;
        bool active = true;
        bool cached = false;
    };
    struct Context {
        TabId agent = 0;
        AreaId session = 0;
        std::size_t lock_manager = 0;  // the index of its lock manager in locks_
        bool alive = true;
    };
    struct Possible {
        Source source;
        std::uint32_t cause = 0;
    };

    [[nodiscard]] Agent& agent(ContextId context) { return agents_[agent_of(context) - 1]; }
    [[nodiscard]] ProcessId process(ContextId context) const {
        return agents_[agent_of(context) - 1].process;
    }
    [[nodiscard]] LockManager& locks(ContextId context) {
        return locks_[contexts_.at(context - 1).lock_manager];
    }
    [[nodiscard]] const LockManager& locks(ContextId context) const {
        return locks_[contexts_.at(context - 1).lock_manager];
    }
    void add_lock_manager();
    void begin_search_step(std::size_t index);
    [[nodiscard]] StorageArea& area(AreaId id) { return id == 0 ? local_ : *sessions_[id - 1]; }
    void begin_step();
    void find_choices(bool may_wait);
    [[nodiscard]] std::optional<std::size_t> choose();
    void perform(const Source& source);
    /// Whether the next timer may fire before the events that are possible.
    [[nodiscard]] bool may_overtake() const;

    void pass_on(AreaId area, StorageArea::Write write);
    void send(const std::shared_ptr<StorageArea::Write>& write);
    void receive(ProcessId process, const StorageArea::Write& write);
    void notify_contexts(AreaId area, ProcessId process, const StorageArea::Write& write);
    void to_manager(ContextId context, Action call);
    /// Posts an event `what` of the source `kind` for a context.
    void to_context(Source::Kind kind, ContextId context, OriginEvent::Kind what, double number);
    void post_in(const Source& source, ContextId context, Action event);

    void granted(RequestId id) override;
    void not_available(RequestId id) override;
    void stolen(RequestId id) override;

    /// Returns ", exclusive, with ifAvailable" for traces.
    static std::string describe_mode(const LockManager::Request& request);
    void trace_refusal(const LockManager::Request& request);
    /// Returns ", which tab 1 holds" for a lock that is held.
    [[nodiscard]] std::string holder_of(const LockManager& locks, std::string_view name) const;

    FootprintRecorder recorder_;
    SearchedRun searched_;
    OriginTrace trace_;
    Scheduler scheduler_;
    VirtualClock clock_;
    Options options_;
    StorageArea local_;
    std::vector<std::unique_ptr<StorageArea>> sessions_;
    std::deque<LockManager> locks_;  // the last one is that of new contexts
    ChannelHub channels_;
    std::vector<Agent> agents_;
    std::vector<Context> contexts_;
    ProcessId last_process_ = 0;
    std::uint32_t version_ = 1;
    std::optional<std::size_t> quota_bytes_;

    OriginEvent event_;
    std::uint32_t steps_ = 0;
    std::uint32_t choices_made_ = 0;
    std::uint64_t hash_ = 0;
    std::optional<RandomChoices> random_choices_;
    bool explored_ = false;
    double timer_window_ms_ = std::numeric_limits<double>::infinity();
    StepTimes times_;
    std::optional<Schedule> schedule_;
    Schedule taken_;
    std::uint32_t faults_ = 0;
    std::vector<Possible> possible_;
    std::vector<Choice> choices_;

    WritesUnderWay under_way_;  // if there is a trace
    bool refused_ = false;      // whether the last lock request was not available
};

}  // namespace tabacus::lab
