// Calls to the leader, in whatever tab that is, which outlive it. Who leads holds the lock
// leader_lock(name), and a term is its grant: its token rises with every leader.
//
// It promises:
//  - A call is kept in IndexedDB from when it is made until it is answered: who leads next takes up
//    what the one before it left, in the order of the calls.
//  - Of all runs of a call, by one leader after another, exactly one commits, in one transaction
//    with what it writes (answering(), answer()); a leader that was deposed commits nothing. What a
//    run does elsewhere is done at least once.
//  - A call ends in exactly one way: answered, or taken back by its caller. Of one that was taken
//    back nothing is committed, whatever runs.
//  - Calls of one key are one call, for `kept_ms` after its answer. They are not taken back.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tabacus/lock/lock.hpp"

namespace tabacus {

/// The lock that a leader holds.
std::string leader_lock(std::string_view name);

struct LeaderCallOptions {
    std::optional<std::string> key = std::nullopt;
    std::optional<AbortSignal> signal = std::nullopt;
    std::optional<double> timeout_ms = std::nullopt;
};

/// A call as a leader is given it.
struct LeaderCall {
    std::string id;  // the same for every leader that runs it, and of no other call ever
    std::string request;
};

/// What a call came to. The text is the caller's: a value or an error.
struct LeaderAnswer {
    bool succeeded = false;
    std::string text;
};

class Leader {
  public:
    /// How long an answer is kept that has a key, or that nobody fetched.
    static constexpr double kept_ms = 3'600'000;

    /// `world` and `table` must outlive it.
    Leader(World& world, LockTable& table, NoticeHandler on_notice)
        : world_(world), table_(table), on_notice_(std::move(on_notice)) {}

    /// Keeps the request, and waits for its answer, for as long as there is no leader too.
    /// timed_out, aborted: it was taken back. unknown_commit: it vanished with the database, or may
    /// have been kept. closed: the table was.
    Task<LeaderAnswer> call(std::string name, std::string request, LeaderCallOptions options);

    /// The first act of a term, which next() repeats from time to time while there is nothing to
    /// answer: clears away old answers, and reports rows that cannot be read, once.
    /// `term`: Held::grant() of the leader's lock, here and below.
    Task<void> take_office(std::string name, std::shared_ptr<Grant> term);
    /// The first call that is not answered; waits for one. Nothing when the term was handed over.
    /// lock_lost: the term ended otherwise.
    Task<std::optional<LeaderCall>> next(std::string name, std::shared_ptr<Grant> term);
    /// The transaction in which a call is answered, under the term's fence. Nothing when it was
    /// answered or taken back meanwhile. lock_lost, fenced: the term has ended.
    Task<std::optional<FencedTransaction>> answering(std::string name, std::string id,
                                                     std::shared_ptr<Grant> term);
    /// Commits it, with all that was written in it.
    Task<void> answer(std::string name, std::string id, FencedTransaction transaction,
                      LeaderAnswer answer);

  private:
    struct Wait;
    class Listed;
    Task<void> poll(std::weak_ptr<Wait> wait);
    void listen_for_answers(const std::string& name);
    Task<void> rung(std::shared_ptr<Wait> wait);

    Task<std::string> keep(std::string name, std::string request, std::optional<std::string> key);
    Task<void> keep_once(const std::string& name, const std::string& request,
                         const std::optional<std::string>& key, const std::string& nonce,
                         std::string& id);
    Task<std::optional<LeaderAnswer>> read_answer(const std::string& name, const std::string& id,
                                                  bool take_back);
    Task<bool> answered(const std::string& name, const std::string& id);
    Task<std::optional<LeaderAnswer>> fetch(const std::string& name, const std::string& id,
                                            bool take_back);
    Task<std::optional<LeaderCall>> first_open(const std::string& name,
                                               std::shared_ptr<Grant> term);

    World& world_;
    LockTable& table_;
    NoticeHandler on_notice_;
    std::multimap<std::string, std::weak_ptr<Wait>> waiting_;  // own callers, by their call's id
    std::map<std::string, Subscription> bells_;                // by the leader's name
    std::map<std::string, double> cleared_ms_;                 // when this tab did it last
    Scope scope_;
};

}  // namespace tabacus
