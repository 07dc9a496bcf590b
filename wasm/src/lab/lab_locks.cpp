// Web Locks as a tab of the laboratory sees them.
#include "lab_parts.hpp"

namespace tabacus::lab {

template <typename Words>
void LabTab::LabLocks::send(Words words) {
    auto& origin = tab_.origin_;
    origin.scheduler_.post({Source::Kind::request, tab_.id_, 0},
                           [&origin, words = std::move(words)] { words(origin.locks_); });
}

Async<std::unique_ptr<HeldLock>> LabTab::LabLocks::request(LockRequest request) {
    using Result = Async<std::unique_ptr<HeldLock>>;
    if (!tab_.alive_) return never<std::unique_ptr<HeldLock>>();
    if (!available()) return Result::failed(Error(ErrorCode::unavailable, "no Web Locks"));
    // §3.2.1: a signal that has aborted rejects before anything is queued.
    if (request.signal && request.signal->aborted()) {
        return Result::failed(Error(ErrorCode::lock_lost, "the request was aborted"));
    }
    const auto id = owned_id(tab_.id_, ++tab_.last_request_);
    auto async = waiting_[id].async();
    if (request.signal) request.signal->on_abort([this, id] { abort(id); });
    send([queued = LockManager::Request{id, tab_.id_, tab_.id_, std::move(request.name),
                                        request.mode, request.if_available, request.steal}](
             LockManager& manager) { manager.request(queued); });
    return async;
}

/// §3.2.1 "signal to abort the request": the promise is rejected at once, the queue hears later.
void LabTab::LabLocks::abort(RequestId id) {
    const auto found = waiting_.find(id);
    if (found == waiting_.end() || !tab_.alive_) return;
    const auto completer = found->second;
    waiting_.erase(found);
    send([id](LockManager& manager) { manager.abort(id); });
    completer.fail(std::make_exception_ptr(Error(ErrorCode::lock_lost, "the request was aborted")));
}

void LabTab::LabLocks::granted(RequestId id) {
    const auto found = waiting_.find(id);
    if (found == waiting_.end()) {
        // Aborted while the grant was on its way: nobody will hold it.
        send([id](LockManager& manager) { manager.release(id); });
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
    if (found != held_.end()) found->second->tell_lost();
}

Async<LockSnapshot> LabTab::LabLocks::query() {
    if (!tab_.alive_) return never<LockSnapshot>();
    Completer<LockSnapshot> completer;
    send([tab = &tab_, completer](LockManager& manager) {
        tab->in_tab(Source::Kind::grant,
                    [completer, snapshot = manager.snapshot()] { completer.complete(snapshot); });
    });
    return completer.async();
}

LabTab::LabHeldLock::~LabHeldLock() {
    locks_.held_.erase(id_);
    if (!locks_.tab_.alive_) return;
    locks_.send([id = id_](LockManager& manager) { manager.release(id); });
}

}  // namespace tabacus::lab
