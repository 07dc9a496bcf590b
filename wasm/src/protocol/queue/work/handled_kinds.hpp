// HandledKinds: whether this tab takes part in the work on a queue, and on which kinds of jobs.
//
//   state    meaning                                   what ends the state
//   absent   this tab begins no job                    handle(), handle_all(): working
//   working  this tab begins jobs of these kinds       stop(): absent; the queue is closed: absent
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "../open_queue.hpp"

namespace tabacus {

class HandledKinds {
  public:
    explicit HandledKinds(const OpenQueue& open) : open_(open) {}

    /// Handles jobs of these kinds, which replace those of an earlier call.
    void handle(std::vector<std::string> kinds) {
        kinds_ = std::move(kinds);
        all_ = false;
    }
    void handle_all() { all_ = true; }
    [[nodiscard]] bool handles(const std::string& kind) const {
        return all_ || std::find(kinds_.begin(), kinds_.end(), kind) != kinds_.end();
    }

    /// Returns false if this tab takes part already.
    bool start() { return !std::exchange(started_, true); }
    void stop() { started_ = false; }
    [[nodiscard]] bool started() const { return started_; }
    /// Whether this tab may begin another job.
    [[nodiscard]] bool working() const { return started_ && !open_.closed; }

  private:
    const OpenQueue& open_;
    std::vector<std::string> kinds_;
    bool all_ = false;
    bool started_ = false;
};

}  // namespace tabacus
