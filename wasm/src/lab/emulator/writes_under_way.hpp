// WritesUnderWay: the writes to localStorage of a traced run that have not reached every process.
//
// With it, a trace explains why a tab reads an old value.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/rules/storage_area.hpp"
#include "lab/scheduler.hpp"

namespace tabacus::lab {

class WritesUnderWay {
  public:
    /// Adds a write. It is under way as long as `write` has an owner.
    void add(TabId writer, const std::shared_ptr<StorageArea::Write>& write) {
        std::erase_if(writes_, [](const Entry& entry) { return entry.write.expired(); });
        writes_.push_back({write, write->process, writer, write->change, {}});
    }
    /// Notes that a process has received a write.
    void reach(ProcessId process, const std::shared_ptr<StorageArea::Write>& write) {
        for (auto& entry : writes_) {
            if (entry.write.lock() == write) entry.receivers.push_back(process);
        }
    }
    /// Takes the changes of a process that are not under way any more although no process has
    /// received them.
    std::vector<StorageChange> take_lost(ProcessId writer) {
        std::vector<StorageChange> lost;
        std::erase_if(writes_, [&](const Entry& entry) {
            if (!entry.write.expired()) return false;
            if (entry.process == writer && entry.receivers.empty()) lost.push_back(entry.change);
            return true;
        });
        return lost;
    }

    struct Unseen {
        TabId writer = 0;
        bool clears = false;
        std::optional<std::string> value;  // nothing if the write removes the key
    };
    /// Returns the latest write to the key if it is of another process, has not reached `reader`,
    /// and differs from the value that `reader` sees.
    [[nodiscard]] std::optional<Unseen> unseen(ProcessId reader, std::string_view key,
                                               const std::optional<std::string>& seen) const {
        const auto latest = std::find_if(writes_.rbegin(), writes_.rend(), [&](const Entry& entry) {
            return !entry.write.expired() && (!entry.change.key || *entry.change.key == key);
        });
        if (latest == writes_.rend() || latest->process == reader) return std::nullopt;
        if (latest->change.new_value == seen) return std::nullopt;
        if (std::count(latest->receivers.begin(), latest->receivers.end(), reader) > 0) {
            return std::nullopt;
        }
        return Unseen{latest->writer, !latest->change.key, latest->change.new_value};
    }

  private:
    struct Entry {
        std::weak_ptr<StorageArea::Write> write;
        ProcessId process;
        TabId writer;
        StorageChange change;
        std::vector<ProcessId> receivers;
    };
    std::vector<Entry> writes_;  // in the order in which they were made
};

}  // namespace tabacus::lab
