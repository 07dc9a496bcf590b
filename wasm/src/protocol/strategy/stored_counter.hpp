// StoredCounter: what the strategies of the catalogue share: where they keep their rows, the value
// that they last saw, its watchers, and which adds are under way.
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

/// Where a counter keeps its rows: a World, a namespace and a name in it.
struct CounterLocation {
    World& world;
    Names names;
    std::string name;  // as the user wrote it
    NoticeHandler on_notice;
    // For strategies that get no events from their store:
    // NOLINTBEGIN(readability-redundant-member-init): so that they may be left out
    Function<void()> notify_others = {};     // that something was added
    Function<void()> listen_to_others = {};  // refresh() at their notifications
    // NOLINTEND(readability-redundant-member-init)
};

class StoredCounter : public Counter {
  public:
    explicit StoredCounter(CounterLocation location) : location_(std::move(location)) {}

    Task<std::int64_t> add(std::int64_t n) final;
    /// Ends when every add that had begun has ended, however.
    Task<void> flush() override;
    [[nodiscard]] std::int64_t value() const override { return last_seen_; }
    /// Called once for all changes of a turn, at its end, and for the first value that is read.
    Subscription on_change(Function<void()> callback) override;
    /// Called before the database is let go for page_hide.
    virtual void on_lifecycle(LifecycleEvent /*event*/) {}
    /// Reads again, soon, if there are watchers: another tab has added something.
    void refresh();

  protected:
    virtual Task<std::int64_t> store(std::int64_t n) = 0;
    /// False: store() only gathers, and other tabs are notified once it is written.
    [[nodiscard]] virtual bool in_store_once_added() const { return true; }
    void notify_others() const {
        if (location_.notify_others) location_.notify_others();
    }

    [[nodiscard]] World& world() const { return location_.world; }
    [[nodiscard]] const CounterLocation& location() const { return location_; }

    void see(std::int64_t value);
    void warn_corrupt(std::string_view subject, const char* message) const {
        location_.on_notice(
            {Notice::Kind::warning, "corrupt-record", message, std::string(subject), "", 0});
    }
    /// Moves a text of localStorage that cannot be read from the key `key` to the key `to`, so that
    /// the next add finds none, and warns. Fails as Storage::set() does; then the text stays where
    /// it is, and is not to be written over.
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
    std::set<std::string> stays_;  // keys of texts that were warned of and not moved
    std::int64_t last_seen_ = 0;
    ChangeListeners change_listeners_;
    bool notifying_ = false;
    bool refreshing_ = false;
    bool stale_ = false;
    std::uint64_t last_add_ = 0;
    std::list<std::uint64_t> adding_;  // under way, in the order in which they began
    std::list<Waiter> waiters_;
    Scope scope_;  // last: what runs in it uses all of the above
};

}  // namespace tabacus
