#include "tabacus/common/error.hpp"

namespace tabacus {

std::string_view code_name(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_argument:
            return "invalid-argument";
        case ErrorCode::out_of_range:
            return "out-of-range";
        case ErrorCode::closed:
            return "closed";
        case ErrorCode::unavailable:
            return "unavailable";
        case ErrorCode::quota_exceeded:
            return "quota-exceeded";
        case ErrorCode::fenced:
            return "fenced";
        case ErrorCode::store_failed:
            return "store-failed";
        case ErrorCode::unknown_commit:
            return "unknown-commit";
        case ErrorCode::lock_lost:
            return "lock-lost";
        case ErrorCode::timed_out:
            return "timed-out";
        case ErrorCode::aborted:
            return "aborted";
        case ErrorCode::deadlock:
            return "deadlock";
        case ErrorCode::queue_full:
            return "queue-full";
        case ErrorCode::out_of_memory:
            return "out-of-memory";
    }
    return "store-failed";
}

}  // namespace tabacus
