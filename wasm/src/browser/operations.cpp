#include "browser/operations.hpp"

#include <algorithm>

#include "tabacus/error.hpp"

namespace tabacus::browser {

namespace {

/// The codes that the host may report.
ErrorCode code_named(std::string_view name) {
    for (const auto code : {ErrorCode::unavailable, ErrorCode::quota_exceeded, ErrorCode::fenced,
                            ErrorCode::unknown_commit, ErrorCode::lock_lost}) {
        if (code_name(code) == name) return code;
    }
    return ErrorCode::store_failed;
}

}  // namespace

int Operations::add(Settle settle) {
    under_way_.emplace_back(++last_, std::move(settle));
    return last_;
}

Operations::Settle Operations::take(int operation) {
    const auto found =
        std::find_if(under_way_.begin(), under_way_.end(),
                     [operation](const auto& entry) { return entry.first == operation; });
    if (found == under_way_.end()) return nullptr;
    Settle settle = std::move(found->second);
    under_way_.erase(found);  // first: what settling resumes may ask for more
    return settle;
}

void Operations::settled(int operation, Texts answer) {
    if (const auto settle = take(operation)) settle(&answer, nullptr);
}

void Operations::failed(int operation, const Texts& report) {
    const auto settle = take(operation);
    if (!settle) return;
    settle(nullptr, std::make_exception_ptr(
                        Error(code_named(report[0].value_or("")), report[1].value_or(""))));
}

}  // namespace tabacus::browser
