// LockQueue: one lock as one tab sees it: its own requests in order, and its hold of the native
// lock.
//
// The native lock is what excludes other tabs: a Web Lock, or a lease. The tab requests it once for
// all of its own requests, and once more for each request that another tab's came before, that asks
// for another mode, or that has only `ifAvailable` requests before it. What the tab then has is its
// *native hold*. Under it requests are *granted*, one after another (exclusive) or together
// (shared). Between two grants the hold is kept for a little while (grace_period_ms), because
// acquiring the native lock again costs a hundred times what a local grant does. The tab releases
// it at once when another tab begins to wait or when the page is hidden, and after slice_ms in any
// case, so that a lost message delays others by no more.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "epochs.hpp"
#include "lock_record.hpp"
#include "protocol/common/change_listeners.hpp"
#include "tabacus/lock/lock.hpp"

namespace tabacus {

/// The grace period: an idle native hold is kept for one to two of these.
constexpr double grace_period_ms = 10;
/// The longest that a hold goes on granting while other tabs may be waiting.
constexpr double slice_ms = 50;
/// The longest that a hold goes on granting once another tab is known to wait. It is about as long
/// as that tab's message takes: a lock that is handed over after each single grant does little
/// else.
constexpr double barging_window_ms = 2;

/// The key of a user's row in Store::data.
inline std::string data_key(std::string_view store, std::string_view key) {
    return escaped(store) + "/" + std::string(key);
}

inline Error closed_error() { return {ErrorCode::closed, "the tab was closed"}; }
inline Error late_error() { return {ErrorCode::timed_out, "the lock was not granted in time"}; }

/// Sleeps for `delay_ms`, during which other tabs may answer: by several timers one after another.
/// A page that was held up for longer finds its timers due before the messages that came meanwhile;
/// it receives those between the first timer and the last.
Task<void> sleep_for_answers(World& world, double delay_ms);
/// Whether `delay_ms` pass before `flag` becomes `over`. By timers that double: most things are
/// over soon, and a timer cannot be taken back.
Task<bool> outlasts(World& world, double delay_ms, std::shared_ptr<const bool> flag, bool over);

/// What is inside a LockTable, and shared by its queues (lock_table.cpp).
struct LockContext {
    LockContext(World& of, std::string_view name_space, NoticeHandler handler);

    World& world;
    Names names;
    LockEpochs epochs;
    NoticeHandler on_notice;
    std::unique_ptr<Channel> channel;
    Subscription lifecycle;
    std::map<std::string, std::shared_ptr<LockQueue>, std::less<>> queues;  // by escaped name
    std::map<std::string, Completer<Unit>> echoes;  // by the nonce that is awaited
    // The grants, readers and waiters of leases that announced their departure.
    std::set<std::string, std::less<>> gone;
    std::uint64_t last_id = 0;
    double last_stamp_ms = 0;
    bool swept = false;  // old departure notices were removed (lease.hpp)
    int evictions = 0;
    bool suspended = false;  // frozen, or between pagehide and pageshow
    bool closed = false;
    Scope scope;  // last: what runs in it uses all of the above

    /// The queue of a lock's name; made by the first call.
    LockQueue& queue(std::string_view name);
    void open_channel();
    void on_message(std::string_view text);
    void on_lifecycle(LifecycleEvent event);
    void suspend(std::string_view reason);
    void resume();
    /// A copy: a callback may open another lock.
    [[nodiscard]] std::vector<std::shared_ptr<LockQueue>> all_queues() const;
    void post(LockMessage::Kind kind, const std::string& key,
              std::vector<std::string> detail = {}) const {
        if (channel)
            channel->post(format_lock_message({kind, key, epochs.tab(), std::move(detail)}));
    }
    void post_deferred(LockMessage::Kind kind, const std::string& key) const {
        if (channel) channel->post_deferred(format_lock_message({kind, key, epochs.tab(), {}}));
    }
    void note_gone(const std::vector<std::string>& ids);
    /// Since the Unix epoch. Rises, so that there is an order where the clock's step is coarse.
    double stamp_ms();
};

/// A native lock (Web Lock or lease) that is held on behalf of this tab.
struct NativeHold {
    LockMode mode = LockMode::exclusive;
    LockTokens tokens;
    std::int64_t block = 1;                // tokens reserved last
    std::unique_ptr<HeldLock> lock;        // nothing of a lease
    std::unique_ptr<HeldLock> entry_lock;  // released as soon as the first holder has begun
    std::string reader;                    // of a lease that is shared: its entry in the line
    std::vector<std::shared_ptr<Grant>> active;
    std::uint64_t uses = 0;
    double taken_ms = 0;
    bool lost = false;
    bool timing = false;   // run_grace_timer() runs
    bool expired = false;  // kept idle for long enough
    Function<void(std::string_view)> on_lost = nullptr;
};

/// One grant of a request. The queue may be gone: a Held may outlive its queue.
struct Grant {
    std::weak_ptr<LockQueue> queue;
    std::shared_ptr<NativeHold> hold;
    std::shared_ptr<Grant> within;
    std::uint64_t id = 0;
    LockMode mode = LockMode::exclusive;
    std::optional<std::int64_t> token;
    std::string label;
    double since_ms = 0;
    double until_ms = std::numeric_limits<double>::infinity();  // World::clock().monotonic_ms()
    bool held = true;
    std::string loss;
    int commits = 0;  // under way
    std::vector<Function<void(std::string_view)>> on_lost;
};

/// A request for the entry lock that is made ahead, for a later acquire(): a position in line.
struct EntryLockRequest {
    AbortSignal signal;              // ends the wait
    std::unique_ptr<HeldLock> lock;  // the entry lock: this position is next in line
    bool over = false;               // given up, or the entry lock was stolen
    Completer<Unit> settled;

    [[nodiscard]] bool is_next() const { return lock && !over; }
    void give_up() {
        over = true;
        signal.abort();
        lock.reset();
        if (!settled.completed()) settled.complete({});
    }
};

/// Other tabs at a lock: none of them waits; all that wait are behind this tab's position, which is
/// next in line; or some may be before it, or this tab has no position.
enum class OtherWaiters : std::uint8_t { none, behind_us, ahead_of_us };

/// What a tab asks of a native lock, for one or more of its acquire requests.
struct NativeRequest {
    LockMode mode = LockMode::exclusive;
    bool if_available = false;
    bool steal = false;
    LockClaim claim;
    std::shared_ptr<EntryLockRequest> entry = nullptr;
};

/// What excludes other tabs: Web Locks (web_lock.hpp), a lease (lease.hpp), or nothing.
class NativeLock {
  public:
    NativeLock() = default;
    NativeLock(const NativeLock&) = delete;
    NativeLock& operator=(const NativeLock&) = delete;
    NativeLock(NativeLock&&) = delete;
    NativeLock& operator=(NativeLock&&) = delete;
    virtual ~NativeLock() = default;
    /// Waits for this tab's turn. Returns nothing if the lock is not available, or if the request
    /// was cancelled or lost its position to a stealer. At most one acquire() at a time, beside any
    /// number that steal.
    virtual Task<std::shared_ptr<NativeHold>> acquire(NativeRequest request) = 0;
    /// Takes a position in line although this tab has the lock, or waits for it: behind all that
    /// wait already, before all that come later. `on_next` is called when nobody is before it any
    /// more. Returns nothing where a tab cannot have two positions.
    virtual std::shared_ptr<EntryLockRequest> request_entry(LockMode /*mode*/,
                                                            Function<void()> /*on_next*/) {
        return nullptr;
    }
    /// Ends an acquire() that waits, and leaves nothing behind.
    virtual void cancel() = 0;
    virtual void release(const std::shared_ptr<NativeHold>& hold) = 0;
    /// Another tab released the lock, or gave up waiting.
    virtual void on_possible_release() = 0;
    /// Whether an acquire() under way is the next in line.
    [[nodiscard]] virtual bool first_in_line() const = 0;
    /// Which other tabs wait. A tab that announced its request may be gone: it got its shared
    /// grant, gave up or died. `is_next`: this tab itself has a position ahead that is next in
    /// line.
    virtual Task<OtherWaiters> query_other_waiters(bool is_next) = 0;
    /// Whether an acquire() under way is known to wait for other tabs. False also while the browser
    /// or the database has not answered yet, and once the lock was granted and is being entered.
    virtual Task<bool> is_known_to_wait() = 0;
    /// Voids the tokens that are reserved: this tab is about to begin an epoch out of turn.
    virtual void void_reservation() {}
};

class LockQueue : public std::enable_shared_from_this<LockQueue> {
  public:
    LockQueue(LockContext& context, std::string key, std::string name);

    Task<Held> acquire(LockOptions options);
    void release(Grant& grant);
    void lose(const std::shared_ptr<NativeHold>& hold, std::string_view reason);
    /// Ends a grant whose maxHold is over: in a turn that takes long its timer is not due.
    void check_max_hold(const std::shared_ptr<Grant>& granted);
    Task<FencedTransaction> begin(std::shared_ptr<Grant> grant, Stores scope,
                                  Durability durability);
    void commit_ended(Grant& grant);

    Task<std::vector<LockRequestInfo>> query();
    /// Whether anything of this tab's is held or waits.
    [[nodiscard]] bool in_use() const { return !own_requests().empty(); }
    Task<bool> is_locked();
    Task<void> wait_for_unlock(std::optional<AbortSignal> signal, std::optional<double> timeout_ms);
    Subscription on_change(Function<void()> callback);
    Subscription on_broadcast(Function<void(const std::string&)> callback) {
        return broadcast_listeners_.add(std::move(callback));
    }
    /// Calls the callbacks of on_broadcast() in all tabs.
    void broadcast(const std::string& about);

    /// Notifies all tabs that the lock may have changed.
    void announce();
    void on_message(const LockMessage& message);
    /// Releases everything at once and notifies the holders; what waits goes on waiting.
    void suspend(std::string_view reason);
    void resume();
    void became_hidden() { wake(); }
    void close();
    [[nodiscard]] const std::string& key() const { return key_; }
    [[nodiscard]] const std::string& name() const { return name_; }

  private:
    /// One caller's acquire().
    struct AcquireRequest {
        std::uint64_t id = 0;
        LockOptions options;
        double since_ms = 0;
        bool ended = false;
        bool alone = false;  // it has a position of its own, not with the one before it in its tab
        bool late = false;   // its time is over: not available now is too late
        std::optional<Error> failure;
        std::shared_ptr<Grant> grant;
        Completer<Unit> decided;
    };
    using RequestPtr = std::shared_ptr<AcquireRequest>;
    /// Another tab that announced requests while this one waited or held.
    struct Contender {
        std::string tab;
        double since_ms = 0;               // when the first of its requests was made
        double received_ms = 0;            // when the last announcement was received
        std::uint64_t after_request = 0;   // that of ours after which it was received
        std::uint64_t after_position = 0;  // that of our positions in line
        bool tries = false;                // one of its requests does not wait
    };
    /// A position in line: behind the tabs that announced their requests before it was taken, and
    /// before those that announce theirs later.
    struct Position {
        std::uint64_t number = 0;
        LockMode mode = LockMode::exclusive;
        std::uint64_t owner = 0;  // the request that has it
        double since_ms = 0;      // when the request was made that it was taken for
        std::shared_ptr<EntryLockRequest> entry;
    };
    struct Withdrawal;
    struct Writing;

    // The way of a request (lock_queue.cpp).
    std::shared_ptr<Grant> outer_of(const LockOptions& options);
    std::shared_ptr<Grant> reenter(const std::shared_ptr<Grant>& outer, const LockOptions& options);
    void join(const RequestPtr& request);
    [[nodiscard]] RequestPtr front();
    void settle(const RequestPtr& request, std::optional<Error> failure);
    void refuse(const RequestPtr& request, const Error& error);
    [[nodiscard]] bool takes_over();
    void start_driver();
    Task<void> drive();
    Task<void> obtain();
    void adopt(const std::shared_ptr<NativeHold>& hold);
    Task<void> serve(std::shared_ptr<NativeHold> hold);
    std::shared_ptr<Grant> grant(const LockOptions& options,
                                 const std::shared_ptr<NativeHold>& hold);
    Task<void> run_grace_timer(std::shared_ptr<NativeHold> hold);
    void release_hold(const std::shared_ptr<NativeHold>& hold);
    void wake();
    Task<void> await_wake();

    // How long a native hold goes on granting (hand_over.cpp).
    [[nodiscard]] RequestPtr admissible(const NativeHold& hold);
    [[nodiscard]] bool must_yield(const NativeHold& hold) const;
    [[nodiscard]] bool in_barging_window(const NativeHold& hold) const;
    Task<bool> may_go_on(std::shared_ptr<NativeHold> hold);
    Task<void> end_barging_window(std::shared_ptr<int> steps_left);
    [[nodiscard]] bool must_release(const NativeHold& hold);
    Task<bool> reserve_tokens(std::shared_ptr<NativeHold> hold);
    Task<void> announce_grant(std::shared_ptr<NativeHold> hold);
    Task<void> await_pending_releases();
    [[nodiscard]] bool waits_to_share(const NativeHold& hold);
    Task<void> wake_after_slice();
    Task<void> limit(std::shared_ptr<Grant> granted, double max_hold_ms);
    void end_hold(const std::shared_ptr<Grant>& granted);

    // Requests that do not wait for ever (give_up.cpp).
    Task<void> expire(RequestPtr request);
    Task<void> await_first_answer(RequestPtr request);
    Task<std::shared_ptr<NativeHold>> acquire_if_available(NativeRequest request);
    Task<void> end_answers(std::shared_ptr<bool> over);
    void refuse_unavailable();
    Task<void> give_up(RequestPtr request);

    // Requests that steal (steal.cpp).
    Task<void> steal(RequestPtr request);
    Task<void> acquire_by_stealing(RequestPtr request);

    // What is written under a grant (fenced_transaction.cpp).
    Task<std::unique_ptr<Transaction>> begin_under(std::shared_ptr<Grant> grant, Stores scope,
                                                   Durability durability);

    // First come, first served over tabs (fair_order.cpp).
    [[nodiscard]] bool behind_a_contender(const AcquireRequest& request) const;
    [[nodiscard]] bool stands_alone(const AcquireRequest& request) const;
    [[nodiscard]] bool came_between(std::uint64_t number, const AcquireRequest& request) const;
    Task<void> take_position(RequestPtr request);
    void take_positions_behind(const AcquireRequest& first);
    void was_served_before(std::uint64_t number);
    [[nodiscard]] std::optional<Position> position_in_turn() const;
    Task<bool> forget_contenders();
    std::vector<Position>::iterator position_of(const AcquireRequest& request);
    void release_position(const AcquireRequest& request);
    void release_positions();
    Position pop_position(const AcquireRequest& first);
    void announce_request(const AcquireRequest& request,
                          std::optional<std::uint64_t> number = std::nullopt);
    void on_request(const LockMessage& message);
    void note_contender(const LockMessage& message, bool tries);
    [[nodiscard]] bool came_late(const AcquireRequest& request) const;

    // Messages between tabs (messages.cpp).
    Task<void> post_released();
    void changed();
    void notify_of_waiter();

    // Eviction of hung holders (evict.cpp).
    struct Observation {
        std::string state;  // equal while nothing moves
        std::string epoch;  // its part in IndexedDB
        std::int64_t max_hold_ms = 0;
    };
    Task<void> watch();
    Task<Observation> observe();
    [[nodiscard]] std::optional<double> own_max_hold_ms() const;
    Task<bool> channel_echoes();
    Task<bool> claim_eviction(Observation seen);
    Task<void> evict_if_unmoved(std::string state, std::uint64_t moves);
    Task<void> evict();

    // Cycles (deadlock.cpp).
    [[nodiscard]] std::string id_of(const AcquireRequest& request) const;
    Task<void> probe(RequestPtr request);
    void send_probe(const AcquireRequest& request, bool confirming);
    void pass_on(LockMessage message);
    void follow(const RequestPtr& request, const std::vector<std::string>& path);
    void on_probe_returned(const RequestPtr& request, const std::vector<std::string>& path);
    void on_probe(const LockMessage& message);
    void on_victim(const LockMessage& message);

    // Queries for the requests of all tabs, held and waiting (query.cpp).
    struct TabQuery {
        std::string nonce;
        std::vector<LockRequestInfo> answers;
        std::vector<std::string> tabs;
        std::size_t clients = 0;  // of the browser, for this lock
        std::size_t clients_answered = 0;
        bool exclusive = false;  // it is held exclusively
        bool holder = false;     // a holder in that mode is known, or nobody holds it
        Completer<Unit> complete;

        void note(const LockMessage& message);
    };
    Task<std::vector<LockRequestInfo>> query_tabs();
    Task<void> post_query(std::shared_ptr<TabQuery> query);
    void report_requests(const LockMessage& query);
    void collect_report(const LockMessage& message);
    [[nodiscard]] std::vector<std::shared_ptr<Grant>> holders() const;
    [[nodiscard]] std::vector<LockRequestInfo> own_requests() const;
    [[nodiscard]] std::optional<LockMode> idle_hold_mode() const;
    Task<void> poll_for_crash();
    Task<void> check_for_crash();

    LockContext& context_;
    std::string key_;
    std::string name_;
    std::unique_ptr<NativeLock> native_lock_;

    std::list<RequestPtr> waiting_;  // ended ones among them are skipped
    std::size_t sweep_at_ = 0;       // with so many the ended ones are removed
    std::uint64_t newest_ = 0;       // of the requests that came
    std::shared_ptr<NativeHold> hold_;
    std::vector<std::shared_ptr<NativeHold>> stolen_;  // taken by steal, each for one grant
    bool driving_ = false;
    bool acquiring_ = false;
    LockMode acquiring_mode_ = LockMode::exclusive;
    std::vector<Contender> contenders_;
    double contended_ms_ = 0;                  // when the first of them was received
    std::shared_ptr<int> barging_steps_left_;  // of may_go_on(), until a caller has asked again
    int trying_ = 0;                           // own requests with ifAvailable
    bool wake_pending_ = false;                // wake_after_slice() runs
    bool woken_ = false;
    Completer<Unit> wake_signal_;
    std::uint64_t last_position_ = 0;       // the newest position in line that was taken
    std::uint64_t acquiring_position_ = 0;  // that of the acquire() under way, or the last
    std::vector<Position> positions_;       // taken ahead
    bool busy_received_ = false;
    bool refused_ = false;     // acquire_if_available() was refused, and will ask once more
    std::uint64_t moves_ = 0;  // grants in other tabs that were announced
    Completer<Unit> answer_signal_;

    bool watching_ = false;
    std::string claimed_state_;  // another tab's eviction that was seen under way
    std::int64_t claimed_attempt_ = 0;

    std::vector<std::shared_ptr<TabQuery>> tab_queries_;
    ChangeListeners change_listeners_;
    Listeners<std::string> broadcast_listeners_;  // of on_broadcast()
    bool crash_polling_ = false;                  // poll_for_crash() runs
    bool held_seen_ = false;                      // by another tab, as far as this one knows
};

}  // namespace tabacus
