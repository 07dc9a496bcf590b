// The errors of the protocols and of the world they run in. Each kind names the party at fault:
// the caller's (invalid_argument, out_of_range, closed), the platform's (quota_exceeded,
// store_failed, unavailable), or another participant's (fenced).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace tabacus {

enum class ErrorCode {
    invalid_argument,  // the caller passed what the contract forbids
    out_of_range,      // the exact result would lie beyond ±(2^53 − 1)
    closed,            // used after close()
    unavailable,       // the platform lacks what the call needs
    quota_exceeded,    // the store is full; nothing of the call was kept
    fenced,            // a newer holder owns the row; nothing of the call was kept
    store_failed,      // the transaction aborted; nothing of the call was kept
    unknown_commit,    // the connection died during the commit: it may or may not have happened
    lock_lost,         // another context stole the lock
    timed_out,         // the caller's time limit passed
    aborted,           // the caller's signal aborted
    deadlock,          // a cycle of waiting, which this error breaks
    queue_full,        // the queue is as long as its limit allows
    out_of_memory,     // the platform gives no memory for it
};

/// The code as the public API spells it, with hyphens ("quota-exceeded").
std::string_view code_name(ErrorCode code);

#ifdef __cpp_exceptions
using ErrorBase = std::runtime_error;
#else
/// The part of std::runtime_error that has to do with exceptions is larger than all the rest.
class ErrorBase {
  public:
    explicit ErrorBase(std::string message) : message_(std::move(message)) {}
    [[nodiscard]] const char* what() const noexcept { return message_.c_str(); }

  private:
    std::string message_;
};
#endif

class Error : public ErrorBase {
  public:
    Error(ErrorCode code, const std::string& message) : ErrorBase(message), code_(code) {}
    [[nodiscard]] ErrorCode code() const noexcept { return code_; }

  private:
    ErrorCode code_;
};

}  // namespace tabacus
