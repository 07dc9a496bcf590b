#include "claim_size.hpp"

#include <algorithm>

#include "../rows.hpp"

namespace tabacus {
namespace {

/// The factor by which claims grow while jobs are short.
constexpr std::size_t ahead_growth = 4;
/// About the most bytes of payloads that are claimed at once.
constexpr std::size_t ahead_bytes = 2'000'000;

}  // namespace

void ClaimSize::adapt(Pace pace, std::size_t begun) {
    ahead_ = pace == Pace::overtaken     ? begun
             : pace == Pace::interrupted ? std::min(ahead_, begun * 2)
             : pace == Pace::quick       ? std::min(ahead_ * ahead_growth, ahead_max)
                                         : std::max(begun, std::size_t{2}) - 1;
}

void ClaimSize::learn(const Claim& claim) {
    if (claim.rows.empty()) return;
    std::size_t bytes = 0;
    for (const auto& job : claim.jobs) bytes += job.payload.text.size();
    per_row_ = claim.jobs.size() / claim.rows.size();
    row_bytes_ = std::max<std::size_t>(bytes / claim.rows.size(), 1);
}

std::size_t ClaimSize::rows() const {
    const auto many = (ahead_ + per_row_ - 1) / per_row_;
    return std::clamp<std::size_t>(ahead_bytes / row_bytes_, 1, many);
}

}  // namespace tabacus
