// Calls to the leader, in whatever tab that is, which outlive it. The leader holds the lock
// leader_lock(name), and a term is its grant: its token rises with every leader.
//
// It promises:
//  - A call is kept in IndexedDB from when it is made until it is answered: the next leader takes
//    up what the one before it left, in the order of the calls.
//  - Of all runs of a call, by one leader after another, exactly one commits, in one transaction
//    with what it writes (answering(), answer()); a leader that was deposed commits nothing. What a
//    run does elsewhere is done at least once.
//  - A call ends in exactly one way: answered, or taken back by its caller. Nothing is committed
//    for a call that was taken back, whatever runs.
//  - Calls of one key are one call, for `kept_ms` after its answer. They are not taken back.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
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

/// The outcome of a call. The text is the caller's: a value or an error.
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

    /// Keeps the request, and waits for its answer, also while there is no leader. Fails with
    /// timed_out or aborted if it was taken back; with unknown_commit if it vanished with the
    /// database, or may have been kept; with closed if the table was closed.
    Task<LeaderAnswer> call(std::string name, std::string request, LeaderCallOptions options);

    /// Clears away old answers, and reports rows that cannot be read, once. It is the first act of
    /// a term. `term`: Held::grant() of the leader's lock, here and below.
    Task<void> begin_term(std::string name, std::shared_ptr<Grant> term);
    /// Returns the first call that is not answered, and waits for one. Returns nothing if the term
    /// was handed over. Fails with lock_lost if the term ended otherwise.
    Task<std::optional<LeaderCall>> next(std::string name, std::shared_ptr<Grant> term);
    /// Begins the transaction in which a call is answered, under the term's fence. Returns nothing
    /// if the call was answered or taken back before. Fails with lock_lost or fenced if the term
    /// ended.
    Task<std::optional<FencedTransaction>> answering(std::string name, std::string id,
                                                     std::shared_ptr<Grant> term);
    /// Commits the answer, with all that was written in the transaction, and clears away old
    /// answers with it.
    Task<void> answer(std::string name, std::string id, FencedTransaction transaction,
                      LeaderAnswer answer);

  private:
    struct Wait;
    class Listed;
    Task<void> poll(std::weak_ptr<Wait> wait);
    void listen_for_answers(const std::string& name);
    Task<void> await_wake(std::shared_ptr<Wait> wait);

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
    std::multimap<std::string, std::weak_ptr<Wait>> waiting_;   // own callers, by their call's id
    std::map<std::string, Subscription> answer_subscriptions_;  // by the leader's name
    std::set<std::string> reported_;  // the names of which unreadable rows were reported
    Scope scope_;
};

}  // namespace tabacus
