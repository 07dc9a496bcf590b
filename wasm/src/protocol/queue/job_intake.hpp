// JobIntake: adds jobs to a queue, within one transaction over its rows.
//
//   state of a request   meaning                             what ends the state
//   asked                enqueue() has not decided it        a job with its key exists: joined; the
//                                                            queue is full: refused; otherwise:
//                                                            accepted
//   accepted, no key     the head counts the job, which has  put_fresh(): written, in one row with
//                        no row yet                          the other fresh jobs
//   accepted, with key   its job has a row of its own        nothing: written
//   joined               the job with its key takes the new  nothing: written
//                        payload, unless that job runs
//   refused              QueueRequest::refusal is set        nothing
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "key_index.hpp"
#include "rows.hpp"

namespace tabacus {

/// A job to enqueue, and the decision about it.
struct QueueRequest {
    JobSpec spec;
    bool awaited = true;  // whether this tab waits for the outcome
    JobReceipt receipt;
    std::optional<Error> refusal;
};

class JobIntake {
  public:
    explicit JobIntake(QueueRows& rows) : rows_(rows) {}

    /// Decides the requests. put_fresh() writes the jobs that were accepted.
    Task<void> enqueue(std::vector<QueueRequest*> requests);
    void put_fresh();

  private:
    Task<void> enqueue_one(QueueRequest& request, KeyIndex& positions);
    Task<bool> join(QueueRequest& request, std::string& position);
    Task<void> read_claimed();
    void renew(Job& job, const JobSpec& spec);

    QueueRows& rows_;
    /// Jobs that are accepted, and not written yet. Jobs that are enqueued together share a row.
    std::vector<Job> fresh_;
    /// The claimed jobs by their ids, once they have been read. The text is the position of a job
    /// that is claimed alone, which therefore runs. It is empty for all other claimed jobs.
    std::optional<std::map<std::string, std::string>> claimed_;
};

}  // namespace tabacus
