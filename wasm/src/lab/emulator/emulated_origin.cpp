// EmulatedOrigin: the processes, tabs and contexts of an origin, and what their calls post.
#include "emulated_origin.hpp"

#include <algorithm>
#include <iterator>

namespace tabacus::lab {
namespace {

constexpr RequestId request_id(ContextId context, std::uint32_t number) {
    return std::uint64_t{context} << 32U | number;
}
constexpr ContextId context_of(RequestId id) { return static_cast<ContextId>(id >> 32U); }
constexpr double number_of_request(RequestId id) { return static_cast<std::uint32_t>(id); }

}  // namespace

EmulatedOrigin::EmulatedOrigin(Options options)
    : searched_(recorder_),
      trace_(recorder_),
      scheduler_(recorder_),
      clock_(recorder_),
      options_(options),
      local_(options.storage, recorder_, options.equal_writes),
      channels_(recorder_) {
    local_.keep_unsettled(false);
    add_lock_manager();
}

// --- Processes, agents, contexts -----------------------------------------------------------------

ProcessId EmulatedOrigin::open_process() {
    note_everything();
    local_.start(++last_process_);
    return last_process_;
}

TabId EmulatedOrigin::open_agent(ProcessId process) {
    note_everything();
    agents_.push_back({.process = process});
    return static_cast<TabId>(agents_.size());
}

ContextId EmulatedOrigin::open_context(TabId agent, AreaId session) {
    note_everything();
    contexts_.push_back({.agent = agent, .session = session, .lock_manager = locks_.size() - 1});
    return static_cast<ContextId>(contexts_.size());
}

AreaId EmulatedOrigin::open_session(AreaId copied) {
    note_everything();
    auto& made =
        *sessions_.emplace_back(std::make_unique<StorageArea>(StorageModel::mutexed, recorder_));
    made.keep_unsettled(false);
    made.set_quota(quota_bytes_);
    if (copied != 0) {
        for (const auto& [key, value] : sessions_[copied - 1]->values()) made.overwrite(key, value);
    }
    return static_cast<AreaId>(sessions_.size());
}

/// The context's last messages reach the lock manager before its locks are released (Web Locks
/// §2.6).
void EmulatedOrigin::close_context(ContextId context) {
    auto& closed = contexts_.at(context - 1);
    if (!closed.alive) return;
    note_everything();
    closed.alive = false;
    channels_.end(context);
    to_manager(context, [this, context] {
        recorder_.note(Object::locks, 0, AccessKind::read);  // others may have stolen its locks
        locks(context).end(context);
    });
}

void EmulatedOrigin::orphan_locks(TabId agent) {
    note_everything();
    for (std::size_t i = 0; i < contexts_.size(); ++i) {
        const auto context = static_cast<ContextId>(i + 1);
        if (contexts_[i].agent == agent) locks(context).orphan(context);
    }
}

std::size_t EmulatedOrigin::writes_under_way(TabId agent) const {
    return scheduler_.pending({Source::Kind::outgoing, agents_.at(agent - 1).process, 0});
}

void EmulatedOrigin::kill(TabId agent, std::size_t writes_kept) {
    auto& killed = agents_.at(agent - 1);
    if (!killed.alive) return;
    note_everything();
    begin_step();
    killed.alive = false;
    for (std::size_t i = 0; i < contexts_.size(); ++i) {
        if (contexts_[i].agent == agent) close_context(static_cast<ContextId>(i + 1));
    }
    scheduler_.drop(agent);
    clock_.drop(agent);
    const bool shared = std::any_of(agents_.begin(), agents_.end(), [&](const Agent& other) {
        return other.alive && other.process == killed.process;
    });
    if (shared) return;
    scheduler_.truncate({Source::Kind::outgoing, killed.process, 0}, writes_kept);
    local_.end(killed.process);
    for (const auto& lost : under_way_.take_lost(killed.process)) {
        trace_.add(
            {agent, Object::faults,
             "loses its write " + describe_change(lost) + ", which has not left its process"});
    }
}

bool EmulatedOrigin::set_cached(TabId agent, bool cached) {
    note_everything();
    auto& moved = agents_.at(agent - 1);
    if (cached) {
        // The tab's messages to the lock manager arrive before its locks are counted.
        const Source requests{Source::Kind::request, moved.process, 0};
        while (scheduler_.has(requests)) scheduler_.take(requests).event();
        for (std::size_t i = 0; i < contexts_.size(); ++i) {
            if (contexts_[i].agent != agent) continue;
            const auto context = static_cast<ContextId>(i + 1);
            if (locks(context).holds_any(context)) return false;
        }
    }
    moved.cached = cached;
    return true;
}

// --- Storage -------------------------------------------------------------------------------------

const StorageArea::Values& EmulatedOrigin::values(ContextId context, AreaId id) {
    note_memory(context);
    return area(id).all(process(context));
}

const std::string* EmulatedOrigin::find(ContextId context, AreaId id, std::string_view key) {
    note_memory(context);
    return area(id).find(process(context), key);
}

void EmulatedOrigin::set_item(ContextId context, AreaId id, std::string_view key,
                              std::optional<std::string_view> value) {
    recorder_.trace(agent_of(context), Object::item, [&] {
        return (value ? "writes " + std::string(key) + " = " + std::string(*value)
                      : "removes " + std::string(key)) +
               trace_.take_place();
    });
    note_memory(context);
    auto write = area(id).set(process(context), context, key, value);
    if (write) pass_on(id, std::move(*write));
}

void EmulatedOrigin::clear(ContextId context, AreaId id) {
    recorder_.trace(agent_of(context), Object::item,
                    [this] { return "clears everything" + trace_.take_place(); });
    note_memory(context);
    pass_on(id, area(id).clear(process(context), context));
}

void EmulatedOrigin::set_quota(std::optional<std::size_t> bytes) {
    note_everything();
    quota_bytes_ = bytes;
    local_.set_quota(bytes);
    for (const auto& session : sessions_) session->set_quota(bytes);
}

/// Drops the writes that are on their way. Otherwise they would reappear in one process and not in
/// another.
void EmulatedOrigin::wipe(bool new_lock_manager) {
    note_everything();
    if (new_lock_manager) add_lock_manager();
    ++version_;
    for (const auto& source : std::vector(scheduler_.sources())) {
        const auto kind = source.kind;
        if (kind == Source::Kind::outgoing || kind == Source::Kind::incoming) {
            scheduler_.truncate(source, 0);
        }
    }
    local_.wipe();
    for (const auto& session : sessions_) session->wipe();
}

void EmulatedOrigin::add_lock_manager() {
    LockListener& listener = *this;
    locks_.emplace_back(listener, recorder_).wake_after_abort(options_.wake_after_abort);
}

/// Delivers the writes that are on their way first. Otherwise they would overwrite the value in one
/// process and not in another.
void EmulatedOrigin::overwrite(const std::string& key, std::optional<std::string> value) {
    note_everything();
    ++version_;
    begin_step();
    for (const auto kind : {Source::Kind::outgoing, Source::Kind::incoming}) {
        for (const auto& source : std::vector(scheduler_.sources())) {
            while (source.kind == kind && scheduler_.has(source)) scheduler_.take(source).event();
        }
    }
    local_.overwrite(key, std::move(value));
}

void EmulatedOrigin::receive(ProcessId process, const StorageArea::Write& write) {
    ++version_;
    local_.receive(process, write);
}

void EmulatedOrigin::pass_on(AreaId id, StorageArea::Write write) {
    ++version_;
    begin_step();
    if (area(id).model() != StorageModel::cached) {
        return notify_contexts(id, 0, area(id).send(std::move(write)));
    }
    const Source outgoing{Source::Kind::outgoing, write.process, 0};
    // Events are moved while they wait. They share the write, so that it is not copied.
    auto sent = std::make_shared<StorageArea::Write>(std::move(write));
    if (trace_.on()) under_way_.add(agent_of(sent->writer), sent);
    scheduler_.post(outgoing, [this, sent = std::move(sent)] { send(sent); }, 0);
}

void EmulatedOrigin::send(const std::shared_ptr<StorageArea::Write>& write) {
    *write = local_.send(std::move(*write));
    recorder_.trace(agent_of(write->writer), Object::area,
                    [&] { return "its " + describe_change(write->change) + " goes out"; });
    trace_.leave_out();
    for (const auto process : local_.processes()) {
        scheduler_.post(
            {Source::Kind::incoming, process, 0},
            [this, process, write] {
                receive(process, *write);
                if (trace_.on()) under_way_.reach(process, write);
                notify_contexts(0, process, *write);
            },
            0);
    }
}

/// Posts the `storage` events of a write, as HTML §12.2.1 "broadcast" says: to every other Storage
/// object of the area in the process, or in all processes if that is 0.
void EmulatedOrigin::notify_contexts(AreaId id, ProcessId process,
                                     const StorageArea::Write& write) {
    bool traced = false;
    for (std::size_t i = 0; i < contexts_.size(); ++i) {
        const auto context = static_cast<ContextId>(i + 1);
        const auto& receiver = contexts_[i];
        if (!receiver.alive || receiver.session == 0 || context == write.writer) continue;
        if (id != 0 && receiver.session != id) continue;
        if (process != 0 && agents_[receiver.agent - 1].process != process) continue;
        if (process != 0 && !traced) {
            traced = true;
            recorder_.trace(receiver.agent, Object::copy,
                            [&] { return "receives " + describe_change(write.change); });
            trace_.leave_out();
        }
        if (!write.changes) continue;
        post_in({Source::Kind::change, receiver.agent, 0}, context,
                [this, context, id, from = write.writer, change = write.change] {
                    recorder_.note(Object::alive, context, AccessKind::read);
                    event_.kind = OriginEvent::Kind::changed;
                    event_.context = context;
                    event_.from = from;
                    event_.area = id;
                    event_.change = change;
                    recorder_.trace(agent_of(context), Object::turn,
                                    [&] { return "is notified of " + describe_change(change); });
                });
    }
}

// --- Locks ---------------------------------------------------------------------------------------

/// Posts a message to the lock manager. The messages of one process stay in order, as in the lock
/// task queue of §2.2.
void EmulatedOrigin::to_manager(ContextId context, Action call) {
    note_memory(context);
    begin_step();
    scheduler_.post({Source::Kind::request, process(context), 0}, std::move(call), 0);
}

void EmulatedOrigin::request_lock(ContextId context, std::uint32_t number,
                                  LockManager::Request request) {
    request.id = request_id(context, number);
    request.client = context;
    request.tab = agent_of(context);
    if (trace_.on()) request.details = describe_mode(request) + trace_.take_place();
    to_manager(context, [this, asked = std::move(request)] {
        refused_ = false;
        locks(asked.client).request(asked);
        if (refused_) trace_refusal(asked);
    });
}

/// The released promise is resolved once the lock is released (§4.2). Browsers resolve it before
/// they queue the task of the next holder.
void EmulatedOrigin::release_lock(ContextId context, std::uint32_t number) {
    to_manager(context, [this, context, number] {
        to_context(Source::Kind::grant, context, OriginEvent::Kind::released, number);
        const auto id = request_id(context, number);
        // The lock manager notes the lock's name if it finds the lock, which may be stolen.
        if (!locks(context).holds(id)) recorder_.note(Object::locks, 0, AccessKind::read);
        locks(context).release(id);
    });
}

void EmulatedOrigin::abort_lock(ContextId context, std::uint32_t number) {
    to_manager(context, [this, context, number] {
        if (!locks(context).abort(request_id(context, number))) {
            // It is granted already, or refused.
            recorder_.note(Object::locks, 0, AccessKind::read);
            return;
        }
        to_context(Source::Kind::grant, context, OriginEvent::Kind::released, number);
    });
}

void EmulatedOrigin::query_locks(ContextId context, std::uint32_t number) {
    to_manager(context, [this, context, number] {
        post_in({Source::Kind::grant, agent_of(context), 0}, context,
                [this, context, number, state = locks(context).snapshot()] {
                    event_.kind = OriginEvent::Kind::snapshot;
                    event_.context = context;
                    event_.number = number;
                    event_.locks = state;
                });
    });
}

void EmulatedOrigin::granted(RequestId id) {
    to_context(Source::Kind::grant, context_of(id), OriginEvent::Kind::granted,
               number_of_request(id));
}
void EmulatedOrigin::not_available(RequestId id) {
    refused_ = true;
    to_context(Source::Kind::grant, context_of(id), OriginEvent::Kind::unavailable,
               number_of_request(id));
}
void EmulatedOrigin::stolen(RequestId id) {
    to_context(Source::Kind::grant, context_of(id), OriginEvent::Kind::stolen,
               number_of_request(id));
}

// --- Channels, time, tasks -----------------------------------------------------------------------

ChannelHub::EndpointId EmulatedOrigin::open_channel(ContextId context, std::string_view name) {
    note_memory(context);
    return channels_.open(context, name);
}

void EmulatedOrigin::close_channel(ChannelHub::EndpointId endpoint) {
    note_memory(owner_of(endpoint));
    channels_.close(endpoint);
}

/// Posts a message as HTML §9.5 postMessage() says. A page in the back/forward cache is not
/// eligible for messaging, and never receives the message. A frozen page receives it later.
std::size_t EmulatedOrigin::post(ContextId context, ChannelHub::EndpointId endpoint,
                                 double message) {
    note_memory(context);
    begin_step();
    std::size_t receivers = 0;
    for (const auto& [receiver, id] : channels_.receivers(channels_.name_of(endpoint), endpoint)) {
        if (agent(receiver).cached) continue;
        ++receivers;
        const Source source{Source::Kind::message, agent_of(receiver), process(context)};
        post_in(source, receiver, [this, receiver = receiver, id = id, context, message] {
            event_.kind = OriginEvent::Kind::message;
            event_.context = receiver;
            event_.from = context;
            event_.number = message;
            event_.endpoint = static_cast<double>(id);
        });
    }
    return receivers;
}

void EmulatedOrigin::jump(double delta_ms) {
    note_everything();
    clock_.jump(delta_ms);
    if (explored_) times_.pass(steps_ + 1, clock_.now_ms());
}

std::uint64_t EmulatedOrigin::start_timer(ContextId context, const Timer& timer) {
    note_memory(context);
    begin_step();
    const auto tab = agent_of(context);
    // The timer's number is known only once the timer is started.
    const auto number = std::make_shared<std::uint64_t>();
    auto due = [this, context, number, set_ms = timer.set_ms] {
        recorder_.trace(agent_of(context), Object::now, [set_ms] {
            return "its timer of " + std::to_string(static_cast<std::int64_t>(set_ms)) +
                   " ms is due";
        });
        to_context(Source::Kind::timer, context, OriginEvent::Kind::timer,
                   static_cast<double>(*number));
    };
    *number = clock_.start(tab, timer.delay_ms, std::move(due));
    return *number;
}

void EmulatedOrigin::cancel_timer(std::uint64_t timer) {
    recorder_.note(Object::tab, agents_[owner_of(timer) - 1].process, AccessKind::write);
    clock_.cancel(timer);
}

void EmulatedOrigin::post_task(ContextId context, Source::Kind kind, std::uint64_t peer,
                               double number) {
    note_memory(context);
    begin_step();
    post_in({kind, agent_of(context), peer}, context, [this, context, number] {
        event_.kind = OriginEvent::Kind::task;
        event_.context = context;
        event_.number = number;
    });
}

void EmulatedOrigin::to_context(Source::Kind kind, ContextId context, OriginEvent::Kind what,
                                double number) {
    post_in({kind, agent_of(context), 0}, context, [this, context, what, number] {
        event_.kind = what;
        event_.context = context;
        event_.number = number;
    });
}

void EmulatedOrigin::post_in(const Source& source, ContextId context, Action event) {
    const auto& receiver = contexts_[context - 1];
    if (receiver.alive && agents_[receiver.agent - 1].alive) {
        scheduler_.post(source, std::move(event), 0);
    }
}

}  // namespace tabacus::lab
