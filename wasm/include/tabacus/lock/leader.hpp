// Leader: calls from any tab to the tab that is the leader. The leader is the tab that holds the
// lock leader_lock(name). Its grant of that lock is called its term; the token of the grant rises
// with every leader. A call outlives the leader that runs it.
//
// It promises:
//  - A call is kept in IndexedDB from when it is made until it is answered. A new leader runs the
//    calls that the leader before it left unanswered, in the order in which they were made.
//  - Several leaders may run a call, one after another. Exactly one of these runs commits, in one
//    transaction with what it writes (answering(), answer()). A leader that was deposed commits
//    nothing. What a run does outside that transaction is done at least once.
//  - A call ends in exactly one way: it is answered, or its caller takes it back. Nothing is
//    committed for a call that was taken back, even while a leader runs it.
//  - Calls with the same key are one call, until `kept_ms` after its answer. They are never taken
//    back.
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

/// Returns the name of the lock that a leader holds.
std::string leader_lock(std::string_view name);

struct LeaderCallOptions {
    std::optional<std::string> key = std::nullopt;
    std::optional<AbortSignal> signal = std::nullopt;
    std::optional<double> timeout_ms = std::nullopt;
};

/// A call that the leader is to run.
struct LeaderCall {
    std::string id;  // the same for every leader that runs the call; no other call ever has it
    std::string request;
};

/// The outcome of a call. `text` is a value or an error, as js/ has written it.
struct LeaderAnswer {
    bool succeeded = false;
    std::string text;
};

class Leader {
  public:
    /// How long the answer of a call with a key is kept, and an answer that its caller did not
    /// fetch.
    static constexpr double kept_ms = 3'600'000;

    /// `world` and `table` must outlive it.
    Leader(World& world, LockTable& table, NoticeHandler on_notice)
        : world_(world), table_(table), on_notice_(std::move(on_notice)) {}

    /// Stores the request and waits for its answer, even while there is no leader. Fails with
    /// timed_out or aborted if the call was taken back for that reason; with unknown_commit if it
    /// is unknown whether the request was stored, if it is stored but cannot be read any more, or if
    /// it vanished with the database; with closed if the table was closed.
    Task<LeaderAnswer> call(std::string name, std::string request, LeaderCallOptions options);

    // The following are for the leader. `term` is Held::grant() of its lock.

    /// Clears away old answers, and reports rows that cannot be read, once. A leader calls it first
    /// in its term.
    Task<void> begin_term(std::string name, std::shared_ptr<Grant> term);
    /// Waits until a call is not answered, and returns the first such call. Returns nothing if the
    /// term was handed over. Fails with lock_lost if the term ended otherwise.
    Task<std::optional<LeaderCall>> next(std::string name, std::shared_ptr<Grant> term);
    /// Begins the transaction that is to answer a call, under the term's fence. Returns nothing if
    /// the call was answered or taken back before. Fails with lock_lost or fenced if the term
    /// ended.
    Task<std::optional<FencedTransaction>> answering(std::string name, std::string id,
                                                     std::shared_ptr<Grant> term);
    /// Commits the answer together with all that was written in the transaction. The same commit
    /// clears away old answers.
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
    std::multimap<std::string, std::weak_ptr<Wait>> waiting_;   // this tab's callers, by call id
    std::map<std::string, Subscription> answer_subscriptions_;  // by the leader's name
    std::set<std::string> reported_;  // the names for which unreadable rows were reported
    Scope scope_;
};

}  // namespace tabacus
