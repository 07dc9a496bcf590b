// StoredCounter: what the strategies of the catalogue share: where they live, the value that they
// last saw, whom to tell of it, and which adds are under way.
#pragma once

#include <cstdint>
#include <list>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "protocol/common/names.hpp"
#include "protocol/common/watchers.hpp"
#include "tabacus/common/counter.hpp"

namespace tabacus {

/// Where a counter lives.
struct Place {
    World& world;
    Names names;
    std::string name;  // as the user wrote it
    NoticeHandler on_notice;
    // For who has no events from the store:
    // NOLINTBEGIN(readability-redundant-member-init): so that they may be left out
    std::function<void()> tell_others = {};       // that something was added
    std::function<void()> listen_to_others = {};  // look_again() at what they tell
    // NOLINTEND(readability-redundant-member-init)
};

class StoredCounter : public Counter {
  public:
    explicit StoredCounter(Place place) : place_(std::move(place)) {}

    Task<std::int64_t> add(std::int64_t n) final;
    /// Ends when every add that had begun has ended, however.
    Task<void> flush() override;
    [[nodiscard]] std::int64_t value() const override { return last_seen_; }
    /// Called once for all changes of a turn, at its end. Who follows hears of the first value,
    /// too.
    Subscription on_change(std::function<void()> callback) override;
    /// Called before the database is let go for page_hide.
    virtual void on_lifecycle(LifecycleEvent /*event*/) {}
    /// Reads again, soon, if anybody follows: another tab said that something was added.
    void look_again();

  protected:
    virtual Task<std::int64_t> store(std::int64_t n) = 0;
    /// False: store() only gathers, and others are told of what is written later.
    [[nodiscard]] virtual bool in_store_once_added() const { return true; }
    void tell_others() const {
        if (place_.tell_others) place_.tell_others();
    }

    [[nodiscard]] World& world() const { return place_.world; }
    [[nodiscard]] const Place& place() const { return place_; }

    void see(std::int64_t value);
    void warn_corrupt(std::string_view subject, const char* message) const {
        place_.on_notice(
            {Notice::Kind::warning, "corrupt-record", message, std::string(subject), "", 0});
    }
    /// Moves what cannot be read in localStorage out of the way of the next who counts, and warns.
    /// Fails as Storage::set() does; then it stays where it is, and is not to be written over.
    Task<void> set_aside(std::string key, std::string to, std::string text, const char* message);

  private:
    struct Waiter {
        std::uint64_t target = 0;
        Completer<Unit> done;
    };
    void ended(std::uint64_t add);
    Task<void> tell();
    Task<void> look();
    Task<void> move(std::string from, std::string to, std::string text);

    Place place_;
    std::set<std::string> stays_;  // what was warned of without being moved
    std::int64_t last_seen_ = 0;
    Watchers watchers_;
    bool telling_ = false;
    bool looking_ = false;
    bool stale_ = false;
    std::uint64_t last_add_ = 0;
    std::list<std::uint64_t> adding_;  // under way, in the order in which they began
    std::list<Waiter> waiters_;
    Scope scope_;  // last: what runs in it uses all of the above
};

}  // namespace tabacus
