// JobLists: the lists of a queue's jobs for callers. It only reads the store, piece by piece, so
// that a list with a limit needs memory for its own jobs only.
//
// A caller may ask for the jobs behind a certain job. The *place* of a job is where a list goes on
// behind it.
//
//   state of a place   meaning                                   what ends the state
//   remembered         the last list ended with that job         places_max other lists: forgotten
//   forgotten          a list behind the job must search for it  a list ends with it: remembered
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "outcomes/queue_news.hpp"

namespace tabacus {

/// A job of a list, and its place in it: jobs are listed in the order of their places.
struct ListedJob {
    std::string place;
    Job job;
    JobInfo::State state = JobInfo::State::queued;
    std::string tab = {};  // NOLINT(readability-redundant-member-init)
};

class JobLists {
  public:
    JobLists(OpenQueue& open, QueueStatus& status, QueueNews& news)
        : open_(open), status_(status), news_(news) {}

    // These methods do what those of Queue with the same names do.
    Task<std::vector<JobInfo>> jobs(JobRange range);
    Task<std::vector<JobInfo>> running();
    Task<std::vector<JobInfo>> dead_letters(JobRange range);
    Task<std::int64_t> read_count();

  private:
    /// One transaction that reads the jobs in the order in which they will run.
    struct Reading {
        QueueRows rows;
        std::vector<ListedJob> running = {};  // NOLINT(readability-redundant-member-init)

        Task<void> begin();
        Task<std::vector<ListedJob>> next(std::string place);
        Task<std::vector<ListedJob>> next_queued(std::string place);
        [[nodiscard]] bool runs(const std::string& id) const;
    };
    /// The places of the jobs with which the last lists ended. Those jobs may be gone by now.
    class Places {
      public:
        void remember(const std::string& id, std::string place);
        /// Returns an empty text if the place is not remembered.
        [[nodiscard]] std::string find(const std::string& id) const;

      private:
        void forget(const std::string& id);
        std::vector<std::pair<std::string, std::string>> places_;
    };

    Task<std::vector<JobInfo>> list(JobRange range);
    Task<std::vector<JobInfo>> list_dead(JobRange range);
    Task<std::vector<JobInfo>> list_running();
    Task<std::string> place_of(Reading& reading, std::string id);
    Task<std::int64_t> read_head();

    OpenQueue& open_;
    QueueStatus& status_;
    QueueNews& news_;
    Places places_;
    Places dead_places_;
};

}  // namespace tabacus
