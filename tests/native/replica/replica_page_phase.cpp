// The phases of a replica's page, and the events that it follows in them.
#include <catch2/catch_test_macros.hpp>

#include "protocol/replica/page_phase.hpp"
#include "protocol/replica/replica_news.hpp"
#include "protocol/replica/replica_slot.hpp"

namespace tabacus::test {

TEST_CASE("page phase: a page is active but between suspend() and resume(), and until close()") {
    PagePhase phase;
    CHECK(phase.active());
    phase.suspend();
    CHECK_FALSE(phase.active());
    CHECK_FALSE(phase.closed());
    phase.resume();
    CHECK(phase.active());
    phase.suspend();
    phase.close();
    CHECK(phase.closed());
    CHECK_FALSE(phase.active());
}

TEST_CASE("page phase: what is released is the slot, but not the row of its epoch") {
    ReplicaSlot slot;
    slot.begin_epoch({"g", "3", 5});
    ReplicaNews news;
    news.listen(nullptr);
    release(slot, news);
    CHECK_FALSE(slot.adopted());
    CHECK_FALSE(slot.locked());
    CHECK(slot.row() == "g/3");
    CHECK(slot.epoch() == 5);
    CHECK(news.channel() == nullptr);
    CHECK(news.listening());
}

}  // namespace tabacus::test
