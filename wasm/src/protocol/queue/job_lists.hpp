// JobLists: the jobs of a queue, as callers see them. It only reads the store, and has no state of
// its own.
#pragma once

#include <vector>

#include "outcomes/queue_news.hpp"

namespace tabacus {

class JobLists {
  public:
    JobLists(OpenQueue& open, QueueStatus& status, QueueNews& news)
        : open_(open), status_(status), news_(news) {}

    // These methods do what those of Queue with the same names do.
    Task<std::vector<JobInfo>> jobs();
    Task<std::vector<JobInfo>> running();
    Task<std::vector<JobInfo>> dead_letters();
    Task<std::int64_t> read_count();

  private:
    Task<std::vector<JobInfo>> list(bool all);
    Task<std::vector<JobInfo>> list_dead();
    Task<std::int64_t> read_head();

    OpenQueue& open_;
    QueueStatus& status_;
    QueueNews& news_;
};

}  // namespace tabacus
