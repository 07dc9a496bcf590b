// The errors of the protocols and of the world they run in. Each kind names the party at fault:
// the caller's (invalid_argument, out_of_range, closed), the platform's (quota_exceeded,
// store_failed, unavailable), or another participant's (fenced).
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "tabacus/common/generated/error_code.hpp"

namespace tabacus {

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
