// What a replica reports to its tab.
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "protocol/replica/replica_notices.hpp"

namespace tabacus::test {

TEST_CASE("notices: a record that cannot be read is reported once") {
    std::vector<Notice> received;
    ReplicaNotices notices([&](const Notice& notice) { received.push_back(notice); });
    notices.warn_unreadable("rows", "c/g/0");
    notices.warn_unreadable("rows", "c/g/0");
    notices.warn_unreadable("claims", "c/g/0");
    REQUIRE(received.size() == 2);
    CHECK(received[0].code == "corrupt-record");
    CHECK(received[0].subject == "rows c/g/0");
    CHECK(received[1].subject == "claims c/g/0");
}

TEST_CASE("notices: a failure is reported with its code instead of a code of its own") {
    std::vector<Notice> received;
    const ReplicaNotices notices([&](const Notice& notice) { received.push_back(notice); });
    notices.warn(Error(ErrorCode::quota_exceeded, "full"), "commit");
    REQUIRE(received.size() == 1);
    CHECK(received[0].kind == Notice::Kind::warning);
    CHECK(received[0].failure == ErrorCode::quota_exceeded);
    CHECK(received[0].code.empty());
    CHECK(received[0].message == "full");
    CHECK(received[0].subject == "commit");
}

}  // namespace tabacus::test
