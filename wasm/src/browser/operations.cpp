#include "browser/operations.hpp"

#include <algorithm>
#include <string>

#include "tabacus/error.hpp"

namespace tabacus::browser {

namespace {

/// The codes that the host may report, which spells them as the public API does.
ErrorCode code_named(const std::string& name) {
    for (const auto code : {ErrorCode::unavailable, ErrorCode::quota_exceeded, ErrorCode::fenced,
                            ErrorCode::unknown_commit, ErrorCode::lock_lost}) {
        if (code_name(code) == name) return code;
    }
    return ErrorCode::store_failed;
}

}  // namespace

std::exception_ptr failure_from(const emscripten::val& report) {
    const auto code = code_named(report[0].as<std::string>());
    return std::make_exception_ptr(Error(code, report[1].as<std::string>()));
}

int Operations::add(Settle settle) {
    under_way_.emplace_back(++last_id_, std::move(settle));
    return last_id_;
}

void Operations::settle(int id, bool ok, const emscripten::val& answer) {
    const auto found = std::find_if(under_way_.begin(), under_way_.end(),
                                    [id](const auto& operation) { return operation.first == id; });
    if (found == under_way_.end()) return;
    const Settle settle = std::move(found->second);
    under_way_.erase(found);  // first: what settle() resumes may begin others
    settle(ok, answer);
}

}  // namespace tabacus::browser
