#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>

#include "tabacus/sync/segment.hpp"

// Web Locks (W3C, section 4) in a room: the requests of all threads, by name.
//
// Promises: the queue's rules, to the letter; who is dead holds nothing and waits for nothing, once
// that is told. Refuses: telling anybody but the requests' own threads, who sleep on their states.
//
//   chain     first -> request -> request: those held of a name are in the order of their grants,
//             those that wait in the order in which they will be granted
//   made anew names' holders, free blocks; and whatever can be granted is

namespace tabacus::sync {

enum class LockState : std::uint32_t {
    pending = 1,
    held = 2,
    stolen = 3,  // counts for nothing; its thread lets go of it when it likes
};

enum class LockMode : std::uint32_t { exclusive = 0, shared = 1 };

/// What is asked beside a mode. `steal` and `if_available` exclude each other.
enum class LockHow : std::uint32_t { wait = 0, if_available = 1, steal = 2 };

/// JavaScript reads the fields at the given offsets, and sleeps on the state.
struct LockRequest {
    std::atomic<Ref> next{0};             // 0
    Word state{0};                        // 4   LockState
    Owner client = 0;                     // 8
    Ref name = 0;                         // 12
    LockMode mode = LockMode::exclusive;  // 16
    std::uint32_t hash = 0;
};
static_assert(sizeof(LockRequest) <= block_bytes);

class LockTable : public Room<LockTable> {
  public:
    static constexpr std::uint32_t room_bytes = 1U << 20;

    /// What request() says in place of a request.
    static constexpr Ref not_available = 0;
    static constexpr Ref no_room = std::numeric_limits<Ref>::max();

    explicit LockTable(std::uint32_t bytes) : Room(bytes, sizeof(LockTable)) {}

    // All below: inside, but for bury().

    /// Section 4.1, request a lock. Takes the name over.
    Ref request(Owner client, Ref name, LockMode mode, LockHow how) {
        const Place place{hash_of(name), name};
        const bool at_once = how != LockHow::if_available || available(place, mode);
        const Ref made = at_once && make_space(1) ? make(client, place, mode) : 0;
        if (made == 0) {
            give_text(name);
            return at_once ? no_room : not_available;
        }
        if (how == LockHow::steal) {
            rob(place);
            link(made, 0);
        } else {
            link(made, last());
        }
        process(place);
        return made;
    }

    /// Section 4.2, release a lock; of one that was stolen, nothing but its block.
    void release(Ref lock) {
        const Place place = place_of(lock);
        hold(place.name);
        unlink(lock);
        process(place);
        give_text(place.name);
    }

    /// Section 4.3, abort a request. False, and no change, if it does not wait any more.
    bool abort(Ref waiting) {
        if (state_of(waiting) != LockState::pending) return false;
        release(waiting);
        return true;
    }

    /// Section 2.6: the client is dead, or leaves. What it holds is free, what it waits for is not
    /// waited for.
    void end(Owner client) {
        for (Ref at_ref = head_.first; at_ref != 0;) {
            const Ref next = at<LockRequest>(at_ref)->next;
            if (at<LockRequest>(at_ref)->client == client) unlink(at_ref);
            at_ref = next;
        }
        process_all();
    }

    /// Outside: a thread is known to be dead.
    void bury(Owner dead, Owner self, bool may_sleep) {
        Room::bury(dead, self);
        enter(self, may_sleep);
        end(dead);
        leave(self);
    }

    [[nodiscard]] LockState state_of(Ref request) const {
        return static_cast<LockState>(at<LockRequest>(request)->state.load());
    }

    bool make_space(std::uint32_t count) { return free_blocks() >= count; }

    void repair() {
        unmark_all();
        const auto each = [this](auto work) {
            for (Ref ref = head_.first; ref != 0; ref = at<LockRequest>(ref)->next) work(ref);
        };
        each([this](Ref ref) {
            mark(ref);
            mark_text(at<LockRequest>(ref)->name);
        });
        each([this](Ref ref) { at<TextHead>(at<LockRequest>(ref)->name)->holders = 0; });
        each([this](Ref ref) { hold(at<LockRequest>(ref)->name); });
        free_unmarked();
        process_all();
        // The dead may have stored a state, and woken nobody.
        each([this](Ref ref) { PlatformParker::unpark_all(at<LockRequest>(ref)->state); });
    }

  private:
    /// A name and its hash.
    struct Place {
        std::uint32_t hash;
        Ref name;
    };

    [[nodiscard]] Place place_of(Ref request) const {
        return {at<LockRequest>(request)->hash, at<LockRequest>(request)->name};
    }

    /// Calls `work(request)` for those of that name, in their order, until it says false.
    template <class Work>
    void each_of(const Place& place, Work work) {
        for (Ref ref = head_.first; ref != 0;) {
            auto* request = at<LockRequest>(ref);
            ref = request->next;
            if (request->hash != place.hash) continue;
            if (request->name != place.name && !same(request->name, place.name)) continue;
            if (!work(*request)) return;
        }
    }

    static LockState state_in(const LockRequest& request) {
        return static_cast<LockState>(request.state.load());
    }

    /// Whether locks that are held keep one of that mode from being granted.
    bool held_against(const Place& place, LockMode mode) {
        bool against = false;
        each_of(place, [&](const LockRequest& request) {
            const bool both_share = request.mode == LockMode::shared && mode == LockMode::shared;
            against = state_in(request) == LockState::held && !both_share;
            return !against;
        });
        return against;
    }

    /// Grantable, section 2.5: nobody overtakes.
    bool available(const Place& place, LockMode mode) {
        bool waited_for = false;
        each_of(place, [&](const LockRequest& request) {
            waited_for = state_in(request) == LockState::pending;
            return !waited_for;
        });
        return !waited_for && !held_against(place, mode);
    }

    /// Section 4.4, process a lock request queue.
    void process(const Place& place) {
        each_of(place, [&](LockRequest& request) {
            if (state_in(request) != LockState::pending) return true;
            if (held_against(place, request.mode)) return false;
            tell(request, LockState::held);
            return true;
        });
    }

    void process_all() {
        for (Ref ref = head_.first; ref != 0; ref = at<LockRequest>(ref)->next) {
            if (state_of(ref) == LockState::pending) process(place_of(ref));
        }
    }

    void rob(const Place& place) {
        each_of(place, [](LockRequest& request) {
            if (state_in(request) == LockState::held) tell(request, LockState::stolen);
            return true;
        });
    }

    static void tell(LockRequest& request, LockState state) {
        request.state.store(static_cast<std::uint32_t>(state));
        PlatformParker::unpark_all(request.state);
    }

    Ref make(Owner client, const Place& place, LockMode mode) {
        const Ref block = take();
        auto* made = new (at<std::byte>(block)) LockRequest;
        made->state.store(static_cast<std::uint32_t>(LockState::pending));
        made->client = client;
        made->name = place.name;
        made->hash = place.hash;
        made->mode = mode;
        return block;
    }

    Ref last() {
        Ref last = 0;
        for (Ref ref = head_.first; ref != 0; ref = at<LockRequest>(ref)->next) last = ref;
        return last;
    }

    /// After `before`, or at the beginning.
    void link(Ref request, Ref before) {
        if (before == 0) {
            at<LockRequest>(request)->next = head_.first;
            commit(head_.first, request);
        } else {
            commit(at<LockRequest>(before)->next, request);
        }
    }

    void unlink(Ref request) {
        const Ref next = at<LockRequest>(request)->next;
        if (head_.first == request) {
            commit(head_.first, next);
        } else {
            Ref before = head_.first;
            while (at<LockRequest>(before)->next != request) before = at<LockRequest>(before)->next;
            commit(at<LockRequest>(before)->next, next);
        }
        give_text(at<LockRequest>(request)->name);
        give_one(request);
    }
};

}  // namespace tabacus::sync
