// Error: what a protocol, or the World that it runs in, fails with. Its code names the party at
// fault: the caller (invalid_argument, out_of_range, closed), the platform (quota_exceeded,
// store_failed, unavailable), or another participant (fenced). bridge/errors.js lists all codes.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "tabacus/common/generated/error_code.hpp"

namespace tabacus {

#ifdef __cpp_exceptions
using ErrorBase = std::runtime_error;
#else
/// Stands in for std::runtime_error where exceptions are off, because most of that class's code
/// supports exceptions.
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
