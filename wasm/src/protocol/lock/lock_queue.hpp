// LockQueue: one lock as one tab sees it: its own requests in order, and what it has of the
// browser's lock.
//
// The tab asks the browser once for all of its requests, and once more for each that others came
// before, that asks for another mode, or that only requests which would not wait are before. A
// *possession* is what it then has; under it requests are *granted*, one after another (exclusive)
// or together (shared). Between two grants the possession is kept for a little while (keep_ms),
// because asking again costs a hundred times what a local grant does; it is let go at once when
// another tab begins to wait, when the page is hidden, and after slice_ms in any case, so that a
// lost message delays others by no more.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "epochs.hpp"
#include "lock_record.hpp"
#include "protocol/common/watchers.hpp"
#include "tabacus/lock/lock.hpp"

namespace tabacus {

/// An idle possession is kept for one to two of these.
constexpr double keep_ms = 10;
/// The longest a possession goes on granting while it may be that others wait.
constexpr double slice_ms = 50;
/// The longest it goes on granting when another tab is known to wait, about as long as that word is
/// under way: a lock that is handed over for each single grant does little else.
constexpr double linger_ms = 2;

/// The key of a user's row in Store::data.
inline std::string data_key(std::string_view store, std::string_view key) {
    return escaped(store) + "/" + std::string(key);
}

/// As long as `delay_ms`, for what others answer: by several timers one after another. A page that
/// was held up for longer finds its timers due before the messages that came meanwhile; those are
/// heard between the first timer and the last.
Task<void> patience(World& world, double delay_ms);
/// Whether `delay_ms` pass before `flag` becomes `over`. By timers that double: most things are
/// over soon, and a timer cannot be taken back.
Task<bool> outlasts(World& world, double delay_ms, std::shared_ptr<const bool> flag, bool over);

/// What the queues of a table share.
struct LockContext {
    World& world;
    const Names& names;
    LockEpochs epochs;
    NoticeHandler on_notice;
    std::unique_ptr<Channel> channel;
    // NOLINTBEGIN(readability-redundant-member-init): so that they may be left out
    std::map<std::string, std::shared_ptr<LockQueue>, std::less<>> queues = {};  // by escaped name
    std::map<std::string, Completer<Unit>> hearing = {};  // a nonce that shall come back
    // Of leases: grants, readers and waiters that said so.
    std::set<std::string, std::less<>> gone = {};
    std::uint64_t last_id = 0;
    double last_stamp_ms = 0;
    bool swept = false;  // of words that are too old (lease.hpp)
    int rescues = 0;
    bool asleep = false;  // frozen, or between pagehide and pageshow
    bool closed = false;
    Scope scope = {};  // last: what runs in it uses all of the above
    // NOLINTEND(readability-redundant-member-init)

    void post(LockMessage::Kind kind, const std::string& key,
              std::vector<std::string> detail = {}) const {
        if (channel)
            channel->post(format_lock_message({kind, key, epochs.tab(), std::move(detail)}));
    }
    void post_at_leisure(LockMessage::Kind kind, const std::string& key) const {
        if (channel) channel->post_at_leisure(format_lock_message({kind, key, epochs.tab(), {}}));
    }
    void note_gone(const std::vector<std::string>& ids);
    /// Since the Unix epoch. Rises, so that there is an order where the clock's step is coarse.
    double stamp_ms();
};

/// What a tab has of the browser's lock.
struct Possession {
    LockMode mode = LockMode::exclusive;
    LockTokens tokens;
    std::int64_t block = 1;          // tokens reserved last
    std::unique_ptr<HeldLock> lock;  // nothing of a lease
    std::unique_ptr<HeldLock> gate;  // let go as soon as the first holder has begun
    std::string reader;              // of a lease that is shared: its entry in the line
    std::vector<std::shared_ptr<Grant>> active;
    std::uint64_t uses = 0;
    double taken_ms = 0;
    bool lost = false;
    bool timing = false;   // keep() runs
    bool expired = false;  // kept idle for long enough
    std::function<void(std::string_view)> on_lost = nullptr;
};

/// One grant of a request. The queue may be gone: the handle of the user outlives nothing.
struct Grant {
    std::weak_ptr<LockQueue> queue;
    std::shared_ptr<Possession> possession;
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
    std::vector<std::function<void(std::string_view)>> on_lost;
};

/// A place in line that is taken ahead, for a later take().
struct Ticket {
    AbortSignal signal;              // ends the wait
    std::unique_ptr<HeldLock> gate;  // it is next
    bool over = false;               // given back, or robbed of what it stood for
    Completer<Unit> settled;

    [[nodiscard]] bool next() const { return gate && !over; }
    void give_back() {
        over = true;
        signal.abort();
        gate.reset();
        if (!settled.completed()) settled.complete({});
    }
};

/// Other tabs at a lock: none of them waits; all that do are behind this tab's place, which is next
/// in line; or some may be before it, or it has none.
enum class Waiting : std::uint8_t { nobody, behind, before };

/// How a tab comes to possess a lock (entry_lock.hpp, lease.hpp).
class Turnstile {
  public:
    struct Wish {
        LockMode mode = LockMode::exclusive;
        bool if_available = false;
        bool steal = false;
        LockClaim claim;
        std::shared_ptr<Ticket> ticket = nullptr;
    };
    Turnstile() = default;
    Turnstile(const Turnstile&) = delete;
    Turnstile& operator=(const Turnstile&) = delete;
    Turnstile(Turnstile&&) = delete;
    Turnstile& operator=(Turnstile&&) = delete;
    virtual ~Turnstile() = default;
    /// Waits for its turn. Nothing when not available, cancelled, or robbed of its place. At most
    /// one at a time, beside any number that steal.
    virtual Task<std::shared_ptr<Possession>> take(Wish wish) = 0;
    /// Stands in line although this tab has the lock, or waits for it: behind whoever does already,
    /// before whoever comes. `next` is called when nobody is before it any more. Nothing where
    /// there is no line to stand in twice.
    virtual std::shared_ptr<Ticket> line_up(LockMode /*mode*/, std::function<void()> /*next*/) {
        return nullptr;
    }
    /// Ends a take() that waits, and leaves nothing behind.
    virtual void cancel() = 0;
    virtual void let_go(const std::shared_ptr<Possession>& possession) = 0;
    /// Somebody let go, or gave up waiting.
    virtual void nudge() = 0;
    /// Whether a take() under way is the next in line.
    [[nodiscard]] virtual bool first_in_line() const = 0;
    /// Which other tabs wait. Who has heard of one may have outlived it: it got its shared grant,
    /// gave up or died. `is_next`: this tab itself has a place ahead that is next in line.
    virtual Task<Waiting> who_waits(bool is_next) = 0;
    /// Whether a take() under way is known to wait for other tabs. False also while what was asked
    /// has not been answered, and of what has been given the lock and is about to have it.
    virtual Task<bool> kept_waiting() = 0;
    /// This tab is about to begin an epoch out of turn.
    virtual void distrust() {}
};

class LockQueue : public std::enable_shared_from_this<LockQueue> {
  public:
    LockQueue(LockContext& context, std::string key, std::string name);

    Task<Held> acquire(LockOptions options);
    void release(Grant& grant);
    void lose(const std::shared_ptr<Possession>& possession, std::string_view reason);
    /// Ends a hold that is over: in a turn that takes long its timer is not due.
    void look(const std::shared_ptr<Grant>& granted);
    Task<FencedTransaction> begin(std::shared_ptr<Grant> grant, std::vector<Store> scope,
                                  Durability durability);
    void commit_ended(Grant& grant);

    Task<std::vector<LockRequestInfo>> query();
    /// Whether anything of this tab's is held or waits.
    [[nodiscard]] bool in_use() const { return !own_requests().empty(); }
    Task<bool> is_locked();
    Task<void> wait_for_unlock(std::optional<AbortSignal> signal, std::optional<double> timeout_ms);
    Subscription on_change(std::function<void()> callback);
    Subscription on_ring(std::function<void(const std::string&)> callback) {
        return hearers_.add(std::move(callback));
    }
    /// Calls the callbacks of on_ring() in all tabs.
    void toll(const std::string& about);

    /// Tells all tabs that the lock may have changed.
    void announce();
    void on_message(const LockMessage& message);
    /// Lets everything go at once, telling the holders; what waits goes on waiting.
    void fall_asleep(std::string_view reason);
    void wake_up();
    void became_hidden() { ring(); }
    void close();
    [[nodiscard]] const std::string& key() const { return key_; }
    [[nodiscard]] const std::string& name() const { return name_; }

  private:
    struct Waiter {
        std::uint64_t id = 0;
        LockOptions options;
        double since_ms = 0;
        bool ended = false;
        bool alone = false;  // it stands in line for itself, not with who is before it in its tab
        bool late = false;   // its time is over: not available now is too late
        std::optional<Error> failure;
        std::shared_ptr<Grant> grant;
        Completer<Unit> decided;
    };
    using WaiterPtr = std::shared_ptr<Waiter>;
    /// Another tab that asked while this one waited or held.
    struct Rival {
        std::string tab;
        double since_ms = 0;      // when the first of its requests was made
        double heard_ms = 0;      // when the last one was heard of
        std::uint64_t heard = 0;  // after which of ours
        std::uint64_t wants = 0;  // after which of our places in line
        bool tries = false;       // one of them does not wait
    };
    /// In line, behind those whom the tab heard of before and before those whom it hears of after.
    struct Place {
        std::uint64_t number = 0;
        LockMode mode = LockMode::exclusive;
        std::uint64_t owner = 0;  // the request whose it is
        double since_ms = 0;      // when the one was made that it was taken for
        std::shared_ptr<Ticket> ticket;
    };
    struct Withdrawal;
    struct Writing;

    // Requests (lock_queue.cpp).
    void join(const WaiterPtr& waiter);
    [[nodiscard]] WaiterPtr front();
    void settle(const WaiterPtr& waiter, std::optional<Error> failure);
    void refuse(const WaiterPtr& waiter, const Error& error);
    [[nodiscard]] bool takes_over();
    Task<void> expire(WaiterPtr waiter);
    Task<void> hear_out(WaiterPtr waiter);
    Task<void> steal(WaiterPtr waiter);
    Task<void> take_by_force(WaiterPtr waiter);
    Task<std::unique_ptr<Transaction>> begin_under(std::shared_ptr<Grant> grant,
                                                   std::vector<Store> scope, Durability durability);
    std::shared_ptr<Grant> outer_of(const LockOptions& options);
    std::shared_ptr<Grant> reenter(const std::shared_ptr<Grant>& outer, const LockOptions& options);

    // What the browser grants, and who gets it (serve.cpp).
    void wake_driver();
    Task<void> drive();
    Task<void> obtain();
    Task<std::shared_ptr<Possession>> take_if_available(Turnstile::Wish wish);
    Task<void> end_answers(std::shared_ptr<bool> over);
    Task<void> give_up(WaiterPtr waiter);
    void refuse_unavailable();
    Task<void> look_again();
    Task<void> serve(std::shared_ptr<Possession> possession);
    Task<bool> reserve_tokens(std::shared_ptr<Possession> possession);
    [[nodiscard]] WaiterPtr admissible(const Possession& possession);
    [[nodiscard]] bool must_yield(const Possession& possession) const;
    [[nodiscard]] bool may_linger(const Possession& possession) const;
    Task<bool> linger(std::shared_ptr<Possession> possession);
    Task<void> end_pause(std::shared_ptr<int> steps_left);
    Task<void> soon();
    Task<void> make_known(std::shared_ptr<Possession> possession);
    [[nodiscard]] bool must_let_go(const Possession& possession);
    [[nodiscard]] bool kept_from_sharing(const Possession& possession);
    std::shared_ptr<Grant> grant(const LockOptions& options,
                                 const std::shared_ptr<Possession>& possession);
    void possess(const std::shared_ptr<Possession>& possession);
    void let_go(const std::shared_ptr<Possession>& possession);
    Task<void> keep(std::shared_ptr<Possession> possession);
    Task<void> limit(std::shared_ptr<Grant> granted, double max_hold_ms);
    void end_hold(const std::shared_ptr<Grant>& granted);
    void ring();
    Task<void> rung();

    // First come, first served over tabs (lock_places.cpp).
    [[nodiscard]] bool behind_a_rival(const Waiter& waiter) const;
    [[nodiscard]] bool stands_alone(const Waiter& waiter) const;
    [[nodiscard]] bool came_between(std::uint64_t number, const Waiter& waiter) const;
    Task<void> line_up(WaiterPtr waiter);
    void line_up_behind(const Waiter& first);
    void was_served_before(std::uint64_t number);
    [[nodiscard]] std::optional<Place> place_in_turn() const;
    Task<bool> forget_rivals();
    std::deque<Place>::iterator place_of(const Waiter& waiter);
    void leave_line(const Waiter& waiter);
    void leave_line();
    Place next_place(const Waiter& first);
    void want(const Waiter& waiter, std::optional<std::uint64_t> number = std::nullopt);
    void heard_want(const LockMessage& message);
    void note_rival(const LockMessage& message, bool tries);
    [[nodiscard]] bool came_late(const Waiter& waiter) const;

    // What tabs tell each other (messages.cpp).
    Task<void> tell_released();
    void changed();
    void tell_of_waiter();

    // Eviction of hung holders (evict.cpp).
    struct Sight {
        std::string state;  // equal while nothing moves
        std::string epoch;  // its part in IndexedDB
        std::int64_t max_hold_ms = 0;
    };
    Task<void> watch();
    Task<Sight> look();
    [[nodiscard]] std::optional<double> own_max_hold_ms() const;
    Task<bool> hears();
    Task<bool> claim_rescue(Sight seen);
    Task<void> rescue_from(std::string state, std::uint64_t moves);
    Task<void> evict();

    // Cycles (deadlock.cpp).
    [[nodiscard]] std::string id_of(const Waiter& waiter) const;
    Task<void> probe(WaiterPtr waiter);
    void send_probe(const Waiter& waiter, bool confirming);
    void pass_on(LockMessage message);
    void follow(const WaiterPtr& waiter, const std::vector<std::string>& path);
    void came_home(const WaiterPtr& waiter, const std::vector<std::string>& path);
    void on_probe(const LockMessage& message);
    void on_victim(const LockMessage& message);

    // Who holds and who waits (query.cpp).
    struct Question {
        std::string nonce;
        std::vector<LockRequestInfo> answers;
        std::vector<std::string> tabs;
        std::size_t clients = 0;  // of the browser, for this lock
        std::size_t clients_heard = 0;
        bool exclusive = false;  // somebody has it so
        bool holder = false;     // one that has it so, or shares it, is known; or nobody has
        Completer<Unit> complete;

        void note(const LockMessage& message);
    };
    Task<std::vector<LockRequestInfo>> ask();
    Task<void> put(std::shared_ptr<Question> question);
    void answer(const LockMessage& message);
    [[nodiscard]] std::vector<std::shared_ptr<Grant>> holders() const;
    [[nodiscard]] std::vector<LockRequestInfo> own_requests() const;
    [[nodiscard]] std::optional<LockMode> keeps() const;
    Task<void> mourn();
    Task<void> look_for_the_dead();

    LockContext& context_;
    std::string key_;
    std::string name_;
    std::unique_ptr<Turnstile> turnstile_;

    std::deque<WaiterPtr> waiting_;  // ended ones among them are skipped
    std::size_t sweep_at_ = 0;       // with so many the ended ones are removed
    std::uint64_t newest_ = 0;       // of the requests that came
    std::shared_ptr<Possession> possession_;
    std::vector<std::shared_ptr<Possession>> stolen_;  // taken by steal, each for one grant
    bool driving_ = false;
    bool taking_ = false;
    LockMode taking_mode_ = LockMode::exclusive;
    std::vector<Rival> rivals_;
    double contended_ms_ = 0;     // when the first of them was heard of
    std::shared_ptr<int> pause_;  // of linger(): steps until its caller has had time to ask again
    int hasty_ = 0;               // own requests that wait for nobody
    bool looking_ = false;        // look_again() runs
    bool rung_ = false;
    Completer<Unit> bell_;
    std::uint64_t wants_ = 0;   // places in line that were taken
    std::uint64_t wanted_ = 0;  // that of the take() under way, or the last
    std::deque<Place> places_;  // taken ahead
    bool busy_heard_ = false;
    bool refused_ = false;     // the take() under way is of who would not wait, and asks once more
    std::uint64_t moves_ = 0;  // grants that were heard of
    Completer<Unit> answer_bell_;

    bool watching_ = false;
    std::string claimed_state_;  // another's rescue that was seen under way
    std::int64_t claimed_attempt_ = 0;

    std::vector<std::shared_ptr<Question>> questions_;
    Watchers watchers_;
    Listeners<std::string> hearers_;  // of what the living tell
    bool mourning_ = false;           // somebody watches for the death of holders
    bool held_seen_ = false;          // by another tab, as was last seen or heard
};

}  // namespace tabacus
