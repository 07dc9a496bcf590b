#include "stable_sort.hpp"

#include <algorithm>
#include <numeric>

namespace tabacus {

std::vector<std::uint32_t> stable_order(std::size_t count, ComesBefore before,
                                        const void* context) {
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    // Where neither comes first, the indices decide, which makes a sort stable.
    const auto less = [before, context](std::uint32_t a, std::uint32_t b) {
        if (before(context, a, b)) return true;
        return a < b && !before(context, b, a);
    };
    // A heap sort, because std::sort() takes four times the code.
    std::make_heap(order.begin(), order.end(), less);
    std::sort_heap(order.begin(), order.end(), less);
    return order;
}

}  // namespace tabacus
