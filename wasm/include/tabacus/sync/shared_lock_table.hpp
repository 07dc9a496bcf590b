#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>

#include "tabacus/sync/segment.hpp"

// The lock requests of all threads in a segment, by name, as Web Locks (W3C, section 4) defines
// them.
//
// Promises: exactly the specification's rules for the queue of a lock. After the exit of a thread
// was reported, the thread holds no lock and has no request.
// Does not provide: notification of other threads. Only the thread of a request sleeps on the
// request's state.
//
//   chain     first -> request -> request. For each name, the held requests are in the order of
//             their grants, and the waiting ones in the order in which they will be granted.
//   rebuilt   the reference counts of names, and free blocks. Then every request that can be
//             granted is granted.

namespace tabacus::sync {

enum class LockState : std::uint32_t {
    pending = 1,
    held = 2,
    stolen = 3,  // excludes no request; its thread releases it at any time
};

enum class LockMode : std::uint32_t { exclusive = 0, shared = 1 };

/// The option of a request. The specification forbids `steal` together with `if_available`.
enum class LockHow : std::uint32_t { wait = 0, if_available = 1, steal = 2 };

/// A request for a lock. JavaScript reads the fields at the given offsets, and sleeps on the state.
struct LockRequest {
    std::atomic<Ref> next{0};             // 0
    Word state{0};                        // 4   LockState
    Owner client = 0;                     // 8
    Ref name = 0;                         // 12
    LockMode mode = LockMode::exclusive;  // 16
    std::uint32_t hash = 0;
};
static_assert(sizeof(LockRequest) <= block_bytes);

class SharedLockTable : public Segment<SharedLockTable> {
  public:
    static constexpr std::uint32_t segment_bytes = 1U << 20;

    // request() returns one of these instead of a request.
    static constexpr Ref not_available = 0;
    static constexpr Ref no_memory = std::numeric_limits<Ref>::max();

    explicit SharedLockTable(std::uint32_t bytes) : Segment(bytes, sizeof(SharedLockTable)) {}

    // The caller of all functions below must be inside, except for report_exit().

    /// Requests a lock (section 4.1). Takes over the caller's reference to the name. Returns the
    /// request, not_available or no_memory.
    Ref request(Owner client, Ref name, LockMode mode, LockHow how) {
        const HashedName hashed{hash_of(name), name};
        const bool at_once = how != LockHow::if_available || available(hashed, mode);
        const Ref made = at_once && make_space(1) ? make(client, hashed, mode) : 0;
        if (made == 0) {
            release_text(name);
            return at_once ? no_memory : not_available;
        }
        if (how == LockHow::steal) {
            steal_held(hashed);
            link(made, 0);
        } else {
            link(made, last());
        }
        process(hashed);
        return made;
    }

    /// Releases a lock (section 4.2), or frees the block of a request that was stolen.
    void release(Ref lock) {
        const HashedName name = name_of(lock);
        retain(name.text);
        unlink(lock);
        process(name);
        release_text(name.text);
    }

    /// Aborts a request (section 4.3). Returns false, and changes nothing, if the request is not
    /// waiting.
    bool abort(Ref waiting) {
        if (state_of(waiting) != LockState::pending) return false;
        release(waiting);
        return true;
    }

    /// Releases all locks and removes all requests of a client that has exited or leaves (section
    /// 2.6).
    void end(Owner client) {
        for (Ref at_ref = head_.first; at_ref != 0;) {
            const Ref next = at<LockRequest>(at_ref)->next;
            if (at<LockRequest>(at_ref)->client == client) unlink(at_ref);
            at_ref = next;
        }
        process_all();
    }

    /// Notes that a thread has exited. The caller must not be inside.
    void report_exit(Owner exited, Owner self, bool may_sleep) {
        Segment::report_exit(exited, self);
        enter(self, may_sleep);
        end(exited);
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
        each([this](Ref ref) { at<TextHead>(at<LockRequest>(ref)->name)->references = 0; });
        each([this](Ref ref) { retain(at<LockRequest>(ref)->name); });
        free_unmarked();
        process_all();
        // The exited thread may have stored a state without waking the request's thread.
        each([this](Ref ref) { PlatformParker::unpark_all(at<LockRequest>(ref)->state); });
    }

  private:
    /// A name and its hash.
    struct HashedName {
        std::uint32_t hash;
        Ref text;
    };

    [[nodiscard]] HashedName name_of(Ref request) const {
        return {at<LockRequest>(request)->hash, at<LockRequest>(request)->name};
    }

    /// Calls `work(request)` for each request of that name, in their order, until it returns false.
    template <class Work>
    void each_of(const HashedName& name, Work work) {
        for (Ref ref = head_.first; ref != 0;) {
            auto* request = at<LockRequest>(ref);
            ref = request->next;
            if (request->hash != name.hash) continue;
            if (request->name != name.text && !same(request->name, name.text)) continue;
            if (!work(*request)) return;
        }
    }

    static LockState state_in(const LockRequest& request) {
        return static_cast<LockState>(request.state.load());
    }

    /// Whether a held lock excludes a request of that mode.
    bool held_against(const HashedName& name, LockMode mode) {
        bool against = false;
        each_of(name, [&](const LockRequest& request) {
            const bool both_share = request.mode == LockMode::shared && mode == LockMode::shared;
            against = state_in(request) == LockState::held && !both_share;
            return !against;
        });
        return against;
    }

    /// Whether a new request is grantable (section 2.5). A request overtakes no other one.
    bool available(const HashedName& name, LockMode mode) {
        bool waited_for = false;
        each_of(name, [&](const LockRequest& request) {
            waited_for = state_in(request) == LockState::pending;
            return !waited_for;
        });
        return !waited_for && !held_against(name, mode);
    }

    /// Processes the lock request queue of a name (section 4.4).
    void process(const HashedName& name) {
        each_of(name, [&](LockRequest& request) {
            if (state_in(request) != LockState::pending) return true;
            if (held_against(name, request.mode)) return false;
            set_state(request, LockState::held);
            return true;
        });
    }

    void process_all() {
        for (Ref ref = head_.first; ref != 0; ref = at<LockRequest>(ref)->next) {
            if (state_of(ref) == LockState::pending) process(name_of(ref));
        }
    }

    void steal_held(const HashedName& name) {
        each_of(name, [](LockRequest& request) {
            if (state_in(request) == LockState::held) set_state(request, LockState::stolen);
            return true;
        });
    }

    static void set_state(LockRequest& request, LockState state) {
        request.state.store(static_cast<std::uint32_t>(state));
        PlatformParker::unpark_all(request.state);
    }

    Ref make(Owner client, const HashedName& name, LockMode mode) {
        const Ref block = allocate_block();
        auto* made = new (at<std::byte>(block)) LockRequest;
        made->state.store(static_cast<std::uint32_t>(LockState::pending));
        made->client = client;
        made->name = name.text;
        made->hash = name.hash;
        made->mode = mode;
        return block;
    }

    Ref last() {
        Ref last = 0;
        for (Ref ref = head_.first; ref != 0; ref = at<LockRequest>(ref)->next) last = ref;
        return last;
    }

    /// Inserts a request after `before`; at the beginning of the chain if that is 0.
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
        release_text(at<LockRequest>(request)->name);
        free_block(request);
    }
};

}  // namespace tabacus::sync
