// OutcomeSweeper: removes the outcomes that no tab has fetched within an hour, because the tabs
// that waited for them are gone.
//
// The tab that has slot 0 sweeps within its turns (turn_taker.hpp): in its first turn over that
// slot, and then in one turn an hour. If there are more outcomes than a turn reads, further
// transactions follow at once.
//
//   state     meaning                                     what ends the state
//   due       the next turn over slot 0 sweeps            sweep(): idle
//   idle      this tab has swept within the last hour     the hour is over, or slot 0 is granted to
//                                                         this tab anew: due
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/queue/open_queue.hpp"

namespace tabacus {

class OutcomeSweeper {
  public:
    explicit OutcomeSweeper(OpenQueue& open) : open_(open) {}

    /// How long an outcome is kept for a tab that does not fetch it.
    static constexpr double kept_ms = 3'600'000;
    /// How many outcomes a transaction reads.
    static constexpr std::uint32_t read_max = 64;

    /// Whether a turn of slot 0 sweeps. `fresh`: it is the first turn of the slot in this tab.
    [[nodiscard]] bool due(bool fresh) const { return fresh || open_.monotonic_ms() >= next_ms_; }
    /// Removes what is old among `outcomes`, the first read_max outcomes of the queue.
    void sweep(QueueRows& rows, const std::vector<Row>& outcomes);

  private:
    Task<void> sweep_rest(std::string from);
    Task<std::string> sweep_some(std::string from);

    OpenQueue& open_;
    double next_ms_ = 0;  // by World::clock().monotonic_ms()
};

}  // namespace tabacus
