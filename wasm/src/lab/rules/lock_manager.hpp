// LockManager: the Web Locks of one origin, with the queues of the specification (Web Locks API,
// W3C). The sections below refer to it.
//
// The specification's lock task queue runs its steps; the caller decides when. It reports outcomes
// to a LockListener, and the caller also decides when a tab receives them.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "lab/footprint.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus::lab {

using RequestId = std::uint64_t;

/// Receives the outcomes of requests.
class LockListener {
  public:
    LockListener() = default;
    LockListener(const LockListener&) = delete;
    LockListener& operator=(const LockListener&) = delete;
    LockListener(LockListener&&) = delete;
    LockListener& operator=(LockListener&&) = delete;
    virtual ~LockListener() = default;
    virtual void granted(RequestId id) = 0;
    virtual void not_available(RequestId id) = 0;
    virtual void stolen(RequestId id) = 0;
};

class LockManager {
  public:
    struct Request {
        RequestId id = 0;
        std::uint32_t client = 0;
        std::uint32_t tab = 0;  // for traces: the tab of the request
        std::string name;
        LockMode mode = LockMode::exclusive;
        bool if_available = false;
        bool steal = false;
        // For traces: how and where the tab asks.
        std::string details = {};  // NOLINT(readability-redundant-member-init)
    };

    LockManager(LockListener& listener, FootprintRecorder& recorder)
        : listener_(listener), recorder_(&recorder) {}

    /// Requests a lock (§4.1).
    void request(Request request);
    /// Releases a lock (§4.2). Does nothing if the lock is not held.
    void release(RequestId id);
    /// Aborts a request (§4.3). Returns false, and does nothing, if the request does not wait.
    bool abort(RequestId id);
    /// Aborts the requests and releases the locks of a client whose agent has ended (§2.6).
    void end(std::uint32_t client);
    /// Leaves the locks of a client held by nobody, so that only a steal ends them: a fault of a
    /// browser.
    void orphan(std::uint32_t client);
    /// Returns a snapshot of the lock state (§4.5).
    [[nodiscard]] LockSnapshot snapshot() const;
    /// Returns a hash of the held locks and of the queue, which has an order within each name.
    [[nodiscard]] std::uint64_t digest() const;
    [[nodiscard]] bool holds_any(std::uint32_t client) const;
    /// Whether the request holds its lock. Records no footprint.
    [[nodiscard]] bool holds(RequestId id) const;
    /// Returns the number of requests so far.
    [[nodiscard]] int requests() const { return requests_; }
    /// Returns the number of requests with `steal` so far.
    [[nodiscard]] int steals() const { return steals_; }
    /// Sets whether the requests behind an aborted or ended one are processed at once, as §4.3
    /// requires. Chromium 156 processes them only once a holder releases.
    void wake_after_abort(bool wakes) { wakes_after_abort_ = wakes; }

  private:
    [[nodiscard]] bool held_against(const Request& request) const;
    [[nodiscard]] bool grantable(const Request& request) const;
    void process(std::string_view name);
    /// The client of locks that nobody holds any more.
    static constexpr std::uint32_t nobody = 0xffff'ffff;
    void take_from_holders(std::string_view name);

    void note_lock(std::string_view name) const;
    void trace(const Request& request, const char* what, std::string_view details = {}) const;

    LockListener& listener_;
    FootprintRecorder* recorder_;
    int requests_ = 0;
    int steals_ = 0;
    bool wakes_after_abort_ = true;
    std::vector<Request> held_;  // in the order of their grants
    std::deque<Request> queue_;  // for all names; only the order within a name matters
};

}  // namespace tabacus::lab
