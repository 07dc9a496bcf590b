#include "scheduler.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tabacus::lab {

bool runs_in_tab(Source::Kind kind) {
    return kind < Source::Kind::transaction || kind == Source::Kind::host;
}

std::string describe(const Source& source) {
    constexpr std::array<const char*, 13> names = {
        "script",      "inside",  "timer",    "database", "grant", "message", "change",
        "transaction", "request", "outgoing", "incoming", "clock", "host"};
    auto text =
        "tab " + std::to_string(source.tab) + " " + names.at(static_cast<std::size_t>(source.kind));
    if (source.peer != 0) text += " of " + std::to_string(source.peer);
    return text;
}

/// Returns the index of the source, or the index at which it would be inserted.
std::size_t Scheduler::find(const Source& source) const {
    const auto at = std::partition_point(
        sources_.begin(), sources_.end(),
        [key = key_of(source)](const Source& one) { return key_of(one) < key; });
    return static_cast<std::size_t>(at - sources_.begin());
}

bool Scheduler::has(const Source& source) const {
    const auto at = find(source);
    return at < sources_.size() && sources_[at] == source;
}

void Scheduler::post(const Source& source, Event event, std::uint64_t content) {
    // A transaction is posted once, by the last of the transactions that it waited for, so posting
    // it is no race.
    if (source.kind != Source::Kind::transaction) {
        recorder_->note(Object::queue, key_of(source), AccessKind::write);
    }
    const auto at = find(source);
    if (at == sources_.size() || sources_[at] != source) {
        const auto offset = static_cast<std::ptrdiff_t>(at);
        sources_.insert(sources_.begin() + offset, source);
        if (spare_.empty()) {
            queues_.emplace(queues_.begin() + offset);
        } else {
            queues_.insert(queues_.begin() + offset, std::move(spare_.back()));
            spare_.pop_back();
        }
    }
    queues_[at].events.emplace_back(std::move(event), step_, content);
}

void Scheduler::erase(std::size_t at) {
    const auto offset = static_cast<std::ptrdiff_t>(at);
    auto& queue = queues_[at];
    queue.events.clear();
    queue.head = 0;
    spare_.push_back(std::move(queue));
    sources_.erase(sources_.begin() + offset);
    queues_.erase(queues_.begin() + offset);
}

void Scheduler::clear() {
    while (!sources_.empty()) erase(sources_.size() - 1);
}

std::size_t Scheduler::pending(const Source& source) const {
    const auto at = find(source);
    return at < sources_.size() && sources_[at] == source ? queues_[at].size() : 0;
}

std::uint32_t Scheduler::cause(std::size_t at) const {
    const auto& queue = queues_[at];
    return queue.events[queue.head].cause;
}

Scheduler::Taken Scheduler::take(const Source& source) {
    const auto at = find(source);
    auto& queue = queues_[at];
    Taken taken = std::move(queue.events[queue.head++]);
    if (queue.size() == 0) erase(at);
    return taken;
}

void Scheduler::truncate(const Source& source, std::size_t kept) {
    const auto at = find(source);
    if (at == sources_.size() || sources_[at] != source || queues_[at].size() <= kept) return;
    if (kept == 0) {
        erase(at);
    } else {
        queues_[at].events.resize(queues_[at].head + kept);
    }
}

std::uint64_t Scheduler::digest() const {
    std::uint64_t sum = 0;
    for (std::size_t at = 0; at < sources_.size(); ++at) {
        Digest queue(key_of(sources_[at]));
        const auto& [events, head] = queues_[at];
        for (auto i = head; i < events.size(); ++i) queue.add(events[i].content);
        sum += queue.value();
    }
    return sum;
}

void Scheduler::drop(TabId tab) {
    for (auto at = sources_.size(); at > 0; --at) {
        const auto& source = sources_[at - 1];
        if (source.tab == tab && runs_in_tab(source.kind)) erase(at - 1);
    }
}

}  // namespace tabacus::lab
