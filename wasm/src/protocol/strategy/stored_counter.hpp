// StoredCounter: the base of all strategies of the catalogue. It knows where the counter is stored,
// the value that was last seen and its watchers, and which calls of add() have not ended.
#pragma once

#include <cstdint>
#include <list>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "protocol/common/change_listeners.hpp"
#include "protocol/common/names.hpp"
#include "tabacus/common/counter.hpp"

namespace tabacus {

class StoreLossDetector;

/// Where a counter is stored: a World, a namespace and a name in it.
struct CounterLocation {
    World& world;
    Names names;
    std::string name;  // as the user wrote it, not escaped
    NoticeHandler on_notice;
    // For strategies that get no events from their store:
    // NOLINTBEGIN(readability-redundant-member-init): so that they may be left out
    Function<void()> notify_others = {};     // notifies other tabs that something was added
    Function<void()> listen_to_others = {};  // calls refresh() when another tab notifies this one
    const StoreLossDetector* loss_detector = nullptr;  // for cut_off()
    // NOLINTEND(readability-redundant-member-init)
};

class StoredCounter : public Counter {
  public:
    explicit StoredCounter(CounterLocation location) : location_(std::move(location)) {}

    Task<std::int64_t> add(std::int64_t n) final;
    /// Returns once every add() that began before the call has ended, also if it failed.
    Task<void> flush() override;
    [[nodiscard]] std::int64_t value() const override { return last_seen_; }
    /// Calls `callback` at the end of a turn, once for all changes of the turn, and for the first
    /// value that is read.
    Subscription on_change(Function<void()> callback) override;
    /// Handles an event of the page. For page_hide, it is called before the database is closed.
    virtual void on_lifecycle(LifecycleEvent /*event*/) {}
    /// Reads the store again, within 50 ms, if there are watchers, because another tab has added
    /// something.
    void refresh();

  protected:
    /// Does what add() promises.
    virtual Task<std::int64_t> store(std::int64_t n) = 0;
    /// Whether an increment is in the store when store() returns. If not, the strategy notifies
    /// other tabs itself once the increment is written.
    [[nodiscard]] virtual bool in_store_once_added() const { return true; }
    void notify_others() const {
        if (location_.notify_others) location_.notify_others();
    }

    [[nodiscard]] World& world() const { return location_.world; }
    [[nodiscard]] const CounterLocation& location() const { return location_; }

    /// Sets the value, and schedules a call of the watchers if it has changed.
    void see(std::int64_t value);
    void warn_corrupt(std::string_view subject, const char* message) const {
        location_.on_notice(
            {Notice::Kind::warning, "corrupt-record", message, std::string(subject), "", 0});
    }
    /// Whether new documents have another lock manager than this one, as far as is known.
    [[nodiscard]] bool cut_off() const;
    /// Fails with version_mismatch, after a warning, if a newer version wrote the text of that key.
    Task<void> warn_and_fail_if_newer(std::string key, std::string text) const;
    /// Moves a text of localStorage that cannot be read from the key `key` to the key `to`, so that
    /// the next add() finds no text, and warns. Fails as Storage::set() does; then the text stays
    /// where it is, and the caller must not overwrite it.
    Task<void> quarantine(std::string key, std::string to, std::string text, const char* message);

  private:
    struct Waiter {
        std::uint64_t target = 0;
        Completer<Unit> done;
    };
    void ended(std::uint64_t add);
    Task<void> notify_watchers();
    Task<void> refresh_until_done();
    Task<void> move(std::string from, std::string to, std::string text);

    CounterLocation location_;
    std::set<std::string> stays_;  // keys of texts that were warned about but could not be moved
    std::int64_t last_seen_ = 0;
    ChangeListeners change_listeners_;
    bool notifying_ = false;
    bool refreshing_ = false;
    bool stale_ = false;
    std::uint64_t last_add_ = 0;
    std::list<std::uint64_t> adding_;  // the calls of add() that have not ended, oldest first
    std::list<Waiter> waiters_;
    Scope scope_;  // last, because its tasks use all of the above
};

}  // namespace tabacus
