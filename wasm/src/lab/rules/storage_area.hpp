// StorageArea: the localStorage of one origin, under one of three models of what a process sees.
//
// - mutexed: HTML's storage mutex; a turn is atomic.
// - interleaved: each operation is atomic and visible to every process at once.
// - cached: what browsers do (docs/decisions/0001). Each process reads and writes a copy of its
//   own. Its writes reach the other processes later, in one order for all. While a process waits
//   for its own write to a key to come back in that order, it ignores the writes of others to that
//   key. In the end all copies are therefore equal, except after clear(): a process that clears
//   waits for no key, and keeps what it receives before its clear() comes back (docs/reality.md;
//   Chromium's CachedStorageArea::AllDeleted).
//
// The class implements the rules. The schedule chooses when a write travels (send(), receive()).
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

/// How the model `cached` treats a write of the value that the writer's copy already holds. The
/// copy may be stale. (Measured: docs/reality.md.)
enum class EqualWrites : std::uint8_t {
    sent,     // Chromium: the write is sent, and the area decides whether it changes anything
    dropped,  // Firefox, WebKit: the write is dropped; the copy also decides about events
};

using ProcessId = std::uint32_t;

/// Returns the change as text for traces.
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
        bool changes = true;  // false if the area already holds the value: there is no event
    };

    StorageArea(StorageModel model, FootprintRecorder& recorder,
                EqualWrites equal_writes = EqualWrites::sent)
        : model_(model), equal_writes_(equal_writes), recorder_(&recorder) {}

    [[nodiscard]] StorageModel model() const { return model_; }
    /// Starts a process, whose copy is what the area holds.
    void start(ProcessId process);
    void end(ProcessId process) {
        recorder_->note(Object::processes, 0, AccessKind::write);
        processes_.erase(process);
    }
    [[nodiscard]] std::vector<ProcessId> processes() const;

    /// Returns the value of a key, or null.
    [[nodiscard]] const std::string* find(ProcessId process, std::string_view key) const;
    [[nodiscard]] std::optional<std::string> get(ProcessId process, std::string_view key) const;
    [[nodiscard]] std::vector<std::string> keys(ProcessId process, std::string_view prefix) const;
    /// Sets the value of a key; removes the key if `value` is nothing. Returns the write to send,
    /// if there is one. Throws quota_exceeded, and changes nothing, if the value does not fit.
    std::optional<Write> set(ProcessId process, std::uint32_t writer, std::string_view key,
                             std::optional<std::string_view> value);
    /// Removes all keys, as localStorage.clear() does. Returns the write to send.
    Write clear(ProcessId process, std::uint32_t writer);
    /// Applies a write to the area, whose order of writes holds for all processes. Returns the
    /// write that the processes receive.
    Write send(Write write);
    /// Applies a write to the copy of `process`, which may be the process that wrote.
    void receive(ProcessId process, const Write& write);

    /// Sets the limit for all keys and values together, in bytes; nothing means no limit.
    void set_quota(std::optional<std::size_t> bytes) {
        recorder_->note(Object::database, 0, AccessKind::write);
        quota_bytes_ = bytes;
    }
    /// Removes everything, in every process, as if the site's data was cleared.
    void wipe();
    /// Takes back the `lost` latest writes, as a crash of the browser does.
    void forget_latest(std::size_t lost);
    /// Sets whether forget_latest() can take writes back. If so, each write keeps a copy of the
    /// area as it was.
    void keep_unsettled(bool keeps) { keeps_unsettled_ = keeps; }
    /// Returns the number of writes that forget_latest() can take back.
    [[nodiscard]] std::size_t unsettled() const { return before_.size(); }
    /// Puts all writes on the disk, so that a crash takes none of them back.
    void settle() { before_.clear(); }

    /// Returns a hash of what the area and the processes hold. `with_disk`: whether it includes
    /// what a crash of the browser would leave.
    [[nodiscard]] std::uint64_t digest(bool with_disk) const;
    [[nodiscard]] const Values& values() const { return values_; }
    /// Returns what the process reads: its copy, or the area.
    [[nodiscard]] const Values& all(ProcessId process) const {
        note_everything(process, AccessKind::read);
        return seen_by(process);
    }
    /// Returns what the process reads: its copy, or the area. Records no footprint.
    [[nodiscard]] const Values& seen_by(ProcessId process) const;
    /// For tests: sets a value in the area and in every process.
    void overwrite(const std::string& key, std::optional<std::string> value);

  private:
    /// A process's writes to a key that have not come back. The latest one survives the clear() of
    /// another process, even after a clear() of its own process (docs/reality.md,
    /// clear-against-own-set).
    struct Awaited {
        int writes = 0;
        std::optional<std::string> latest;
    };
    /// The size and the hash of all keys and values. Each is nothing until it is computed. A change
    /// of the values resets `digest`, and updates `bytes` where it can.
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
    /// Sets or, if `value` is nothing, removes a value. `at` is the position of the key, or the
    /// end.
    static void put(Values& values, Sums& sums, Values::iterator at, const std::string& key,
                    const std::optional<std::string>& value);
    void check_quota(const Values& values, Sums& sums, Values::const_iterator at,
                     std::string_view key, std::string_view value) const;

    void note(ProcessId process, std::string_view key, AccessKind access) const;
    void note_keys(ProcessId process, AccessKind access) const;
    void note_everything(ProcessId process, AccessKind access = AccessKind::write) const;

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
