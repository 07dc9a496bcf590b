#include "claim_size.hpp"

#include <algorithm>

#include "../rows.hpp"

namespace tabacus {
namespace {

/// The factor by which claims grow while jobs are short.
constexpr std::size_t ahead_growth = 4;
/// About the most bytes of payloads that are claimed at once.
constexpr std::size_t ahead_bytes = 2'000'000;

/// Returns how many jobs end within ahead_ms if `jobs` of them have taken `took_ms`.
std::size_t fitting(std::size_t jobs, double took_ms) {
    const auto each_ms = took_ms / static_cast<double>(std::max<std::size_t>(jobs, 1));
    if (each_ms * static_cast<double>(ahead_max) <= ahead_ms) return ahead_max;
    return std::max<std::size_t>(static_cast<std::size_t>(ahead_ms / each_ms), 1);
}

}  // namespace

void ClaimSize::adapt(Pace pace, std::size_t begun, double took_ms) {
    ahead_ = pace == Pace::overtaken     ? begun
             : pace == Pace::interrupted ? std::min(ahead_, begun * 2)
             : pace == Pace::quick
                 ? std::min({ahead_ * ahead_growth, fitting(begun, took_ms), ahead_max})
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
