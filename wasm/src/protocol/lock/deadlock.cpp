// Cycles of waiting, over tabs: Chandy, Misra and Haas, "Distributed Deadlock Detection" (ACM TOCS
// 1983), for requests that wait for all holders of a lock.
//
// That a holder waits is known only where the caller passes it: a request made within a held lock.
// Such a request, when it has waited for a moment, sends a probe after the lock it waits for; every
// tab that has a holder of that lock, which itself waits within it, sends the probe on. A probe
// that comes home has gone round a cycle. Of a cycle the request with the greatest id is the
// victim, whoever found it; it probes twice before it gives up, since a request on the way may have
// ended by a timeout meanwhile. Not seen: a wait for those ahead in the queue, rather than for
// holders; timeouts end that.
#include <algorithm>

#include "lock_queue.hpp"

namespace tabacus {
namespace {

/// Most waits are over by then.
constexpr double probe_after_ms = 20;
/// Again, for a message that was lost and for cycles that closed unseen.
constexpr double probe_again_ms = 1'000;
constexpr double probe_again_last_ms = 10'000;

constexpr std::size_t fields_of_wait = 3;  // id, label, the name of the lock that is waited for
constexpr std::size_t path_max = 64;

bool is_within(const Grant* grant, const std::shared_ptr<Grant>& innermost) {
    for (auto outer = innermost.get(); outer; outer = outer->within.get()) {
        if (outer == grant) return true;
    }
    return false;
}

/// Its own, or that of what it is asked under.
std::string label_of(const LockOptions& asked) {
    auto label = asked.label;
    for (auto outer = asked.within.get(); outer && label.empty(); outer = outer->within.get()) {
        label = outer->label;
    }
    return label;
}

/// Both labels and names are the application's: this is for its developer.
std::string describe(const std::vector<std::string>& path) {
    std::string text = "each waits for a lock that the next one holds: ";
    for (std::size_t i = 1; i + fields_of_wait <= path.size(); i += fields_of_wait) {
        if (i > 1) text += ", ";
        text += (path[i + 1].empty() ? "a request without a label" : "'" + path[i + 1] + "'") +
                " waits for '" + path[i + 2] + "'";
    }
    return text;
}

}  // namespace

std::string LockQueue::id_of(const AcquireRequest& request) const {
    auto number = std::to_string(request.id);
    // Compared as texts: of equal lengths.
    number.insert(0, 20 - std::min<std::size_t>(number.size(), 20), '0');
    return context_.epochs.tab() + "." + number;
}

Task<void> LockQueue::probe(RequestPtr request) {
    const auto self = weak_from_this();
    double pause_ms = probe_after_ms;
    while (true) {
        co_await context_.world.clock().sleep(pause_ms);
        if (self.expired() || request->ended) co_return;
        send_probe(*request, false);
        pause_ms = std::clamp(pause_ms * 2, probe_again_ms, probe_again_last_ms);
    }
}

void LockQueue::send_probe(const AcquireRequest& request, bool confirming) {
    pass_on({LockMessage::Kind::probe,
             key_,
             context_.epochs.tab(),
             {confirming ? "2" : "1", id_of(request), label_of(request.options), name_}});
}

/// Sends the message to every tab, and to this one as to any other.
void LockQueue::pass_on(LockMessage message) {
    context_.post(message.kind, message.key, message.detail);
    const auto found = context_.queues.find(message.key);
    if (found != context_.queues.end()) std::shared_ptr(found->second)->on_message(message);
}

/// Follows the probe from the holders of this lock in this tab that wait themselves.
void LockQueue::on_probe(const LockMessage& message) {
    const auto& path = message.detail;
    if (path.size() < 1 + fields_of_wait || (path.size() - 1) % fields_of_wait != 0) return;
    if (path.size() > path_max * fields_of_wait) return;
    const auto held = holders();
    if (held.empty()) return;
    const auto queues = context_.queues;
    for (const auto& [key, queue] : queues) {
        const auto requests = queue->waiting_;
        for (const auto& request : requests) {
            if (request->ended || !request->options.within) continue;
            const bool holds = std::any_of(held.begin(), held.end(), [&](const auto& grant) {
                return is_within(grant.get(), request->options.within);
            });
            if (holds) queue->follow(request, path);
        }
    }
}

/// `waiter`, of this queue, holds what the last of the path waits for.
void LockQueue::follow(const RequestPtr& request, const std::vector<std::string>& path) {
    const auto id = id_of(*request);
    if (id == path[1]) {
        on_probe_returned(request, path);
        return;
    }
    std::vector<std::string> longer = path;
    for (std::size_t i = 1; i < path.size(); i += fields_of_wait) {
        if (path[i] == id) return;  // a cycle that the sender is not part of: not its business
    }
    longer.insert(longer.end(), {id, label_of(request->options), name_});
    pass_on({LockMessage::Kind::probe, key_, context_.epochs.tab(), std::move(longer)});
}

void LockQueue::on_probe_returned(const RequestPtr& request, const std::vector<std::string>& path) {
    std::string victim = path[1];
    std::string where = path[3];
    for (std::size_t i = 1; i < path.size(); i += fields_of_wait) {
        if (path[i] <= victim) continue;
        victim = path[i];
        where = path[i + 2];
    }
    if (victim != path[1]) {
        pass_on({LockMessage::Kind::victim, escaped(where), context_.epochs.tab(), {victim}});
    } else if (path[0] == "2") {
        refuse(request, Error(ErrorCode::deadlock, describe(path)));
    } else {
        send_probe(*request, true);
    }
}

void LockQueue::on_victim(const LockMessage& message) {
    if (message.detail.size() != 1) return;
    for (const auto& request : std::list(waiting_)) {
        if (!request->ended && id_of(*request) == message.detail[0]) send_probe(*request, false);
    }
}

}  // namespace tabacus
