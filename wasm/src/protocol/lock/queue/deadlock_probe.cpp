#include "deadlock_probe.hpp"

#include <algorithm>
#include <list>
#include <utility>

#include "protocol/common/record.hpp"
#include "protocol/lock/lock_queue.hpp"

namespace tabacus {
namespace {

/// Most waits are over after this time.
constexpr double probe_after_ms = 20;
/// A probe is sent again, because a message may be lost and a cycle may close after a probe.
constexpr double probe_again_ms = 1'000;
constexpr double probe_again_last_ms = 10'000;

/// A path begins with "1" if its sender is suspected, or "2" if it is confirming. The fields of
/// each wait follow.
constexpr std::size_t fields_of_wait = 3;  // id, label, the name of the lock that is waited for
constexpr std::size_t path_max = 64;

bool is_within(const Grant* grant, const std::shared_ptr<Grant>& innermost) {
    for (auto outer = innermost.get(); outer; outer = outer->within.get()) {
        if (outer == grant) return true;
    }
    return false;
}

/// Returns the label of the request, or else that of the innermost grant around it that has one.
std::string label_of(const LockOptions& asked) {
    auto label = asked.label;
    for (auto outer = asked.within.get(); outer && label.empty(); outer = outer->within.get()) {
        label = outer->label;
    }
    return label;
}

/// Describes the cycle by the labels and names that the application has given, for its developer.
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

std::string DeadlockProbe::id_of(const AcquireRequest& request) const {
    auto number = format_decimal(static_cast<std::int64_t>(request.id));
    // Ids are compared as texts, so all must have the same length.
    number.insert(0, 20 - std::min<std::size_t>(number.size(), 20), '0');
    return lock_.context.epochs.tab() + "." + number;
}

Task<void> DeadlockProbe::send_repeatedly(AcquireRequestPtr request) {
    double pause_ms = probe_after_ms;
    while (true) {
        co_await lock_.clock().sleep(pause_ms);
        if (request->ended) co_return;
        send(*request, false);
        pause_ms = std::clamp(pause_ms * 2, probe_again_ms, probe_again_last_ms);
    }
}

void DeadlockProbe::send(const AcquireRequest& request, bool confirming) {
    pass_on({LockMessage::Kind::probe,
             lock_.key,
             lock_.context.epochs.tab(),
             {confirming ? "2" : "1", id_of(request), label_of(request.options), lock_.name}});
}

/// Sends the message to every tab, this one among them.
void DeadlockProbe::pass_on(const LockMessage& message) {
    auto& context = lock_.context;
    context.messages.post(message.kind, message.key, message.detail);
    const auto found = context.queues.find(message.key);
    if (found != context.queues.end()) std::shared_ptr(found->second)->on_message(message);
}

void DeadlockProbe::on_probe(const LockMessage& message) {
    const auto& path = message.detail;
    if (path.size() < 1 + fields_of_wait || (path.size() - 1) % fields_of_wait != 0) return;
    if (path.size() > path_max * fields_of_wait) return;
    const auto held = holds_.holders();
    if (held.empty()) return;
    const auto queues = lock_.context.queues;
    for (const auto& [key, queue] : queues) queue->probe().follow(held, path);
}

void DeadlockProbe::follow(const std::vector<std::shared_ptr<Grant>>& held,
                           const std::vector<std::string>& path) {
    const auto requests = requests_.all();
    for (const auto& request : requests) {
        if (request->ended || !request->options.within) continue;
        const bool holds = std::any_of(held.begin(), held.end(), [&](const auto& grant) {
            return is_within(grant.get(), request->options.within);
        });
        if (holds) extend(request, path);
    }
}

/// Adds the request to the path and sends the probe on. Requires that the last request of the path
/// waits for a grant within which `request` was made.
void DeadlockProbe::extend(const AcquireRequestPtr& request, const std::vector<std::string>& path) {
    const auto id = id_of(*request);
    if (id == path[1]) {
        on_returned(request, path);
        return;
    }
    std::vector<std::string> longer = path;
    for (std::size_t i = 1; i < path.size(); i += fields_of_wait) {
        if (path[i] == id) return;  // a cycle without the sender: a member of it finds it
    }
    longer.insert(longer.end(), {id, label_of(request->options), lock_.name});
    pass_on({LockMessage::Kind::probe, lock_.key, lock_.context.epochs.tab(), std::move(longer)});
}

void DeadlockProbe::on_returned(const AcquireRequestPtr& request,
                                const std::vector<std::string>& path) {
    std::string victim = path[1];
    std::string where = path[3];
    for (std::size_t i = 1; i < path.size(); i += fields_of_wait) {
        if (path[i] <= victim) continue;
        victim = path[i];
        where = path[i + 2];
    }
    if (victim != path[1]) {
        pass_on({LockMessage::Kind::victim, escaped(where), lock_.context.epochs.tab(), {victim}});
    } else if (path[0] == "2") {
        driver_.refuse(request, Error(ErrorCode::deadlock, describe(path)));
    } else {
        send(*request, true);
    }
}

void DeadlockProbe::on_victim(const LockMessage& message) {
    if (message.detail.size() != 1) return;
    for (const auto& request : std::list(requests_.all())) {
        if (!request->ended && id_of(*request) == message.detail[0]) send(*request, false);
    }
}

}  // namespace tabacus
