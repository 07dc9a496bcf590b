// FairOrder: the positions in line of one tab's requests, so that first come is first served over
// tabs.
//
// A position is a request for the entry lock (web_lock.hpp). The browser's queue for the entry lock
// is the order of the positions of all tabs. A tab takes one position for each acquire() of its
// native lock. In addition it takes a position *ahead*, before that acquire() begins, for each
// request that came after a request of another tab, or that cannot share the position of the
// request before it (stands_alone()):
//
//   state of a position   meaning                               what ends the state
//   in line               other tabs may be before it           the entry lock is granted: next
//                                                               pop_position(): current
//   next in line          it holds the entry lock               pop_position(): current
//                                                               the entry lock is stolen: in line
//   current               acquire() goes on with it, or went    the next pop_position()
//                         on with it last
//   given up              its request ended without an heir,    nothing
//                         its turn came in another mode, the
//                         page stopped, or its request did
//                         not keep it (LockDriver::obtain())
//
// A request that ends passes its position to the tab's next request, its heir, unless another tab
// came, or may have come, between the two. A position whose entry lock was stolen stays in the
// list: acquire() fails when it uses that position, and the driver takes another one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "contenders.hpp"
#include "native_holds.hpp"
#include "request_queue.hpp"

namespace tabacus {

class FairOrder {
  public:
    /// The number in the announcement of the next in line if it needs no answer.
    static constexpr std::uint64_t no_answer = 0;
    struct Position {
        std::uint64_t number = 0;
        LockMode mode = LockMode::exclusive;
        std::uint64_t owner = 0;  // the request that has it
        double since_ms = 0;      // when the request was made that it was taken for
        std::shared_ptr<EntryLockRequest> entry;
    };

    FairOrder(NamedLock& lock, RequestQueue& requests, Contenders& contenders,
              const NativeHolds& holds)
        : lock_(lock), requests_(requests), contenders_(contenders), holds_(holds) {}

    /// Whether a new request needs a position of its own. It does if it asks for another mode than
    /// the one before it in this tab: a tab holds or requests the native lock in one mode, and
    /// other tabs would not see the other. It also does if only `ifAvailable` requests are before
    /// it: a native request with `ifAvailable` keeps no position.
    [[nodiscard]] bool stands_alone(const AcquireRequest& request) const;
    /// Whether another tab's request came after all of this tab's positions, and before this
    /// request. Positions that were given up do not count.
    [[nodiscard]] bool behind_a_contender(const AcquireRequest& request) const;
    /// Whether another tab that this one does not know of may have come after this tab's last
    /// position and before the request. A tab that waits learns of other tabs only while it is near
    /// the lock (near_channels.hpp), so that a tab that has just become a holder does not know
    /// which requests came before.
    [[nodiscard]] bool may_be_behind_others(const AcquireRequest& request) const {
        return may_be_behind_others(request, last_since_ms_);
    }

    /// Returns the number of the current position.
    [[nodiscard]] std::uint64_t current() const { return current_; }
    /// Returns the position that was taken ahead for a request, or nothing.
    [[nodiscard]] const Position* position_of(const AcquireRequest& request) const;
    /// Returns the last position that is next in line, which holds the entry lock for this tab.
    /// Returns null if there is none.
    [[nodiscard]] const Position* next_position() const;
    /// Takes a position for a request that came after a request of another tab, or that needs its
    /// own. Does nothing if the tab serves the request in its barging window (hand_over.hpp) or
    /// acquires the lock for it anyway. Announces the request, so that tabs whose requests are made
    /// after the announcement know that they came later.
    void take_position(const AcquireRequestPtr& request) { lock_.spawn(take(request)); }
    /// Takes positions for the requests of this tab that need their own and have none. That happens
    /// because a frozen tab has given its positions up, and so has a tab whose turn came in another
    /// mode. The first request that waits needs a position, too, if the request before it is an
    /// `ifAvailable` request.
    void take_positions_behind(const AcquireRequest& first);
    /// Makes the oldest position in line the current one, whichever request it was taken for: a
    /// request does not queue behind its own tab. An `ifAvailable` request needs none, and leaves
    /// the positions to those that wait.
    Position pop_position(const AcquireRequest& first);
    /// Passes the position of a request that ended to its heir. If the request ended before it had
    /// a position, the heir takes it.
    void release_position(const AcquireRequest& request);
    void release_positions();

    /// Announces a request to the tabs near the lock.
    /// @param number  The number of the position, which an answer repeats, if the tab is the next
    ///                in line or would not wait; otherwise nothing.
    void announce(const AcquireRequest& request, std::optional<std::uint64_t> number);
    /// Whether a tab announces that it is the next in line, and not that it begins to wait.
    [[nodiscard]] static bool announces_next(const LockMessage& message);
    /// Notes that another tab announced a request.
    void on_request(const LockMessage& message);
    /// Forgets contenders that are gone, if no other tab waits before this tab's position. Returns
    /// true if a request of this tab may be admissible now (HandOver::admissible()).
    Task<bool> forget_contenders();

  private:
    /// Does the same as if the last position had been taken for a request made at `since_ms`.
    [[nodiscard]] bool may_be_behind_others(const AcquireRequest& request, double since_ms) const;
    Task<void> take(AcquireRequestPtr request);
    void note_contender(const LockMessage& message, bool tries);
    [[nodiscard]] std::vector<Position>::iterator find(const AcquireRequest& request);

    NamedLock& lock_;
    RequestQueue& requests_;
    Contenders& contenders_;
    const NativeHolds& holds_;
    std::uint64_t last_ = 0;  // the number of the newest position
    std::uint64_t current_ = 0;
    double last_since_ms_ = 0;  // of the request for which the newest position was taken
    std::vector<Position> ahead_;
};

}  // namespace tabacus
