// StoredCounter: what the strategies of the catalogue share: where they live, the value that they
// last saw, and whom to tell of it.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "names.hpp"
#include "tabacus/counter.hpp"
#include "watchers.hpp"

namespace tabacus {

/// Where a counter lives.
struct Place {
    World& world;
    Names names;
    std::string name;  // as the user wrote it
    NoticeHandler on_notice;
};

class StoredCounter : public Counter {
  public:
    explicit StoredCounter(Place place) : place_(std::move(place)) {}

    Task<void> flush() override { co_return; }  // for who has stored by the end of add()
    [[nodiscard]] std::int64_t value() const override { return last_seen_; }
    Subscription on_change(std::function<void()> callback) override {
        return watchers_.add(std::move(callback));
    }
    /// Called before the database is let go for page_hide.
    virtual void on_lifecycle(LifecycleEvent /*event*/) {}

  protected:
    [[nodiscard]] World& world() const { return place_.world; }
    [[nodiscard]] const Place& place() const { return place_; }

    void see(std::int64_t value) {
        if (std::exchange(last_seen_, value) != value) watchers_.call();
    }
    void warn_corrupt(std::string_view subject, const char* message) const {
        place_.on_notice(
            {Notice::Kind::warning, "corrupt-record", message, std::string(subject), "", 0});
    }

  private:
    Place place_;
    std::int64_t last_seen_ = 0;
    Watchers watchers_;
};

}  // namespace tabacus
