#include "kind_limits.hpp"

#include <utility>

#include "protocol/common/concat.hpp"
#include "protocol/common/record.hpp"

namespace tabacus {

bool KindLimits::has_room(std::size_t more) const {
    return more == 0 || rows_.head.kinds.size() + more <= kinds_max;
}

bool KindLimits::admit(const std::string& kind) {
    if (rows_.head.kind(kind)) return true;
    if (!has_room(1)) return false;
    rows_.head.kinds.push_back({kind});
    return true;
}

std::optional<Error> KindLimits::refusal_of(const std::string& kind) {
    if (admit(kind)) return std::nullopt;
    return Error(ErrorCode::unavailable, concat({"the queue has ", format_decimal(kinds_max),
                                                 " kinds of jobs, and no more are allowed"}));
}

Task<void> KindLimits::recount() {
    auto there = co_await rows_.counted({});
    rows_.head.kinds = std::move(there.kinds);
}

}  // namespace tabacus
