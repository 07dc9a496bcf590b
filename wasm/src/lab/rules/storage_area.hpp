// StorageArea: one origin's localStorage, under one of three models of who sees what when.
//
// - mutexed: the storage mutex that HTML once asked for; a turn is atomic.
// - interleaved: each operation is atomic and at once visible to everyone.
// - cached: what browsers do (docs/decisions/0001). A process reads and writes a copy of its own;
//   its writes reach the others later, in one order for all, and while a process waits for its own
//   write to a key to come back in that order it ignores the others' writes to that key. So all
//   copies end equal, but for clear(): the process that clears waits for no key, and keeps what it
//   receives before its clear() comes back (docs/reality.md; Chromium's
//   CachedStorageArea::AllDeleted).
//
// The class only keeps the rules; when a write travels is the schedule's choice (send, receive).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lab/footprint.hpp"
#include "tabacus/common/guarantee.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus::lab {

using tabacus::StorageModel;

/// What becomes of a write that is equal to what the writer's copy holds, which may be stale
/// (`cached` only; measured, docs/reality.md).
enum class EqualWrites : std::uint8_t {
    sent,     // Chromium: the write takes part in the order, which decides whether it is a change
    dropped,  // Firefox, WebKit: the copy decides, of this and of whether there is an event
};

using ProcessId = std::uint32_t;

/// For traces.
std::string describe_change(const StorageChange& change);
std::uint64_t digest_of(const StorageChange& change);

class StorageArea {
  public:
    using Values = std::map<std::string, std::string, std::less<>>;

    /// A change of the area, as `storage` events describe it.
    struct Write {
        ProcessId process = 0;
        std::uint32_t writer = 0;  // the tab, which gets no event for its own change
        StorageChange change;
        bool changes = true;  // false: the area held that already, and there is no event
    };

    StorageArea(StorageModel model, FootprintRecorder& recorder,
                EqualWrites equal_writes = EqualWrites::sent)
        : model_(model), equal_writes_(equal_writes), recorder_(&recorder) {}

    [[nodiscard]] StorageModel model() const { return model_; }
    /// A process begins with what the area holds.
    void start(ProcessId process);
    void end(ProcessId process) {
        recorder_->note(Object::processes, 0, AccessKind::write);
        processes_.erase(process);
    }
    [[nodiscard]] std::vector<ProcessId> processes() const;

    [[nodiscard]] std::optional<std::string> get(ProcessId process, std::string_view key) const;
    [[nodiscard]] std::vector<std::string> keys(ProcessId process, std::string_view prefix) const;
    /// The write to send, if there is one. nullopt for `value` removes.
    /// Fails with quota_exceeded, and nothing changes.
    std::optional<Write> set(ProcessId process, std::uint32_t writer, std::string_view key,
                             std::optional<std::string_view> value);
    /// localStorage.clear(): the write to send.
    Write clear(ProcessId process, std::uint32_t writer);
    /// The write reaches the area itself, whose order is everybody's. Returns it as the processes
    /// receive it.
    Write send(Write write);
    /// The write reaches `process`, which may be its own.
    void receive(ProcessId process, const Write& write);

    /// Keys and values together, in bytes.
    void set_quota(std::optional<std::size_t> bytes) {
        recorder_->note(Object::database, 0, AccessKind::write);
        quota_bytes_ = bytes;
    }
    /// Everything gone, in every process: the site's data was cleared.
    void wipe();
    /// What a crash of the browser leaves: the area without its `lost` latest writes.
    void forget_latest(std::size_t lost);
    /// Whether forget_latest() can take writes back, for which each keeps the area as it was.
    void keep_unsettled(bool keeps) { keeps_unsettled_ = keeps; }
    [[nodiscard]] std::size_t unsettled() const { return before_.size(); }
    /// What was written is on the disk.
    void settle() { before_.clear(); }

    /// Returns a hash of what the area and the processes hold; with what a crash would leave, if one
    /// may come.
    [[nodiscard]] std::uint64_t digest(bool with_disk) const;
    [[nodiscard]] const Values& values() const { return values_; }
    /// What the process reads: its copy, or the area.
    [[nodiscard]] const Values& seen_by(ProcessId process) const;
    /// For tests: every process sees the value.
    void overwrite(const std::string& key, std::optional<std::string> value);

  private:
    /// Own writes to a key that have not come back. The latest outlives another's clear(), even
    /// after one of the process's own (docs/reality.md, clear-against-own-set).
    struct Awaited {
        int writes = 0;
        std::optional<std::string> latest;
    };
    /// The sums over all keys and values, each empty until it is asked for. Every change of the
    /// values empties `digest`; a change that `bytes` does not follow empties `bytes`.
    struct Sums {
        std::optional<std::size_t> bytes = std::nullopt;
        std::optional<std::uint64_t> digest = std::nullopt;
    };
    struct Process {
        Values copy;
        mutable Sums sums;
        std::unordered_map<std::string, Awaited> awaited;
    };
    static void receive_from_other(Process& process, const StorageChange& change);
    static void apply_change(Values& values, Sums& sums, const StorageChange& change);
    /// Nothing for `value` removes; `at` is where the key is, or the end.
    static void put(Values& values, Sums& sums, Values::iterator at, const std::string& key,
                    const std::optional<std::string>& value);
    void check_quota(const Values& values, Sums& sums, Values::const_iterator at,
                     std::string_view key, std::string_view value) const;

    void note(ProcessId process, std::string_view key, AccessKind access) const;
    void note_keys(ProcessId process, AccessKind access) const;
    void note_everything(ProcessId process) const;

    StorageModel model_;
    EqualWrites equal_writes_;
    FootprintRecorder* recorder_;
    Values values_;
    mutable Sums sums_;
    std::map<ProcessId, Process> processes_;
    std::optional<std::size_t> quota_bytes_;
    bool keeps_unsettled_ = true;
    std::deque<Values> before_;  // the area before each of its latest writes
};

}  // namespace tabacus::lab
