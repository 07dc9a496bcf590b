// The lines of an emulated origin's trace that need its state.
#include "emulated_origin.hpp"

namespace tabacus::lab {

std::string EmulatedOrigin::describe_mode(const LockManager::Request& request) {
    return std::string(request.mode == LockMode::shared ? ", shared" : ", exclusive") +
           (request.if_available ? ", with ifAvailable" : "") +
           (request.steal ? ", with steal" : "");
}

std::string EmulatedOrigin::holder_of(const LockManager& locks, std::string_view name) const {
    for (const auto& lock : locks.snapshot().held) {
        if (lock.name != name) continue;
        const auto context = static_cast<ContextId>(std::stoul(lock.client_id));
        if (context > contexts_.size()) return ", which nobody holds any more";
        return ", which " + trace_.name_of(agent_of(context)) + " holds";
    }
    return "";
}

void EmulatedOrigin::trace_refusal(const LockManager::Request& request) {
    if (!trace_.on()) return;
    trace_.add(
        {request.tab, Object::lock,
         "is refused the lock " + request.name + holder_of(locks(request.client), request.name)});
}

void EmulatedOrigin::trace_waiting_requests() {
    for (const auto& manager : locks_) {
        for (const auto& request : manager.snapshot().pending) {
            const auto context = static_cast<ContextId>(std::stoul(request.client_id));
            trace_.add({agent_of(context), Object::lock,
                        "waits for the lock " + request.name + holder_of(manager, request.name)});
        }
    }
}

std::optional<WritesUnderWay::Unseen> EmulatedOrigin::unseen_write(ContextId context,
                                                                   std::string_view key) const {
    const auto& values = local_.seen_by(process(context));
    const auto found = values.find(key);
    return under_way_.unseen(process(context), key,
                             found == values.end() ? std::nullopt : std::optional(found->second));
}

}  // namespace tabacus::lab
