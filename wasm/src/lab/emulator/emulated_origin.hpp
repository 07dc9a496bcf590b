// EmulatedOrigin: the rules of an origin whose tabs are JavaScript.
//
// The laboratory's parts (storage areas, lock manager, channels, clock, scheduler), for programs
// that run outside: whatever a tab starts waits as an event in the queue of its source, and step()
// lets one of them happen and returns which. The caller runs what runs in a tab.
//
// - A process has one copy of localStorage, and sends its writes and its messages to the lock
//   manager in order.
// - An agent is an event loop: a tab with its frames, or a worker. It dies, freezes and wakes
// whole.
// - A context is a global object of an agent: what storage events spare, what a lock's client is.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
/// 0 is localStorage; the others are sessionStorages.
using AreaId = std::uint32_t;

/// The event that step() let happen.
struct OriginEvent {
    enum class Kind : std::uint32_t {
        nothing,  // there is nothing that could
        unseen,   // in the browser: no tab runs for it
        changed,  // a `storage` event
        granted,  // the lock of request `number`; and so on for what the lock manager answers
        unavailable,
        stolen,
        released,
        snapshot,  // answers the query `number`
        message,   // to the channel `endpoint`
        timer,
        task,   // whatever the caller posted
        fault,  // the choice `number` of those that the caller offered
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
    /// `session` 0: it has no storage, as a worker has none.
    ContextId open_context(TabId agent, AreaId session);
    /// A sessionStorage with what another holds (HTML §12.2.2, for an auxiliary browsing context).
    AreaId open_session(AreaId copied);
    /// The context is gone, as an iframe that was removed or a worker that was terminated.
    void close_context(ContextId context);
    /// All its contexts at once. Of its process's writes on their way the first `writes_kept`
    /// arrive, if it was the process's last agent.
    void kill(TabId agent, std::size_t writes_kept);
    [[nodiscard]] std::size_t writes_under_way(TabId agent) const;
    void set_active(TabId agent, bool active) { agents_.at(agent - 1).active = active; }
    /// Into the back/forward cache or out of it. False when it holds a lock: such a page is not
    /// kept, and nothing changed.
    bool set_cached(TabId agent, bool cached);

    // --- Storage: `context` reads and writes; texts are WTF-8 ---
    /// Which values a context reads of an area.
    [[nodiscard]] const StorageArea::Values& values(ContextId context, AreaId area) const;
    /// Fails with quota_exceeded, and nothing changes.
    void set_item(ContextId context, AreaId area, std::string_view key,
                  std::optional<std::string_view> value);
    void clear(ContextId context, AreaId area);
    void set_quota(std::optional<std::size_t> bytes);
    /// The user clears the site's data: no event is fired.
    void wipe();
    /// Sets or removes a value in every process at once; no event is fired.
    void overwrite(const std::string& key, std::optional<std::string> value);
    /// Raised whenever a value that some context reads may have changed.
    [[nodiscard]] const std::uint32_t& version() const { return version_; }

    // --- Locks: requests are numbered by their context ---
    void request_lock(ContextId context, std::uint32_t number, LockManager::Request request);
    void release_lock(ContextId context, std::uint32_t number);
    void abort_lock(ContextId context, std::uint32_t number);
    void query_locks(ContextId context, std::uint32_t number);

    // --- Channels: messages are numbers to us ---
    ChannelHub::EndpointId open_channel(ContextId context, std::string_view name);
    void close_channel(ChannelHub::EndpointId endpoint) { channels_.close(endpoint); }
    /// Returns how many channels will receive it.
    std::size_t post(ContextId context, ChannelHub::EndpointId endpoint, double message);

    // --- Time and tasks ---
    std::uint64_t start_timer(ContextId context, double delay_ms, bool throttled);
    void cancel_timer(std::uint64_t timer) { clock_.cancel(timer); }
    [[nodiscard]] double now_ms() const { return clock_.now_ms(); }
    void jump(double delta_ms) { clock_.jump(delta_ms); }
    /// A task of the caller's, in order with those of the same `kind` and `peer`.
    void post_task(ContextId context, Source::Kind kind, std::uint64_t peer, double number);

    // --- The schedule ---
    /// The oldest event happens first, and time passes when nothing else can happen.
    void run_default_schedule() { random_choices_.reset(), schedule_.reset(); }
    /// By a seed; `explored`: time may pass early, too.
    void run_by_seed(std::uint64_t seed, const Sampling& sampling, bool explored);
    void run_by(Schedule schedule);
    /// The next faults of which one may be chosen at each step; see OriginEvent::Kind::fault.
    void offer_faults(std::uint32_t count) { faults_ = count; }
    /// `may_wait`: time may pass.
    const OriginEvent& step(bool may_wait);
    [[nodiscard]] const OriginEvent& event() const { return event_; }
    /// What was chosen at each step: 0 is the default.
    [[nodiscard]] const Schedule& taken() const { return taken_; }
    [[nodiscard]] std::uint64_t hash() const { return hash_; }

    // --- For people ---
    void set_tracing(bool on) { recorder_.trace_into(on ? &lines_ : nullptr), tracing_ = on; }
    void add_line(TabId agent, Object where, std::string text);
    [[nodiscard]] Trace trace(std::string failure);
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
    [[nodiscard]] StorageArea& area(AreaId id) { return id == 0 ? local_ : *sessions_[id - 1]; }
    void begin_step();
    void find_choices(bool may_wait);
    [[nodiscard]] std::size_t choose();
    void perform(const Source& source);
    /// Moves the lines traced since into the last traced step.
    void collect_lines();

    void pass_on(AreaId area, StorageArea::Write write);
    void send(const std::shared_ptr<StorageArea::Write>& write);
    void receive(ProcessId process, const StorageArea::Write& write);
    void notify_contexts(AreaId area, ProcessId process, const StorageArea::Write& write);
    void to_manager(ContextId context, Action call);
    /// An event of the context's, which begins as one of `kind` with its number.
    void to_context(Source::Kind kind, ContextId context, OriginEvent::Kind what, double number);
    void post_in(const Source& source, ContextId context, Action event);

    void granted(RequestId id) override;
    void not_available(RequestId id) override;
    void stolen(RequestId id) override;

    FootprintRecorder recorder_;
    Scheduler scheduler_;
    VirtualClock clock_;
    Options options_;
    StorageArea local_;
    std::vector<std::unique_ptr<StorageArea>> sessions_;
    LockManager locks_;
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
    std::optional<Schedule> schedule_;
    Schedule taken_;
    std::uint32_t faults_ = 0;
    std::vector<Possible> possible_;
    std::vector<Choice> choices_;

    bool tracing_ = false;
    std::vector<TraceLine> lines_;
    std::vector<Step> traced_;
};

}  // namespace tabacus::lab
