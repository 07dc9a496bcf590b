#pragma once

#include <atomic>
#include <cstdint>

#include "tabacus/sync/mutex.hpp"

namespace tabacus::sync {

/// Returns the calling thread's id as an owner, for programs in which all threads run C++. If
/// Workers attach to the memory, ids come from the arena that they share (arena.hpp).
inline Owner this_thread_id() {
    static std::atomic<Owner> last{0};
    thread_local const Owner mine = last.fetch_add(1) + 1;
    return mine;
}

/// The thread that calls a counter.
struct Caller {
    Owner id;
    bool may_sleep;
};

inline Caller this_thread() { return {this_thread_id(), true}; }

}  // namespace tabacus::sync
