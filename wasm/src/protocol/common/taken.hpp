// taken: takes everything out of a list.
#pragma once

#include <list>

namespace tabacus {

/// Returns the items of a list and leaves the list empty. Never inlined, because its code is as
/// long as four calls, and the same for every type.
template <typename T>
[[gnu::noinline]] std::list<T> taken(std::list<T>& list) {
    std::list<T> all;
    all.swap(list);
    return all;
}

}  // namespace tabacus
