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
//   gate held by     lock's queue           behind it at the gate
//   readers          those readers          a writer, then anybody: they wait for a writer who
//   holds one writer       that writer, alone     anybody: first its turn, then theirs nobody
//   nobody                 nobody
#pragma once

#include <memory>

#include "lock_queue.hpp"

namespace tabacus {

class WebTurnstile final : public Turnstile {
  public:
    WebTurnstile(LockContext& context, std::string key) : context_(context), key_(std::move(key)) {}

    Task<std::shared_ptr<Possession>> take(Wish wish) override;
    void cancel() override;
    void let_go(const std::shared_ptr<Possession>& possession) override {
        possession->lock.reset();
    }
    void nudge() override {}
    [[nodiscard]] bool first_in_line() const override { return at_the_gate_; }

  private:
    Task<std::unique_ptr<HeldLock>> ask(std::string name, Wish wish);
    Task<std::unique_ptr<HeldLock>> pass_the_gate(Wish wish);
    Task<std::shared_ptr<Possession>> possession(std::unique_ptr<HeldLock> lock, Wish wish);

    LockContext& context_;
    std::string key_;
    AbortSignal waiting_;
    bool cancelled_ = false;
    bool gate_lost_ = false;
    bool at_the_gate_ = false;
    std::weak_ptr<Possession> entering_;  // has the lock, and its epoch has not begun yet
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

  private:
    LockContext& context_;
    std::string key_;
};

}  // namespace tabacus
