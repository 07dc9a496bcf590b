#include "storage_area.hpp"

#include <algorithm>

namespace tabacus::lab {
namespace {

/// The number of writes that a crash of the browser can take back. The bound keeps long runs small.
/// No scenario makes more writes between two moments that it compares.
constexpr std::size_t unsettled_max = 16;

}  // namespace

void StorageArea::put(Values& values, Sums& sums, Values::iterator at, const std::string& key,
                      const std::optional<std::string>& value) {
    const bool held = at != values.end();
    sums.digest.reset();
    auto& bytes = sums.bytes;
    if (held && bytes) *bytes -= at->first.size() + at->second.size();
    if (value && bytes) *bytes += key.size() + value->size();
    if (held && value) {
        at->second = *value;
    } else if (held) {
        values.erase(at);
    } else if (value) {
        values.emplace(key, *value);
    }
}

void StorageArea::apply_change(Values& values, Sums& sums, const StorageChange& change) {
    if (change.key)
        return put(values, sums, values.find(*change.key), *change.key, change.new_value);
    values.clear();
    sums = {.bytes = 0};
}

std::uint64_t digest_of(const StorageChange& change) {
    Digest all;
    for (const auto* part : {&change.key, &change.old_value, &change.new_value}) {
        all.add(part->has_value() ? 1 : 0).add(std::string_view(part->value_or("")));
    }
    return all.value();
}

std::string describe_change(const StorageChange& change) {
    if (!change.key) return "clear()";
    return *change.key + " = " + change.new_value.value_or("nothing");
}

/// Notes an access to what the process sees under a key.
void StorageArea::note(ProcessId process, std::string_view key, AccessKind access) const {
    if (model_ == StorageModel::cached) {
        recorder_->note(Object::copy, key, process, access);
    } else {
        recorder_->note(Object::item, key, 0, access);
    }
}

void StorageArea::note_keys(ProcessId process, AccessKind access) const {
    if (model_ == StorageModel::cached) {
        recorder_->note(Object::copied, process, access);
    } else {
        recorder_->note(Object::items, 0, access);
    }
}

/// Notes an access to everything that the process sees. It need not cover missing keys, because a
/// step that adds a key also notes note_keys().
void StorageArea::note_everything(ProcessId process, AccessKind access) const {
    note_keys(process, access);
    const auto found = processes_.find(process);
    if (model_ != StorageModel::cached) {
        for (const auto& [key, value] : values_) note(process, key, access);
    } else if (found != processes_.end()) {
        for (const auto& [key, value] : found->second.copy) note(process, key, access);
        for (const auto& [key, own] : found->second.awaited) note(process, key, access);
    }
}

void StorageArea::start(ProcessId process) {
    auto& started = processes_[process];
    started.copy = values_;
    started.sums = {.bytes = sums_.bytes};
}

std::vector<ProcessId> StorageArea::processes() const {
    recorder_->note(Object::processes, 0, AccessKind::read);
    std::vector<ProcessId> ids;
    ids.reserve(processes_.size());
    for (const auto& [id, process] : processes_) ids.push_back(id);
    return ids;
}

const StorageArea::Values& StorageArea::seen_by(ProcessId process) const {
    return model_ == StorageModel::cached ? processes_.at(process).copy : values_;
}

const std::string* StorageArea::find(ProcessId process, std::string_view key) const {
    note(process, key, AccessKind::read);
    const auto& values = seen_by(process);
    const auto found = values.find(key);
    return found == values.end() ? nullptr : &found->second;
}

std::optional<std::string> StorageArea::get(ProcessId process, std::string_view key) const {
    const auto* const found = find(process, key);
    recorder_->observe(
        [&] { return found == nullptr ? 1 : lab::digest(std::string_view(*found)); });
    if (found == nullptr) return std::nullopt;
    return *found;
}

std::vector<std::string> StorageArea::keys(ProcessId process, std::string_view prefix) const {
    note_keys(process, AccessKind::read);
    std::vector<std::string> found;
    const auto& values = seen_by(process);
    for (auto it = values.lower_bound(prefix); it != values.end() && it->first.starts_with(prefix);
         ++it) {
        found.push_back(it->first);
        recorder_->observe([&] { return lab::digest(std::string_view(it->first)); });
    }
    recorder_->observe([&] { return std::uint64_t{found.size()}; });
    return found;
}

void StorageArea::check_quota(const Values& values, Sums& sums, Values::const_iterator at,
                              std::string_view key, std::string_view value) const {
    if (!quota_bytes_) return;
    auto& bytes = sums.bytes;
    if (!bytes) {
        bytes = 0;
        for (const auto& [other, text] : values) *bytes += other.size() + text.size();
    }
    const auto replaced = at == values.end() ? 0 : key.size() + at->second.size();
    const bool full = *bytes - replaced + key.size() + value.size() > *quota_bytes_;
    recorder_->observe([full] { return full ? std::uint64_t{2} : std::uint64_t{3}; });
    if (full) {
        throw Error(ErrorCode::quota_exceeded, "localStorage is full");
    }
}

std::optional<StorageArea::Write> StorageArea::set(ProcessId process, std::uint32_t writer,
                                                   std::string_view key,
                                                   std::optional<std::string_view> value) {
    note(process, key, AccessKind::read);
    auto* const own = model_ == StorageModel::cached ? &processes_.at(process) : nullptr;
    auto& values = own != nullptr ? own->copy : values_;
    auto& sums = own != nullptr ? own->sums : sums_;
    const auto at = values.find(key);
    const bool held = at != values.end();
    // HTML §12.2.1: setItem() with an equal value changes nothing and fires no event, nor does the
    // removal of a missing key. But the copy may differ from the area: if an equal value is sent
    // nevertheless, it may undo a write that the copy has not received yet.
    const bool equal = held ? value == at->second : !value;
    const bool blind = own != nullptr && equal_writes_ == EqualWrites::sent;
    if (equal && !(value && blind)) return std::nullopt;
    // The writes that a process waits for are a part of what it sees under the key.
    note(process, key, AccessKind::write);
    if (!value || !held || quota_bytes_) note_keys(process, AccessKind::write);
    recorder_->note(Object::database, 0, AccessKind::read);
    if (value && !equal) check_quota(values, sums, at, key, *value);
    Write write{process, writer, {std::string(key), std::nullopt, std::nullopt}};
    // The area may hold another value than the copy, so send() sets the old value.
    if (held && !blind) write.change.old_value = at->second;
    if (value) write.change.new_value.emplace(*value);
    if (own != nullptr) {
        put(values, sums, at, *write.change.key, write.change.new_value);
        auto& awaited = own->awaited[*write.change.key];
        ++awaited.writes;
        awaited.latest = write.change.new_value;
    }
    return write;
}

StorageArea::Write StorageArea::clear(ProcessId process, std::uint32_t writer) {
    note_everything(process);
    if (model_ == StorageModel::cached) {
        auto& own = processes_.at(process);
        apply_change(own.copy, own.sums, {});
    }
    return {process, writer, {}};
}

/// A change fires an event (HTML §12.2.1). The area decides whether the write is a change, or, if
/// equal writes are dropped, the writer has decided.
StorageArea::Write StorageArea::send(Write write) {
    if (model_ == StorageModel::cached) recorder_->note(Object::area, 0, AccessKind::write);
    auto& [key, old_value, new_value] = write.change;
    if (key && equal_writes_ == EqualWrites::sent) {
        const auto found = values_.find(*key);
        old_value = found == values_.end() ? std::nullopt : std::optional(found->second);
        write.changes = old_value != new_value;
    } else if (!key) {
        write.changes = !values_.empty();
    }
    if (!write.changes) return write;
    if (keeps_unsettled_) before_.push_back(values_);
    if (before_.size() > unsettled_max) before_.pop_front();
    apply_change(values_, sums_, write.change);
    return write;
}

void StorageArea::receive(ProcessId process, const Write& write) {
    if (model_ != StorageModel::cached) return;
    if (write.change.key) {
        note(process, *write.change.key, AccessKind::write);
        note_keys(process, AccessKind::write);
    } else {
        note_everything(process);
    }
    const auto found = processes_.find(process);
    if (found == processes_.end()) return;
    if (write.process != process) return receive_from_other(found->second, write.change);
    if (!write.change.key) return;
    auto& awaited = found->second.awaited;
    const auto waiting = awaited.find(*write.change.key);
    if (waiting != awaited.end() && --waiting->second.writes == 0) awaited.erase(waiting);
}

void StorageArea::receive_from_other(Process& process, const StorageChange& change) {
    auto& [copy, sums, awaited] = process;
    if (change.key) {
        if (!awaited.contains(*change.key)) apply_change(copy, sums, change);
        return;
    }
    copy.clear();
    sums = {};
    for (const auto& [key, own] : awaited) {
        if (own.latest) copy.insert_or_assign(key, *own.latest);
    }
}

namespace {

std::uint64_t digest_of(std::uint64_t owner, const StorageArea::Values& values) {
    std::uint64_t sum = 0;
    for (const auto& [key, value] : values) {
        sum += digest(owner, std::string_view(key), std::string_view(value));
    }
    return sum;
}

}  // namespace

std::uint64_t StorageArea::digest(bool with_disk) const {
    const auto known = [](Sums& sums, std::uint64_t owner, const Values& values) {
        if (!sums.digest) sums.digest = digest_of(owner, values);
        return *sums.digest;
    };
    auto sum = known(sums_, 0, values_) + mixed(quota_bytes_.value_or(UINT64_MAX));
    for (const auto& [id, process] : processes_) {
        sum += mixed(id) + known(process.sums, id, process.copy);
        for (const auto& [key, own] : process.awaited) {
            sum += lab::digest(id, std::string_view(key), static_cast<std::uint64_t>(own.writes),
                               own.latest ? 1U : 0U, std::string_view(own.latest.value_or("")));
        }
    }
    if (with_disk) {
        Digest disk;
        for (const auto& values : before_) disk.add(digest_of(0, values));
        sum += disk.value();
    }
    return sum;
}

void StorageArea::wipe() {
    recorder_->note(Object::area, 0, AccessKind::write);
    recorder_->note(Object::items, 0, AccessKind::write);
    for (const auto& [id, process] : processes_) note_everything(id);
    values_.clear();
    sums_ = {};
    before_.clear();
    for (auto& [id, process] : processes_) process = {};
}

void StorageArea::forget_latest(std::size_t lost) {
    for (; lost > 0 && !before_.empty(); --lost) {
        values_ = std::move(before_.back());
        sums_ = {};
        before_.pop_back();
    }
    before_.clear();
}

void StorageArea::overwrite(const std::string& key, std::optional<std::string> value) {
    const StorageChange change{key, std::nullopt, std::move(value)};
    recorder_->note(Object::area, 0, AccessKind::write);
    recorder_->note(Object::item, key, 0, AccessKind::write);
    recorder_->note(Object::items, 0, AccessKind::write);
    apply_change(values_, sums_, change);
    for (auto& [id, process] : processes_) {
        note(id, key, AccessKind::write);
        note_keys(id, AccessKind::write);
        apply_change(process.copy, process.sums, change);
    }
}

}  // namespace tabacus::lab
