// OnceValues: the outcomes of once() that are kept in the memory of tabs, and on no disk.
//
// A tab keeps the outcomes of its own runs, and those that arrived while one of its callers waited
// for the key. The note of the lock, in the database, records which run of the key was the last
// (Once::parse()). An outcome is valid only if it is the outcome of that run. No tab therefore
// needs to learn that an outcome was replaced or forgotten; the message that reports it only frees
// memory.
//
//   message   it is posted                        what a tab that receives it does
//   value     after a run, and as an answer       keeps the value if a caller waits for the key, or
//                                                 if it has an older value of the key
//   ask       by a caller that lacks the outcome  posts the value if it has it
//   forget    once the record was removed         drops the value
//
// A tab that has an outcome holds the lock Names::once_value(), shared. If no tab holds it, a
// caller does not wait for an answer. Where a held lock bars the back/forward cache, or where there
// are no Web Locks, a caller waits for ask_within_ms.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tabacus/common/task.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

class Names;

/// How a run ended. `text` is a value or an error, as js/ has written it.
struct OnceOutcome {
    bool succeeded = false;
    std::string text;
};

class OnceValues {
  public:
    /// How long a caller waits for the answer of a tab that has the outcome.
    static constexpr double ask_within_ms = 1'000;
    /// The shortest time for which an outcome is kept: the callers that waited for the run get the
    /// outcome one after another.
    static constexpr double kept_ms = 60'000;

    /// The arguments must outlive it.
    OnceValues(World& world, const Names& names);

    /// RAII guard: a caller of this tab that waits for an outcome of the key.
    class Caller {
      public:
        Caller(OnceValues& values, const std::string& key);
        Caller(const Caller&) = delete;
        Caller& operator=(const Caller&) = delete;
        Caller(Caller&&) = delete;
        Caller& operator=(Caller&&) = delete;
        ~Caller();

      private:
        OnceValues& values_;
        std::string key_;
    };

    /// Listens for values. Returns false if the platform has no BroadcastChannel.
    bool open();
    /// Returns the outcome of the run `flight`, from this tab or from another one. Returns nothing
    /// if no tab has it, or if no tab answers.
    Task<std::optional<OnceOutcome>> find(std::string key, std::int64_t flight);
    /// Acquires the lock that a tab holds while it has an outcome of the key. Returns null if this
    /// platform uses no such lock, or if `waits` is false and the lock is not free at once.
    Task<std::shared_ptr<HeldLock>> presence(std::string key, bool waits);
    /// Keeps the outcome of a run of this tab until `until_ms`, and posts it. `lock`: what
    /// presence() returned.
    void keep(const std::string& key, std::int64_t flight, const OnceOutcome& outcome,
              double until_ms, std::shared_ptr<HeldLock> lock);
    /// Drops the outcome in all tabs.
    void forget(const std::string& key);

  private:
    struct Entry {
        std::int64_t flight = 0;
        bool succeeded = false;
        std::string value;
        std::int64_t until_ms = 0;  // since the Unix epoch
        std::shared_ptr<HeldLock> lock;
    };
    struct Ask {
        std::string key;
        std::int64_t flight;
        Completer<Unit> answered;
    };
    using Entries = std::map<std::string, Entry, std::less<>>;

    [[nodiscard]] bool locks_show() const;
    std::optional<OnceOutcome> copy_of(const std::string& key, std::int64_t flight);
    Task<bool> is_elsewhere(std::string key);
    void put(const std::string& key, Entry entry);
    void post(const std::string& key, const Entry& entry);
    void drop(Entries::iterator entry);
    void drop_expired();
    void close();
    void on_message(std::string_view text, std::string value);
    bool receive(std::string_view text, std::string& value);
    Task<void> hold(std::string key, std::int64_t flight);

    World& world_;
    const Names& names_;
    std::unique_ptr<ValueChannel> channel_;
    Entries entries_;                                  // by key
    std::map<std::string, int, std::less<>> callers_;  // by key: how many wait
    std::list<Ask> asking_;
    Subscription lifecycle_;
    Scope scope_;  // declared last: its coroutines use all members above
};

}  // namespace tabacus
