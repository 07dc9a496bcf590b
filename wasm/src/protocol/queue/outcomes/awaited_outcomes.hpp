// AwaitedOutcomes: the jobs that this tab has enqueued, or joined, and whose outcomes it waits for.
//
//   state     meaning                                       what ends the state
//   awaited   the job was accepted and is not settled as    deliver(): delivered; a commit with an
//             far as this tab knows                         unknown outcome settles it: unknown
//   unknown   a commit of this tab settles the job if it    deliver(): delivered; resolve_unknown()
//             has happened, which is unknown                finds the job in the store: awaited
//   delivered the application has the outcome               nothing: the job is forgotten
//
// While a transaction of enqueue() is under way, the outcome of a job may arrive before the tab
// awaits it. It is then kept as unknown, and resolve_unknown() delivers it.
#pragma once

#include <map>
#include <set>
#include <string>

#include "../open_queue.hpp"

namespace tabacus {

class AwaitedOutcomes {
  public:
    explicit AwaitedOutcomes(OpenQueue& open) : open_(open) {}

    /// Notes whether callers of enqueue() wait for their receipts.
    void set_answers_pending(bool pending) { answers_pending_ = pending; }
    [[nodiscard]] bool answers_pending() const { return answers_pending_; }

    void expect(const std::string& id) { ids_.insert(id); }
    [[nodiscard]] bool expects(const std::string& id) const { return ids_.contains(id); }
    [[nodiscard]] bool empty() const { return ids_.empty(); }
    [[nodiscard]] std::size_t size() const { return ids_.size(); }

    /// Hands the outcomes that are awaited to the application.
    void deliver(JobOutcomes outcomes);
    /// Keeps the outcomes for this tab that a commit of unknown outcome would have settled.
    void keep_unknown(const QueueChanges& changes);
    [[nodiscard]] bool any_unknown() const { return !unknown_.empty(); }
    /// Returns the unknown outcomes whose commit has happened: their jobs are gone, and no other
    /// tab has reported them. A job that still exists will be settled again. `born` is that of the
    /// queue's head.
    Task<JobOutcomes> resolve_unknown(Transaction& transaction, std::string born);
    /// Fails the jobs of an earlier incarnation of the database, which vanished with it. `born` is
    /// that of the queue's head, or empty if the queue has no head.
    void lose_foreign(const std::string& born);

  private:
    OpenQueue& open_;
    std::set<std::string> ids_;
    std::map<std::string, JobOutcome> unknown_;
    bool answers_pending_ = false;
};

/// Returns the outcome of a job whose own outcome is lost. Requires that `message` has no character
/// that JSON escapes.
JobOutcome missing_outcome(std::string_view message, std::string_view code = "store-failed");

}  // namespace tabacus
