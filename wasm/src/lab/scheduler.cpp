#include "scheduler.hpp"

#include <array>
#include <utility>

namespace tabacus::lab {

bool runs_in_tab(Source::Kind kind) { return kind < Source::Kind::transaction; }

std::string describe(const Source& source) {
    constexpr std::array<const char*, 12> names = {"script",  "inside",   "timer",    "database",
                                                   "grant",   "message",  "change",   "transaction",
                                                   "request", "outgoing", "incoming", "clock"};
    auto text =
        "tab " + std::to_string(source.tab) + " " + names.at(static_cast<std::size_t>(source.kind));
    if (source.peer != 0) text += " of " + std::to_string(source.peer);
    return text;
}

std::vector<Source> Scheduler::sources() const {
    std::vector<Source> found;
    found.reserve(queues_.size());
    for (const auto& [source, queue] : queues_) found.push_back(source);
    return found;
}

std::size_t Scheduler::pending(const Source& source) const {
    const auto found = queues_.find(source);
    return found == queues_.end() ? 0 : found->second.size();
}

Scheduler::Event Scheduler::take(const Source& source) {
    const auto found = queues_.find(source);
    Event event = std::move(found->second.front());
    found->second.pop_front();
    if (found->second.empty()) queues_.erase(found);
    return event;
}

void Scheduler::truncate(const Source& source, std::size_t kept) {
    const auto found = queues_.find(source);
    if (found == queues_.end() || found->second.size() <= kept) return;
    if (kept == 0) {
        queues_.erase(found);
    } else {
        found->second.resize(kept);
    }
}

void Scheduler::drop(TabId tab) {
    std::erase_if(queues_, [tab](const auto& entry) {
        return entry.first.tab == tab && runs_in_tab(entry.first.kind);
    });
}

}  // namespace tabacus::lab
