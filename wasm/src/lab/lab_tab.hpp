// LabTab: the World of one tab of a simulated origin.
//
// The tab owns the program under test (run<Program>(…)); killing the tab destroys the program.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "origin.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus::lab {

/// Callbacks, each registered until its Subscription is destroyed. A callback may add and remove
/// callbacks.
template <typename... Arguments>
class Callbacks {
  public:
    using Callback = Function<void(Arguments...)>;

    Subscription add(Callback callback) {
        entries_->push_back(std::make_shared<Callback>(std::move(callback)));
        return Subscription(
            [entries = entries_, entry = entries_->back()] { std::erase(*entries, entry); });
    }
    void call(Arguments... arguments) const {
        const auto entries = *entries_;
        for (const auto& entry : entries) {
            const auto& now = *entries_;
            if (std::find(now.begin(), now.end(), entry) != now.end()) (*entry)(arguments...);
        }
    }

  private:
    using Entries = std::vector<std::shared_ptr<Callback>>;
    std::shared_ptr<Entries> entries_ = std::make_shared<Entries>();
};

class LabTab final : public World {
  public:
    LabTab(Origin& origin, TabId id, Platform platform);
    LabTab(const LabTab&) = delete;
    LabTab& operator=(const LabTab&) = delete;
    LabTab(LabTab&&) = delete;
    LabTab& operator=(LabTab&&) = delete;
    ~LabTab();

    [[nodiscard]] TabId id() const { return id_; }
    [[nodiscard]] bool alive() const { return alive_; }
    /// Whether the tab runs: it is alive, not frozen, and not in the back/forward cache.
    [[nodiscard]] bool active() const { return alive_ && !frozen_ && !cached_; }
    [[nodiscard]] Origin& origin() { return origin_; }

    /// Makes the program of this tab; killing the tab destroys it.
    template <typename Program, typename... Arguments>
    Program& run(Arguments&&... arguments) {
        auto program = std::make_shared<Program>(std::forward<Arguments>(arguments)...);
        program_ = program;
        return *program;
    }
    /// Posts a script, which the tab runs in a later turn. Scripts run in the order of their posts.
    void post(Action script);

    /// Sets the difference between the tab's wall clock and the origin's, as if the tab's clock was
    /// set or is faked.
    void set_wall_clock(double offset_ms) { wall_offset_ms_ = offset_ms; }

    Storage& storage() override;
    Database& database() override;
    Locks& locks() override;
    std::unique_ptr<Channel> channel(std::string_view name) override;
    std::unique_ptr<ValueChannel> value_channel(std::string_view name) override;
    Clock& clock() override;
    Random& random() override;
    Lifecycle& lifecycle() override;

  private:
    friend class Origin;
    class LabStorage;
    class LabDatabase;
    class LabTransaction;
    class LabLocks;
    class LabHeldLock;
    class LabChannel;
    class LabValueChannel;
    class LabClock;
    class LabRandom;
    class LabLifecycle;

    struct Microtask {
        int left = 1;
        Completer<Unit> done;
    };

    void in_tab(Source::Kind kind, Action event, std::uint64_t content, std::uint64_t peer = 0);
    /// Adds a hash of what the tab received to its history, because its later steps may depend on
    /// it.
    void observe(std::uint64_t what) { history_ = lab::digest(history_, what); }
    [[nodiscard]] std::uint64_t digest() const;
    void die();
    void run_microtasks();
    [[nodiscard]] bool mid_turn() const;

    Origin& origin_;
    TabId id_;
    Platform platform_;
    std::size_t lock_manager_;  // the index of its lock manager in Origin::locks_
    bool alive_ = true;
    bool frozen_ = false;
    bool cached_ = false;
    bool hidden_ = false;
    bool drops_messages_ = false;
    bool in_turn_ = false;
    double wall_offset_ms_ = 0;
    std::uint32_t last_transaction_ = 0;
    std::uint32_t last_request_ = 0;
    std::uint64_t history_ = 0;  // a hash of everything that the tab has received, in order
    std::vector<Microtask> microtasks_;
    std::unique_ptr<LabStorage> storage_;
    std::unique_ptr<LabDatabase> database_;
    std::unique_ptr<LabLocks> locks_;
    std::unique_ptr<LabClock> clock_;
    std::unique_ptr<LabRandom> random_;
    std::unique_ptr<LabLifecycle> lifecycle_;
    std::shared_ptr<void> program_;
};

}  // namespace tabacus::lab
