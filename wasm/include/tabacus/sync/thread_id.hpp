#pragma once

#include <atomic>
#include <cstdint>

#include "tabacus/sync/mutex.hpp"

namespace tabacus::sync {

/// The calling thread as an owner, for programs in which all threads run C++. Where workers attach
/// from outside, ids come from the arena that they share (see arena.hpp).
inline Owner this_thread_id() {
    static std::atomic<Owner> last{0};
    thread_local const Owner mine = last.fetch_add(1) + 1;
    return mine;
}

/// What a counter needs to know of the thread that adds.
struct Caller {
    Owner id;
    bool may_sleep;
};

inline Caller this_thread() { return {this_thread_id(), true}; }

}  // namespace tabacus::sync
