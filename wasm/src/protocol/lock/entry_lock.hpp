// WebTurnstile: Web Locks, in two steps, so that nobody is stranded behind one who gives up.
//
// Chromium does not wake the requests queued behind a waiting one that is aborted, or whose tab is
// closed, until the holder releases (DESIGN §1), although Web Locks §4.3 says it must. It shows
// where holders share: readers behind a writer that gave up wait for a reader who holds. So a
// request waits at the *gate* first, and only who has the gate in its mode waits for the lock
// itself, and then lets the gate go. Therefore the lock's own queue has either readers only or one
// writer alone, and nobody is behind a writer there; and whoever is behind somebody at the gate
// waits for the gate's holder in any case:
//
//   gate held by      lock's queue         behind it at the gate
//   readers           those readers        a writer, then anybody: they wait for one who holds
//   one writer        that writer, alone   anybody: first its turn, then theirs
//   a tab's place     as before            anybody: first that tab's turns before it
//   nobody            nobody
//
// Tokens. A writer at the gate is the one that comes next, so that it reserves its tokens while it
// waits: between the release of one tab and the grant of another there is no transaction. What it
// reserved is the newest when its turn comes, because whoever raises the epoch out of turn (a
// thief, a rescuer) takes the gate from it first, and the browser tells a tab of its locks in
// order: who is granted the lock after that has heard that the gate is lost, and begins anew. A tab
// that hung may have been granted the lock, and robbed of it, long ago: who finds its timers late
// reserves anew under the lock.
#pragma once

#include <memory>

#include "lock_queue.hpp"

namespace tabacus {

class WebTurnstile final : public Turnstile {
  public:
    WebTurnstile(LockContext& context, std::string key) : context_(context), key_(std::move(key)) {}

    Task<std::shared_ptr<Possession>> take(Wish wish) override;
    std::shared_ptr<Ticket> line_up(LockMode mode, std::function<void()> next) override;
    void cancel() override;
    void let_go(const std::shared_ptr<Possession>& possession) override {
        possession->lock.reset();
        possession->gate.reset();
    }
    void nudge() override {}
    [[nodiscard]] bool first_in_line() const override { return gate_ != nullptr; }
    Task<Waiting> who_waits(bool is_next) override;
    Task<bool> kept_waiting() override;
    void distrust() override {
        if (reservation_) reservation_->trusted = false;
    }

  private:
    /// The tokens of who is next.
    struct Reservation {
        std::optional<LockTokens> tokens;
        std::shared_ptr<bool> granted = std::make_shared<bool>(false);
        Completer<Unit> settled;
        double seen_ms = 0;  // when this tab's timers last worked
        bool trusted = true;
    };

    Task<std::unique_ptr<HeldLock>> ask(std::string name, Wish wish);
    Task<std::unique_ptr<HeldLock>> ask_for_the_gate(Wish wish);
    Task<void> stand(std::shared_ptr<Ticket> ticket, LockMode mode, std::function<void()> next);
    Task<std::shared_ptr<Possession>> pass_the_gate(Wish wish);
    Task<std::shared_ptr<Possession>> take_under_the_gate(Wish wish);
    Task<std::shared_ptr<Possession>> rob(Wish wish);
    Task<void> equip(std::shared_ptr<Possession> possession, Wish wish);
    Task<void> reserve(std::shared_ptr<Reservation> reservation, LockClaim claim);
    Task<void> stay_awake(std::shared_ptr<Reservation> reservation);
    [[nodiscard]] bool awake(const Reservation& reservation) const;

    LockContext& context_;
    std::string key_;
    AbortSignal waiting_;
    std::uint64_t asked_ = 0;
    bool answered_ = true;  // what was asked for last
    bool cancelled_ = false;
    bool gate_lost_ = false;
    std::unique_ptr<HeldLock> gate_;
    std::shared_ptr<Reservation> reservation_;
    std::weak_ptr<Possession> entering_;  // has the lock, and no tokens yet
};

/// Where nothing excludes other tabs: within the page, at once.
class PageTurnstile final : public Turnstile {
  public:
    PageTurnstile(LockContext& context, std::string key)
        : context_(context), key_(std::move(key)) {}
    Task<std::shared_ptr<Possession>> take(Wish wish) override {
        auto possession = std::make_shared<Possession>();
        possession->mode = wish.mode;
        if (wish.mode == LockMode::exclusive) {
            possession->tokens = co_await context_.epochs.raise(key_, wish.claim);
        }
        co_return possession;
    }
    void cancel() override {}
    void let_go(const std::shared_ptr<Possession>& /*possession*/) override {}
    void nudge() override {}
    [[nodiscard]] bool first_in_line() const override { return true; }
    Task<Waiting> who_waits(bool /*is_next*/) override { co_return Waiting::nobody; }
    Task<bool> kept_waiting() override { co_return false; }

  private:
    LockContext& context_;
    std::string key_;
};

}  // namespace tabacus
