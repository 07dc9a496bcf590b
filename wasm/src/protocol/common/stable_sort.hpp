// sort_stably: a stable sort with one copy of its code for all types. Each copy of std::stable_sort
// would add some two thousand bytes to the program, and what protocols sort is short.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tabacus {

/// Whether the item with the index `first` comes before the item with the index `second`. `context`
/// is the argument of stable_order().
using ComesBefore = bool (*)(const void* context, std::uint32_t first, std::uint32_t second);

/// Returns the indices of `count` items in sorted order. Equal items keep their order.
std::vector<std::uint32_t> stable_order(std::size_t count, ComesBefore before, const void* context);

/// Sorts the items by `less`. Equal items keep their order.
template <typename T, typename Less>
void sort_stably(std::vector<T>& items, const Less& less) {
    struct Context {
        const std::vector<T>& items;
        const Less& less;
    };
    const Context context{items, less};
    const auto order = stable_order(
        items.size(),
        [](const void* opaque, std::uint32_t first, std::uint32_t second) -> bool {
            const auto& sorting = *static_cast<const Context*>(opaque);
            return sorting.less(sorting.items[first], sorting.items[second]);
        },
        &context);
    std::vector<T> sorted;
    sorted.reserve(items.size());
    for (const auto index : order) sorted.push_back(std::move(items[index]));
    items = std::move(sorted);
}

}  // namespace tabacus
