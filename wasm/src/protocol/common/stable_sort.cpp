#include "stable_sort.hpp"

#include <algorithm>
#include <numeric>

namespace tabacus {

std::vector<std::uint32_t> stable_order(std::size_t count, ComesBefore before,
                                        const void* context) {
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    // By index where neither comes first: so that std::sort, the smaller one, is stable.
    std::sort(order.begin(), order.end(), [before, context](std::uint32_t a, std::uint32_t b) {
        if (before(context, a, b)) return true;
        return a < b && !before(context, b, a);
    });
    return order;
}

}  // namespace tabacus
