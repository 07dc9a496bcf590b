// Replica: this tab as one writer among many, for all replicated counters of a namespace.
//
// It promises:
//  - An increment whose flush resolved is in the store, and is counted exactly once for ever.
//  - No increment is counted twice, whatever dies, freezes, is stolen or vanishes.
//  - Storage grows with the most tabs open at once, not with the tabs ever opened.
//
// How:
//  - SLOT. The replica writes the rows of one slot: the lowest whose liveness lock it can take. It
//    holds that Web Lock while it lives; where a lock keeps a page that is left out of the
//    back/forward cache, while it has anything to write.
//  - EPOCH. Adopting a slot records a new holder in `claims`, in one transaction. Every commit
//    claims the slot again under that holder; the unique index aborts it if a newer one is
//    recorded. The lock only orders the waiters; this is the fence.
//  - COMMIT. Whole rows of cumulative totals, all dirty counters in one transaction, one at a time.
//  - NEWS. Totals are announced before they are committed, and checked against the store later.
//  - GENERATION. The database carries a random id. A row is named by (generation, slot), so that
//    rows saved from a vanished database keep their names and can be merged back by any tab, any
//    number of times, by taking the larger: from the memory of living tabs and from the backup that
//    each replica keeps of its committed rows in localStorage.
//
// What grows is kept in lists: none of it is long, and to grow a vector takes eight times the code.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backup.hpp"
#include "counter_state.hpp"
#include "protocol/common/names.hpp"
#include "tabacus/common/counter.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

/// Where the rows live.
enum class Medium : std::uint8_t { database, storage, memory };

class Replica {
  public:
    /// `data_loss`: what the browser reported when it made the database, if it did so before.
    Replica(World& world, const Names& names, Medium medium, NoticeHandler on_notice,
            std::string data_loss);
    Replica(const Replica&) = delete;
    Replica& operator=(const Replica&) = delete;
    Replica(Replica&&) = delete;
    Replica& operator=(Replica&&) = delete;
    virtual ~Replica() = default;

    CounterState& counter(std::string_view name, Durability durability);

    /// Counts at once; commit and news follow at the end of the turn.
    std::optional<std::int64_t> increment(CounterState& state, std::int64_t n) {
        if (!add_own(state, n)) return std::nullopt;
        if (n == 0) return state.value;
        state.added += 1;
        state.announceable = true;
        state.changed = true;
        if (!turn_scheduled_) schedule_turn();
        return state.value;
    }

    /// The rows as the store holds them, plus this tab's own increments.
    Task<std::int64_t> read(CounterState& state);
    Task<void> flush(CounterState& state);

    /// Commits what is pending and lets everything go. Fails as flush() does, having let go.
    Task<void> close();

    [[nodiscard]] Medium medium() const { return medium_; }
    [[nodiscard]] bool has_channel() const { return channel_ != nullptr; }
    [[nodiscard]] bool idle() { return scope_.idle(); }

  protected:
    struct CommitRow {
        CounterState* state = nullptr;
        Totals totals;
        Totals increments;  // the part of them that is not committed
        std::uint64_t through = 0;
        bool based = false;  // `totals` include the base
        Totals base;         // what the slot's row held, if this commit adopts the slot
    };

    /// Reads the stored rows of a counter into its row cache. Answers false when a slot must be
    /// adopted before they are read again (replica_load.cpp).
    virtual Task<bool> load_rows(CounterState& state);
    /// Commits the dirty rows (replica_commit.cpp).
    virtual Task<void> commit_rows();
    bool merge_row(CounterState& state, std::string_view row, std::string_view value, bool foreign);
    std::list<CommitRow> gather(Durability durability);
    void committed(const std::list<CommitRow>& rows);

    World& world_;
    Names names_;
    std::string row_;  // "generation/slot" of the own rows, once adopted
    std::int64_t row_epoch_ = 0;

  private:
    static bool add_own(CounterState& state, std::int64_t n);
    void revalue(CounterState& state);

    // The turn: what follows an increment once the script has ended.
    void schedule_turn();
    Task<void> turn();
    void call_subscribers();

    // Slots and epochs (replica_slot.cpp).
    Task<void> ensure_adopted();
    Task<void> adopt();
    Task<void> take_slot_lock();
    Task<void> request_slot_lock();
    [[nodiscard]] bool resting();
    void rest_soon();
    Task<void> rest();
    bool give_up_row(std::int64_t epoch);
    Task<std::int64_t> next_epoch(Transaction& transaction, std::string_view slot);
    Task<void> commit_adoption(Transaction& transaction, const HolderRecord& holder,
                               std::list<CommitRow>& rows);
    void pass_over_slot();
    Task<void> settle_unknown_commits(Transaction& transaction, std::string_view generation);
    static std::string row_of(const HolderRecord& holder);
    void begin_epoch(HolderRecord holder);
    void end_epoch();
    void lose_slot();
    [[nodiscard]] std::string own_row() const;

    // Generations and recovery (replica_recover.cpp).
    Task<std::string> settle_generation(Transaction& transaction, Notice& loss, bool& made);
    Task<std::int32_t> recover(Transaction& transaction, std::string_view generation);

    // Commits (replica_commit.cpp).
    [[nodiscard]] bool dirty() const;
    /// True while a flush waits for a commit.
    [[nodiscard]] bool awaited() const;
    Task<void> commit_loop();
    Task<void> commit_batch();
    void put_first_rows(Transaction& transaction, const HolderRecord& holder,
                        std::list<CommitRow>& rows);
    void forget_first_rows(const std::list<CommitRow>& rows);
    Task<void> back_up(const std::list<CommitRow>& rows);
    Task<Totals> stored_base(Transaction& transaction, std::string key);
    void set_base(CounterState& state, Totals base);
    [[nodiscard]] Durability durability_of_dirty() const;
    static void confirm(CounterState& state, Totals totals, std::uint64_t through);
    static void fail_unknown(CounterState& state);
    static void fail_waiters(CounterState& state, const Error& error);
    void fail_waiters(const Error& error);
    static void complete(std::list<Completer<Unit>>& waiters);
    Task<void> back_off(double delay_ms);

    // Reading the store (replica_load.cpp).
    Task<void> load(CounterState& state);
    void reload_all();
    Task<void> reload(CounterState& state);

    // News (replica_news.cpp).
    void open_channel();
    void post(const Message& message);
    void announce();
    Task<void> announce_loop();
    void on_message(std::string_view text);
    void on_totals(CounterState& state, const Message& message);
    Task<void> confirm_loop();
    CounterState* find(std::string_view key);

    // Lifecycle (replica.cpp).
    void on_lifecycle(LifecycleEvent event);
    void on_database(const DatabaseEvent& event);
    void commit_before_sleep();
    void hide();
    void show();

    void warn(std::string_view code, std::string_view message, std::string_view subject);
    void warn(const Error& failure, std::string_view subject);
    void warn_unreadable(std::string_view where, std::string_view key);

    Medium medium_;
    NoticeHandler on_notice_;
    Backup backup_;

    std::list<CounterState> counters_;   // only grows: a counter stays where it is
    std::list<std::string> unreadable_;  // records already warned of

    std::unique_ptr<HeldLock> slot_lock_;
    bool slot_lock_lost_ = false;
    bool slot_exhausted_ = false;         // the adoption failed for that, and is to be tried again
    int slot_first_ = 0;                  // those before are exhausted
    std::string slot_;                    // the slot whose lock is held, or its random stand-in
    std::optional<HolderRecord> holder_;  // nothing while no slot is adopted
    std::string generation_;              // of the database, as last seen
    std::string data_loss_;  // what the browser reported when it made the database anew

    std::unique_ptr<Channel> channel_;

    bool turn_scheduled_ = false;
    bool adopting_ = false;
    std::list<Completer<Unit>> adoption_waiters_;
    bool committing_ = false;
    bool backing_off_ = false;
    Completer<Unit> retry_signal_;
    int commits_in_flight_ = 0;
    std::uint64_t commits_ = 0;  // those known to have happened
    bool rests_soon_ = false;
    std::list<Completer<Unit>> outcome_waiters_;
    bool announcing_ = false;
    bool confirming_ = false;
    bool suspended_ = false;  // between pagehide and pageshow
    bool closed_ = false;

    Subscription lifecycle_;
    Subscription database_;
    Scope scope_;  // last: what runs in it uses all of the above
};

}  // namespace tabacus
