// The parts of a LabTab. Each implements an interface of World over the shared parts of the tab's
// origin.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lab_tab.hpp"

namespace tabacus::lab {

/// Returns an Async that never completes, for a call that the destructors of a dead tab make.
template <typename T>
Async<T> never() {
    return Completer<T>().async();
}

/// Returns a hash of a reply to a transaction.
std::uint64_t digest_of(TransactionId id, const Operation::Reply& reply);

class LabTab::LabStorage final : public Storage {
  public:
    explicit LabStorage(LabTab& tab) : tab_(tab) {}

    [[nodiscard]] bool available() const override { return tab_.platform_.storage; }
    Async<std::optional<std::string>> get(std::string_view key) override;
    Async<Unit> set(std::string_view key, std::string_view value) override;
    Async<Unit> remove(std::string_view key) override;
    Async<std::vector<std::string>> keys(std::string_view prefix) override;
    Subscription on_change(std::string_view prefix,
                           Function<void(const StorageChange&)> callback) override {
        return changes_.add([prefix = std::string(prefix),
                             callback = std::move(callback)](const StorageChange& change) {
            if (!change.key || change.key->starts_with(prefix)) callback(change);
        });
    }
    void notify(const StorageChange& change) const { changes_.call(change); }

  private:
    template <typename T, typename Operation>
    Async<T> perform(Operation operation);

    LabTab& tab_;
    Callbacks<const StorageChange&> changes_;
};

class LabTab::LabDatabase final : public Database {
  public:
    explicit LabDatabase(LabTab& tab) : tab_(tab) {}

    [[nodiscard]] bool available() const override { return tab_.platform_.database; }
    Async<Unit> open() override;
    Async<std::unique_ptr<Transaction>> begin(Stores scope, Access access, Durability durability,
                                              const TransactionGroup* group) override;
    void close() override {
        open_ = false;
        was_closed_ = true;
    }
    Subscription on_event(Function<void(const DatabaseEvent&)> callback) override {
        return events_.add(std::move(callback));
    }

    /// Drops the connection, as a browser does. For each commit that has not ended, `happens()`
    /// decides whether it happens.
    template <typename Happens>
    void drop_connection(Happens happens);
    [[nodiscard]] bool connected() const { return open_ && !lost_ && !dead_; }
    /// Whether a connection of the tab was ever closed, by the tab or by the browser.
    [[nodiscard]] bool was_closed() const { return was_closed_; }
    /// Aborts each transaction with no call of commit(), because the tab stops: it dies, or enters
    /// the back/forward cache.
    void abort_uncommitted();
    /// Loses the results of pending operations, because the tab was in a back/forward cache that
    /// delivers none (Firefox). Such an operation fails, and a commit has an unknown outcome.
    void lose_under_way();
    /// Decides each commit that has not ended: it happens if `happens()` returns true.
    template <typename Happens>
    void decide_commits(Happens happens);
    [[nodiscard]] bool commits_under_way() const;
    /// Throws std::logic_error if the turn that ends leaves a transaction with no operation: a
    /// browser would commit it by itself (§2.7.1 "Transaction lifecycle").
    void check_end_of_turn() const;

    /// Lets the connection die without an event. Its transactions abort, and the replies on their
    /// way are lost. Requires Origin::Options::connections_die.
    void kill_connection();
    /// Lets the present connection answer no transaction. Requires what kill_connection() does.
    void hang();
    /// Lets the transactions that hang go on, if there are any.
    void answer_again();
    /// Whether the tab has given up the connection that hangs, so that the fault may end.
    [[nodiscard]] bool gave_up() const { return hung_ && hung_last_ != UINT32_MAX; }
    [[nodiscard]] bool hung() const { return hung_; }
    /// Whether the transaction of this number is not answered.
    [[nodiscard]] bool hangs(std::uint64_t number) const { return hung_ && number <= hung_last_; }
    [[nodiscard]] std::uint64_t digest() const {
        return hung_ ? lab::digest(tab_.id_, hung_last_) : 0;
    }

  private:
    friend class LabTransaction;
    struct Client;
    /// Passes the reply of an operation to the coroutine that awaits it.
    using Answered = std::function<void(Client&, const Operation::Reply&)>;
    /// An operation of a transaction that may be repeated.
    struct Request {
        Operation operation;                    // without `reply`
        Answered answered;                      // until there is an answer
        std::optional<std::vector<Row>> known;  // the answer of a read
    };
    /// The tab's view of one transaction. While the transaction commits, it may outlive the
    /// LabTransaction.
    struct Client {
        TransactionId id;
        std::uint64_t connection;
        Stores scope;
        Access access;
        int awaited = 0;  // reads and commits whose reply the tab has not seen
        bool commit_called = false;
        bool connection_lost = false;
        bool unreported = false;  // whether its results never reach the tab
        Durability durability = Durability::relaxed;
        // These are used if transactions are repeated (lab_repetition.cpp).
        // NOLINTNEXTLINE(readability-redundant-member-init): so that it may be left out
        std::vector<Request> requests = {};
        bool waiting = false;    // whether its connection is dead, and no other one is open yet
        bool lost = false;       // whether it is waiting, and the tab does not know that yet
        bool uncertain = false;  // whether a former attempt may have been committed
        bool cancelled = false;  // whether the tab has aborted it, or does not use it any more
        int repetitions = 0;
        std::size_t uncompared = 0;  // reads that were made again, and whose answers are awaited
        std::optional<ErrorCode> ended = std::nullopt;  // the failure with which it ended early
    };
    using ClientPointer = std::shared_ptr<Client>;
    struct Waiting {
        Stores scope;
        Access access;
        Durability durability;
        TransactionGroup::Member member;
        Completer<std::unique_ptr<Transaction>> completer;
        ClientPointer repeated = nullptr;  // the transaction that is repeated; null for a new one
    };
    std::unique_ptr<Transaction> make(Stores scope, Access access, Durability durability,
                                      TransactionGroup::Member member);
    /// Issues an operation of a transaction. `answered` is null for a write.
    void issue(const ClientPointer& client, Operation operation, Answered answered);
    void send(const ClientPointer& client, Operation operation, const Answered& answered);
    void send_again(const ClientPointer& client, std::size_t index);
    void answer(const ClientPointer& client, TransactionId id, std::size_t index,
                const Operation::Reply& reply);
    void compare(const ClientPointer& client, const std::vector<Row>& known,
                 const Operation::Reply& reply);
    [[nodiscard]] bool in_progress(const Client& client) const;
    [[nodiscard]] bool used() const;
    bool lose_attempts();
    void found_dead();
    void repeat(const ClientPointer& client);
    void restart(const ClientPointer& client);
    void proved(const ClientPointer& client, TransactionId id, bool found);
    void make_requests_again(const ClientPointer& client);
    [[nodiscard]] static ErrorCode failure_of(const Client& client);
    static void end(Client& client, std::optional<ErrorCode> error);
    void watch();
    void give_up();
    void request_opening();
    void opened();

    LabTab& tab_;
    bool open_ = false;
    bool was_closed_ = false;
    std::uint64_t connection_ = 0;  // the number of connections so far
    bool lost_ = false;             // whether the browser closed it without the tab knowing yet
    std::vector<Waiting> waiting_;
    std::vector<Completer<Unit>> openings_;
    std::vector<ClientPointer> clients_;
    Callbacks<const DatabaseEvent&> events_;
    bool dead_ = false;      // whether the connection has died, and the tab has not found out
    bool hung_ = false;      // whether the transactions with numbers up to `hung_last_` hang
    bool watching_ = false;  // whether a timer of watch() runs
    std::uint32_t hung_last_ = UINT32_MAX;
};

template <typename Happens>
void LabTab::LabDatabase::decide_commits(Happens happens) {
    for (const auto& client : clients_) {
        if (client->commit_called) tab_.origin_.database_.decide(client->id, happens());
    }
}

/// Does what §5.2 "Closing a database connection" says for the forced flag: every transaction of
/// the connection aborts, and a `close` event is fired. The tab never learns whether a pending
/// commit happened.
template <typename Happens>
void LabTab::LabDatabase::drop_connection(Happens happens) {
    tab_.origin_.note_stop(tab_);
    if (!open_ || lost_) return;
    tab_.origin_.recorder_.trace(tab_.id_, Object::faults, [] {
        return std::string("loses its connection to the database");
    });
    lost_ = was_closed_ = true;
    for (const auto& client : clients_) client->connection_lost = !client->waiting;
    decide_commits(happens);
    abort_uncommitted();
    auto closed = [this, connection = connection_] {
        if (connection != connection_) return;  // the tab has closed it and opened another one
        open_ = lost_ = false;
        events_.call({DatabaseEvent::Kind::closed, ""});
    };
    tab_.observe(static_cast<std::uint64_t>(Source::Kind::database));
    tab_.in_tab(Source::Kind::database, std::move(closed), 1, connection_);
}

class LabTab::LabTransaction final : public Transaction {
  public:
    LabTransaction(LabTab& tab, std::shared_ptr<LabDatabase::Client> client,
                   TransactionGroup::Member member)
        : tab_(tab), client_(std::move(client)), member_(std::move(member)) {
        member_.begun(*this);
    }
    LabTransaction(const LabTransaction&) = delete;
    LabTransaction& operator=(const LabTransaction&) = delete;
    LabTransaction(LabTransaction&&) = delete;
    LabTransaction& operator=(LabTransaction&&) = delete;
    ~LabTransaction() override;

    Async<std::optional<Row>> get(Store store, std::string_view key) override;
    Async<std::vector<Row>> list(Store store, std::string_view prefix, std::uint32_t limit,
                                 std::string_view from) override;
    void put(Store store, std::string_view key, std::string_view value) override;
    void remove(Store store, std::string_view key) override;
    void remove_range(Store store, std::string_view first, std::string_view last) override;
    Async<std::optional<std::string>> holder(std::string_view subject) override;
    void claim(std::string_view subject, std::string_view holder) override;
    void release(std::string_view holder) override;
    Async<Unit> commit() override;
    void abort() override;

  private:
    template <typename T, typename Convert>
    Async<T> ask(Operation operation, Convert convert);
    void check(Store store, Access access) const;
    void write(Operation operation);

    LabTab& tab_;
    std::shared_ptr<LabDatabase::Client> client_;
    TransactionGroup::Member member_;
};

class LabTab::LabLocks final : public Locks {
  public:
    explicit LabLocks(LabTab& tab) : tab_(tab) {}

    [[nodiscard]] bool available() const override { return tab_.platform_.locks; }
    Async<std::unique_ptr<HeldLock>> request(LockRequest request) override;
    Async<LockSnapshot> query(const std::vector<std::string>& probed) override;
    Async<Unit> probe() override;

    void granted(RequestId id);
    void not_available(RequestId id);
    void stolen(RequestId id);

  private:
    friend class LabHeldLock;
    enum class Message : std::uint8_t { request, abort, release, query, probe };
    /// Posts a message to the lock manager, which calls `call`. The messages of a tab stay in their
    /// order. `about` is equal for messages with equal content.
    template <typename Call>
    void send(Call call, Message message, std::uint64_t about);
    void abort(RequestId id);

    LabTab& tab_;
    std::map<RequestId, Completer<std::unique_ptr<HeldLock>>> waiting_;
    std::map<RequestId, LabHeldLock*> held_;
};

class LabTab::LabHeldLock final : public HeldLock {
  public:
    LabHeldLock(LabLocks& locks, RequestId id) : locks_(locks), id_(id) { locks.held_[id] = this; }
    LabHeldLock(const LabHeldLock&) = delete;
    LabHeldLock& operator=(const LabHeldLock&) = delete;
    LabHeldLock(LabHeldLock&&) = delete;
    LabHeldLock& operator=(LabHeldLock&&) = delete;
    ~LabHeldLock() override;
    void on_lost(Function<void()> callback) override { on_lost_ = std::move(callback); }
    void notify_lost() {
        if (const auto callback = std::exchange(on_lost_, nullptr)) callback();
    }

  private:
    LabLocks& locks_;
    RequestId id_;
    Function<void()> on_lost_;
};

class LabTab::LabChannel final : public Channel {
  public:
    LabChannel(LabTab& tab, std::string_view name)
        : tab_(tab), name_(name), id_(tab.origin_.channels_.open(tab.id_, name)) {}
    LabChannel(const LabChannel&) = delete;
    LabChannel& operator=(const LabChannel&) = delete;
    LabChannel(LabChannel&&) = delete;
    LabChannel& operator=(LabChannel&&) = delete;
    ~LabChannel() override { tab_.origin_.channels_.close(id_); }
    void post(std::string_view message) override;
    void on_message(Function<void(std::string_view)> callback) override {
        tab_.origin_.channels_.listen(id_, std::move(callback));
    }

  private:
    LabTab& tab_;
    std::string name_;
    ChannelHub::EndpointId id_;
};

/// A channel on which each value is its own text. A message ends at the first line break.
class LabTab::LabValueChannel final : public ValueChannel {
  public:
    LabValueChannel(LabTab& tab, std::string_view name) : channel_(tab, name) {}
    void post(std::string_view message, std::string_view value) override {
        channel_.post(std::string(message) + "\n" + std::string(value));
    }
    void on_message(Function<void(std::string_view, std::string)> callback) override {
        channel_.on_message([callback = std::move(callback)](std::string_view text) {
            const auto end = std::min(text.find('\n'), text.size());
            callback(text.substr(0, end), std::string(text.substr(std::min(end + 1, text.size()))));
        });
    }
    std::string copy(std::string_view value) override { return std::string(value); }
    void drop(std::string_view value) override { static_cast<void>(value); }

  private:
    LabChannel channel_;
};

class LabTab::LabClock final : public Clock {
  public:
    explicit LabClock(LabTab& tab) : tab_(tab) {}
    [[nodiscard]] double now_ms() const override {
        const auto ahead_ms = tab_.origin_.wall_ahead_ms_;
        tab_.origin_.recorder_.observe([=] { return std::bit_cast<std::uint64_t>(ahead_ms); });
        return tab_.origin_.clock_.now_ms() + ahead_ms + tab_.wall_offset_ms_;
    }
    [[nodiscard]] double monotonic_ms() const override { return tab_.origin_.clock_.now_ms(); }
    Async<Unit> sleep(double delay_ms) override;
    Async<Unit> after_microtasks(int count) override;

  private:
    LabTab& tab_;
};

class LabTab::LabRandom final : public Random {
  public:
    explicit LabRandom(SeededRandom random) : random_(random) {}
    std::uint64_t bits() override { return random_.bits(); }

  private:
    SeededRandom random_;
};

class LabTab::LabLifecycle final : public Lifecycle {
  public:
    explicit LabLifecycle(const LabTab& tab) : tab_(tab) {}

    [[nodiscard]] bool hidden() const override { return tab_.hidden_; }
    [[nodiscard]] bool locks_bar_cache() const override { return tab_.platform_.locks_bar_cache; }
    [[nodiscard]] bool prerendering() const override { return tab_.platform_.prerendered; }
    Subscription on_event(Function<void(LifecycleEvent)> callback) override {
        return events_.add(std::move(callback));
    }
    void notify(LifecycleEvent event) const {
        tab_.origin_.recorder_.observe([event] { return static_cast<std::uint64_t>(event) + 1; });
        events_.call(event);
    }

  private:
    const LabTab& tab_;
    Callbacks<LifecycleEvent> events_;
};

}  // namespace tabacus::lab
