#include "lock_manager.hpp"

#include <algorithm>

namespace tabacus::lab {
namespace {

LockInfo info_of(const LockManager::Request& request) {
    return {request.name, request.mode, std::to_string(request.client)};
}

template <typename Requests>
auto with_id(Requests& requests, RequestId id) {
    return std::find_if(requests.begin(), requests.end(),
                        [id](const auto& request) { return request.id == id; });
}

}  // namespace

void LockManager::note_lock(std::string_view name) const {
    recorder_->note(Object::lock, name, 0, AccessKind::write);
    recorder_->note(Object::locks, 0, AccessKind::bump);
}

void LockManager::trace(const Request& request, const char* what, std::string_view details) const {
    recorder_->trace(request.tab, Object::lock,
                     [&] { return what + (" " + request.name).append(details); });
}

void LockManager::request(Request request) {
    trace(request, "asks for the lock", request.details);
    const std::string name = request.name;
    note_lock(name);
    ++requests_;
    if (request.steal) {
        // §4.1: remove every held lock of the name and reject its released promise, then *prepend*
        // the request.
        ++steals_;
        take_from_holders(name);
        queue_.push_front(std::move(request));
    } else {
        // §4.1: if `ifAvailable` is set and the request is not grantable, the callback gets null
        // and nothing is queued.
        if (request.if_available && !grantable(request)) {
            listener_.not_available(request.id);
            return;
        }
        queue_.push_back(std::move(request));
    }
    process(name);
}

void LockManager::take_from_holders(std::string_view name) {
    std::vector<RequestId> previous;
    std::erase_if(held_, [&](const Request& lock) {
        if (lock.name == name) {
            previous.push_back(lock.id);
            trace(lock, "loses the lock");
        }
        return lock.name == name;
    });
    for (const auto id : previous) listener_.stolen(id);
}

/// Whether a held lock excludes the request: the second half of "grantable" (§2.5 "Lock Requests").
bool LockManager::held_against(const Request& request) const {
    return std::any_of(held_.begin(), held_.end(), [&](const Request& lock) {
        const bool both_share = lock.mode == LockMode::shared && request.mode == LockMode::shared;
        return lock.name == request.name && !both_share;
    });
}

/// Whether the request is "grantable" (§2.5). It must be the first request of its name: no request
/// overtakes, not even a shared one that could share the lock with its holders.
bool LockManager::grantable(const Request& request) const {
    const auto first = std::find_if(queue_.begin(), queue_.end(), [&](const Request& other) {
        return other.name == request.name;
    });
    return (first == queue_.end() || first->id == request.id) && !held_against(request);
}

/// Processes the lock request queue of a name (§4.4).
void LockManager::process(std::string_view name) {
    while (true) {
        const auto first = std::find_if(queue_.begin(), queue_.end(), [&](const Request& request) {
            return request.name == name;
        });
        if (first == queue_.end() || held_against(*first)) return;
        held_.push_back(std::move(*first));
        queue_.erase(first);
        trace(held_.back(), "is granted the lock");
        listener_.granted(held_.back().id);
    }
}

void LockManager::release(RequestId id) {
    const auto found = with_id(held_, id);
    if (found == held_.end()) return;
    const std::string name = found->name;
    note_lock(name);
    trace(*found, "has released the lock");
    held_.erase(found);
    process(name);
}

bool LockManager::abort(RequestId id) {
    const auto found = with_id(queue_, id);
    if (found == queue_.end()) return false;
    const std::string name = found->name;
    note_lock(name);
    queue_.erase(found);
    if (wakes_after_abort_) process(name);
    return true;
}

void LockManager::end(std::uint32_t client) {
    // §2.6: first abort each of the agent's requests, then release each of its locks, also the
    // locks that an abort has granted.
    std::vector<RequestId> waiting;
    std::vector<RequestId> holding;
    for (const auto& request : queue_) {
        if (request.client == client) waiting.push_back(request.id);
    }
    for (const auto id : waiting) abort(id);
    for (const auto& lock : held_) {
        if (lock.client == client) holding.push_back(lock.id);
    }
    for (const auto id : holding) release(id);
}

void LockManager::orphan(std::uint32_t client) {
    for (auto& lock : held_) {
        if (lock.client != client) continue;
        note_lock(lock.name);
        trace(lock, "is gone, but not the lock");
        lock.client = nobody;
    }
}

LockSnapshot LockManager::snapshot() const {
    recorder_->note(Object::locks, 0, AccessKind::read);
    LockSnapshot state;
    for (const auto& request : queue_) state.pending.push_back(info_of(request));
    for (const auto& lock : held_) state.held.push_back(info_of(lock));
    return state;
}

std::uint64_t LockManager::digest() const {
    std::uint64_t sum = 0;
    const auto add = [&sum](const auto& requests, std::uint64_t which) {
        const auto before = [&](std::size_t i, const auto& alike) {
            while (i-- > 0) {
                if (alike(requests[i])) return requests[i].id;
            }
            return which;
        };
        for (std::size_t i = 0; i < requests.size(); ++i) {
            const auto& one = requests[i];
            // Two orders matter: the order of a name's requests in the queue, and the order in
            // which the end of a client releases its locks.
            const auto of_name = before(i, [&](const auto& o) { return o.name == one.name; });
            const auto of_client = before(i, [&](const auto& o) { return o.client == one.client; });
            sum += lab::digest(
                std::string_view(one.name), one.id, of_name, of_client,
                std::uint64_t{one.mode == LockMode::shared} + (one.client == nobody ? 2U : 0U));
        }
    };
    add(held_, 1);
    add(queue_, 2);
    return sum;
}

bool LockManager::holds(RequestId id) const { return with_id(held_, id) != held_.end(); }

bool LockManager::holds_any(std::uint32_t client) const {
    for (const auto& request : queue_) {
        if (request.client == client) note_lock(request.name);
    }
    for (const auto& lock : held_) {
        if (lock.client == client) note_lock(lock.name);
    }
    return std::any_of(held_.begin(), held_.end(),
                       [client](const Request& lock) { return lock.client == client; });
}

}  // namespace tabacus::lab
