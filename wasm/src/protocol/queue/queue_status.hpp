// QueueStatus: what this tab knows of a queue's length, and whether the queue is paused.
//
// The length belongs to a version of the queue's head. Events may arrive in any order; one with an
// older version changes nothing.
#pragma once

#include <cstdint>

namespace tabacus {

struct QueueStatus {
    std::int64_t version = 0;  // as QueueEvent::version
    std::int64_t count = 0;
    bool paused = false;

    /// Returns false, and changes nothing, if a newer version is known.
    bool learn(std::int64_t new_version, std::int64_t new_count) {
        if (new_version < version) return false;
        version = new_version;
        count = new_count;
        return true;
    }
};

}  // namespace tabacus
