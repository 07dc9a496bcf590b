#include "trace_hash.hpp"

namespace tabacus::lab {
namespace {

/// Returns a number for an access to an object. It differs for each kind of access, and depends on
/// the earlier steps that conflict with it.
std::uint64_t part(std::uint64_t object, AccessKind access, const TraceHash::Sums& sums) {
    auto before = sums.writes;
    if (access != AccessKind::read) before += mixed(sums.reads + 1);
    if (access != AccessKind::bump) before += mixed(sums.bumps + 2);
    return mixed(mixed(object + static_cast<std::uint64_t>(access)) ^ before);
}

/// Returns a number for a process that no object has, because there are few kinds of objects.
std::uint64_t object_of_process(std::uint64_t process) { return ~process; }

}  // namespace

std::uint64_t TraceHash::add(std::uint64_t process, std::uint64_t cause, const Footprint& footprint,
                             Changes& changes) {
    const auto self = object_of_process(process);
    auto event = mixed(cause + 1) + part(self, AccessKind::write, sums_[find(self)]);
    for (const auto& one : footprint) {
        event += part(one.object, one.access, sums_[find(one.object)]);
    }
    event = mixed(event);
    record(self, AccessKind::write, event, changes);
    for (const auto& one : footprint) record(one.object, one.access, event, changes);
    return event;
}

void TraceHash::record(std::uint64_t object, AccessKind access, std::uint64_t event,
                       Changes& changes) {
    const auto at = find(object);
    auto& sums = sums_[at];
    changes.push_back({at, sums});
    if (access == AccessKind::read) sums.reads += event;
    if (access == AccessKind::bump) sums.bumps += event;
    if (access == AccessKind::write) sums.writes += event;
}

void TraceHash::undo(Changes& changes) {
    for (; !changes.empty(); changes.pop_back()) sums_[changes.back().at] = changes.back().sums;
}

std::uint32_t TraceHash::find(std::uint64_t object) {
    const auto mask = slots_.size() - 1;
    auto i = static_cast<std::size_t>(mixed(object)) & mask;
    for (; slots_[i].at != 0; i = (i + 1) & mask) {
        if (slots_[i].object == object) return slots_[i].at;
    }
    if (sums_.size() * 2 > slots_.size()) {
        grow();
        return find(object);
    }
    slots_[i] = {object, static_cast<std::uint32_t>(sums_.size())};
    sums_.emplace_back();
    return slots_[i].at;
}

void TraceHash::grow() {
    auto old = std::vector<Slot>(slots_.size() * 2);
    old.swap(slots_);
    const auto mask = slots_.size() - 1;
    for (const auto& slot : old) {
        if (slot.at == 0) continue;
        auto i = static_cast<std::size_t>(mixed(slot.object)) & mask;
        while (slots_[i].at != 0) i = (i + 1) & mask;
        slots_[i] = slot;
    }
}

}  // namespace tabacus::lab
