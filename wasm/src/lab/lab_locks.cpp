// The part of a LabTab for Web Locks.
#include <algorithm>

#include "lab_parts.hpp"

namespace tabacus::lab {

namespace {

/// Sorts a snapshot by name, so that states are equal if they differ only in the order of locks
/// with different names. No protocol may depend on that order.
void sort_by_name(LockSnapshot& snapshot) {
    for (auto* infos : {&snapshot.held, &snapshot.pending}) {
        std::stable_sort(infos->begin(), infos->end(),
                         [](const auto& a, const auto& b) { return a.name < b.name; });
    }
}

/// Reduces a snapshot to what probes of these names find out.
void keep_probed(LockSnapshot& snapshot, const std::vector<std::string>& probed) {
    snapshot.complete = false;
    snapshot.pending.clear();
    std::vector<LockInfo> found;
    for (const auto& name : probed) {
        const auto held = std::ranges::find(snapshot.held, name, &LockInfo::name);
        if (held != snapshot.held.end()) found.push_back({name, held->mode, ""});
    }
    snapshot.held = std::move(found);
}

std::uint64_t digest_of(const LockSnapshot& snapshot) {
    Digest all;
    all.add(std::uint64_t{snapshot.complete});
    for (const auto* infos : {&snapshot.held, &snapshot.pending}) {
        all.add(infos->size());
        for (const auto& info : *infos) {
            all.add(std::string_view(info.name))
                .add(static_cast<std::uint64_t>(info.mode))
                .add(std::string_view(info.client_id));
        }
    }
    return all.value();
}

}  // namespace

template <typename Call>
void LabTab::LabLocks::send(Call call, Message message, std::uint64_t about) {
    auto& origin = tab_.origin_;
    origin.scheduler_.post(
        {Source::Kind::request, tab_.id_, 0},
        [&manager = origin.locks(tab_), call = std::move(call)] { call(manager); },
        lab::digest(static_cast<std::uint64_t>(message), about));
}

Async<std::unique_ptr<HeldLock>> LabTab::LabLocks::request(LockRequest request) {
    using Result = Async<std::unique_ptr<HeldLock>>;
    if (!tab_.alive_) return never<std::unique_ptr<HeldLock>>();
    if (!available()) return Result::failed(Error(ErrorCode::unavailable, "no Web Locks"));
    // §3.2.1: with an aborted signal, the promise is rejected before anything is queued.
    if (request.signal && request.signal->aborted()) {
        return Result::failed(Error(ErrorCode::lock_lost, "the request was aborted"));
    }
    const auto id = owned_id(tab_.id_, ++tab_.last_request_);
    auto async = waiting_[id].async();
    if (request.signal) request.signal->on_abort([this, id] { abort(id); });
    const auto about =
        lab::digest(id, std::string_view(request.name), static_cast<std::uint64_t>(request.mode),
                    (request.if_available ? 1U : 0U) | (request.steal ? 2U : 0U));
    send([queued = LockManager::Request{id, tab_.id_, tab_.id_, std::move(request.name),
                                        request.mode, request.if_available, request.steal}](
             LockManager& manager) { manager.request(queued); },
         Message::request, about);
    return async;
}

/// Does what §3.2.1 "signal to abort the request" says: the promise is rejected at once, and the
/// lock manager receives the abort later.
void LabTab::LabLocks::abort(RequestId id) {
    const auto found = waiting_.find(id);
    if (found == waiting_.end() || !tab_.alive_) return;
    const auto completer = found->second;
    waiting_.erase(found);
    send([id](LockManager& manager) { manager.abort(id); }, Message::abort, id);
    completer.fail(std::make_exception_ptr(Error(ErrorCode::lock_lost, "the request was aborted")));
}

void LabTab::LabLocks::granted(RequestId id) {
    const auto found = waiting_.find(id);
    if (found == waiting_.end()) {
        // The request was aborted while the grant was on its way, so the lock is released.
        send([id](LockManager& manager) { manager.release(id); }, Message::release, id);
        return;
    }
    const auto completer = found->second;
    waiting_.erase(found);
    completer.complete(std::make_unique<LabHeldLock>(*this, id));
}

void LabTab::LabLocks::not_available(RequestId id) {
    const auto found = waiting_.find(id);
    if (found == waiting_.end()) return;
    const auto completer = found->second;
    waiting_.erase(found);
    completer.complete(nullptr);
}

void LabTab::LabLocks::stolen(RequestId id) {
    const auto found = held_.find(id);
    if (found != held_.end()) found->second->notify_lost();
}

Async<LockSnapshot> LabTab::LabLocks::query(const std::vector<std::string>& probed) {
    if (!tab_.alive_) return never<LockSnapshot>();
    const bool refused = !tab_.platform_.lock_queries;
    if (refused && probed.empty()) {
        return Async<LockSnapshot>::failed(
            Error(ErrorCode::unavailable, "the browser refuses to tell which locks are held"));
    }
    Completer<LockSnapshot> completer;
    send(
        [tab = &tab_, completer, refused, probed](LockManager& manager) {
            auto snapshot = manager.snapshot();
            if (refused) keep_probed(snapshot, probed);
            sort_by_name(snapshot);
            tab->in_tab(
                Source::Kind::grant, [completer, snapshot] { completer.complete(snapshot); },
                digest_of(snapshot));
        },
        Message::query, 0);
    return completer.async();
}

Async<Unit> LabTab::LabLocks::probe() {
    if (!tab_.alive_) return never<Unit>();
    Completer<Unit> completer;
    send(
        [tab = &tab_, completer](LockManager& manager) {
            // As js/host/lock-probe.js does, which makes no frame if the database was never closed.
            const bool cut_off = tab->database_->was_closed() && &manager != &tab->origin_.locks();
            tab->in_tab(
                Source::Kind::grant,
                [completer, cut_off] {
                    if (cut_off) {
                        completer.fail(std::make_exception_ptr(
                            Error(ErrorCode::unavailable, "new tabs have another lock manager")));
                    } else {
                        completer.complete({});
                    }
                },
                lab::digest(std::uint64_t{cut_off}));
        },
        Message::probe, 0);
    return completer.async();
}

LabTab::LabHeldLock::~LabHeldLock() {
    locks_.held_.erase(id_);
    if (!locks_.tab_.alive_) return;
    locks_.send([id = id_](LockManager& manager) { manager.release(id); },
                LabLocks::Message::release, id_);
}

}  // namespace tabacus::lab
