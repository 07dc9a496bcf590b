// LockManager: one origin's Web Locks, queued as the specification queues them.
//
// Its steps run on the specification's lock task queue: the caller decides when. It reports the
// outcome to a LockListener; the caller decides how long that report travels, too.
// Sections are those of "Web Locks API", W3C.
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
        std::uint32_t tab = 0;  // for traces: the tab that it belongs to
        std::string name;
        LockMode mode = LockMode::exclusive;
        bool if_available = false;
        bool steal = false;
    };

    LockManager(LockListener& listener, FootprintRecorder& recorder)
        : listener_(listener), recorder_(&recorder) {}

    /// §4.1 "Request a lock".
    void request(Request request);
    /// §4.2 "Release a lock". Nothing, if it is not held any more.
    void release(RequestId id);
    /// §4.3 "Abort a request". False, and nothing, if it does not wait any more.
    bool abort(RequestId id);
    /// §2.6 "Termination of Locks": the client's agent is gone.
    void end(std::uint32_t client);
    /// §4.5 "Snapshot the lock state".
    [[nodiscard]] LockSnapshot snapshot() const;
    /// Returns a hash of the held locks and of the queue, which has an order within each name.
    [[nodiscard]] std::uint64_t digest() const;
    [[nodiscard]] bool holds_any(std::uint32_t client) const;
    /// How many requests there were, and how many of them to steal.
    [[nodiscard]] int requests() const { return requests_; }
    [[nodiscard]] int steals() const { return steals_; }
    /// False: as Chromium 156, which processes no request behind an aborted or ended waiter until a
    /// holder releases, although §4.3 says to.
    void wake_after_abort(bool wakes) { wakes_after_abort_ = wakes; }

  private:
    [[nodiscard]] bool held_against(const Request& request) const;
    [[nodiscard]] bool grantable(const Request& request) const;
    void process(std::string_view name);
    void take_from_holders(std::string_view name);

    void note_lock(std::string_view name) const;
    void trace(const Request& request, const char* what) const;

    LockListener& listener_;
    FootprintRecorder* recorder_;
    int requests_ = 0;
    int steals_ = 0;
    bool wakes_after_abort_ = true;
    std::vector<Request> held_;  // in the order they were granted
    std::deque<Request> queue_;  // of all names; the order matters within one
};

}  // namespace tabacus::lab
