// sort_stably: std::stable_sort in one copy of it for all types. Each further copy would be some two
// thousand bytes of the program, and what protocols sort is short.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tabacus {

/// Whether the first of two items, by their indices, comes before the second. `context` is what
/// stable_order() was given.
using ComesBefore = bool (*)(const void* context, std::uint32_t first, std::uint32_t second);

/// The indices of `count` items in their order; equal ones keep theirs.
std::vector<std::uint32_t> stable_order(std::size_t count, ComesBefore before, const void* context);

/// Sorts all items; equal ones keep their order.
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
            const auto& of = *static_cast<const Context*>(opaque);
            return of.less(of.items[first], of.items[second]);
        },
        &context);
    std::vector<T> sorted;
    sorted.reserve(items.size());
    for (const auto index : order) sorted.push_back(std::move(items[index]));
    items = std::move(sorted);
}

}  // namespace tabacus
