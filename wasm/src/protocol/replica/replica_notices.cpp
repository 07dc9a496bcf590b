#include "replica_notices.hpp"

#include <algorithm>

#include "protocol/common/concat.hpp"

namespace tabacus {

void ReplicaNotices::warn(std::string_view code, std::string_view message,
                          std::string_view subject) const {
    on_notice_({Notice::Kind::warning, std::string(code), std::string(message),
                std::string(subject), "", 0});
}

void ReplicaNotices::warn(const Error& failure, std::string_view subject) const {
    on_notice_(
        {Notice::Kind::warning, "", failure.what(), std::string(subject), "", 0, failure.code()});
}

void ReplicaNotices::warn_unreadable(std::string_view where, std::string_view key) {
    const auto subject = concat({where, " ", key});
    if (std::find(unreadable_.begin(), unreadable_.end(), subject) != unreadable_.end()) return;
    unreadable_.push_back(subject);
    warn("corrupt-record", "A record that cannot be read was set aside; all others count.",
         subject);
}

}  // namespace tabacus
