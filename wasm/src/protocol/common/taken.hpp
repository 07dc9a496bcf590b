// All that a list holds.
#pragma once

#include <list>

namespace tabacus {

/// Returns what a list holds, and leaves it empty. Never inlined: its code is the same for every type,
/// and as long as four calls of it.
template <typename T>
[[gnu::noinline]] std::list<T> taken(std::list<T>& list) {
    std::list<T> all;
    all.swap(list);
    return all;
}

}  // namespace tabacus
