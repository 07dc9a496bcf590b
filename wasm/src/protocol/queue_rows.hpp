// QueueRows: the rows of one queue within one transaction, and what happens to a job in it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "queue_record.hpp"
#include "tabacus/world.hpp"

namespace tabacus {

/// How many jobs a slot claims at once at most.
constexpr std::size_t ahead_max = 256;

/// What all queues of a tab share.
struct QueueContext {
    World& world;
    std::string tab;
    NoticeHandler on_notice;
};

/// What a transaction has done that others are told once it has committed.
struct QueueChanges {
    std::vector<QueueEvent> events;
    /// Of jobs that this tab waits for.
    std::vector<std::pair<std::string, JobOutcome>> outcomes;

    /// One more field of the last event, if it is of that kind; else of another event.
    void add(QueueEvent::Kind kind, std::initializer_list<std::string_view> fields);
};

/// A job to enqueue, and what came of it.
struct QueueRequest {
    JobSpec spec;
    bool awaited = true;  // its outcome, by this tab
    JobReceipt receipt;
    std::optional<Error> refusal;
};

/// A worker's job is given up as a dead letter when so many workers were lost with it: it may be
/// what ends them.
constexpr int lost_workers_max = 10;

struct QueueRows {
    Transaction& transaction;
    QueueContext& context;
    const std::string& queue;  // escaped
    const QueueOptions& options;
    QueueChanges& changes;
    // NOLINTBEGIN(readability-redundant-member-init)
    QueueHead head = {};
    /// By id, once somebody has asked: where it runs, as its slot's first does; empty of one that
    /// is claimed ahead.
    std::optional<std::map<std::string, std::string>> claimed = {};
    // NOLINTEND(readability-redundant-member-init)
    bool touched = false;  // the head, or what it counts
    bool removed = false;  // the rows of jobs that end are removed already

    [[nodiscard]] std::string key(std::string_view rest) const;
    [[nodiscard]] std::int64_t now_ms() const;

    /// Before anything else but reads.
    Task<void> read_head();
    /// After everything else.
    void write_head();
    /// In its place, where nothing has changed that it tells.
    void stamp_events();
    /// Nothing of a row that is not there, is another job's, or cannot be read; that is set aside.
    Task<std::optional<Job>> read_job(std::string place, std::string id);
    std::optional<Job> job_of(const Row& row);
    /// The value of a payload that is no text.
    Task<void> read_value(Job& job);

    Task<void> enqueue(std::vector<QueueRequest*> requests);
    /// Why no further job of this kind is let in, if so.
    std::optional<Error> refusal_of(const std::string& kind);
    /// False: there are too many kinds.
    bool admit_kind(const std::string& kind);
    /// Before so many jobs of other kinds are let in, where there is no room: some may have left.
    Task<void> recount_kinds(std::size_t more);
    void put(const Job& job);
    void remove_row(const Job& job);
    /// From one place to another.
    void move(const Job& from, const Job& to);

    // How a job ends. Each removes it.
    void done(const Job& job, const JobOutcome& outcome);
    void bury(Job job, std::string_view error);
    /// An attempt failed: again, later, or never.
    void failed(Job job, const JobOutcome& outcome);
    /// Its worker was lost. `sparing`: that is not counted, where the row can stay as it is.
    void give_back(Job job, bool sparing);
    void cancel(const Job& job);

    /// Those whose time has come may run. Returns when the next one's comes.
    Task<std::optional<double>> promote();
    Task<std::vector<SlotRow>> read_slots();

  private:
    Task<void> make_head(const Row* unreadable);
    /// With the jobs that there are.
    Task<QueueHead> counted(QueueHead of);
    Task<void> enqueue_one(QueueRequest& request, std::map<std::string, std::string>& places);
    Task<bool> join(QueueRequest& request, const std::string& place,
                    std::map<std::string, std::string>& places);
    void set_aside(const Row& row);
    void forget(const Job& job, bool keep_payload);
    void tell(const Job& job, const JobOutcome& outcome);
};

/// The key in Store::data of a value that belongs to a row of Store::jobs.
std::string queue_value_key(std::string_view row_key);
std::string queue_value_key(const std::string& queue, std::string_view rest);

}  // namespace tabacus
