// The phases of a replica's page, and the events that it follows in them.
#include <catch2/catch_test_macros.hpp>
#include <memory>

#include "fake_lock.hpp"
#include "protocol/replica/page_phase.hpp"
#include "protocol/replica/replica_news.hpp"
#include "protocol/replica/replica_slot.hpp"

namespace tabacus::test {
namespace {

/// A channel that notes whether it is open.
class FakeChannel final : public Channel {
  public:
    explicit FakeChannel(bool& open) : open_(open) { open_ = true; }
    FakeChannel(const FakeChannel&) = delete;
    FakeChannel& operator=(const FakeChannel&) = delete;
    FakeChannel(FakeChannel&&) = delete;
    FakeChannel& operator=(FakeChannel&&) = delete;
    ~FakeChannel() override { open_ = false; }
    void post(std::string_view /*message*/) override {}
    void on_message(Function<void(std::string_view)> /*callback*/) override {}

  private:
    bool& open_;
};

}  // namespace

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

TEST_CASE("page phase: a closed page stays closed, whatever happens to it") {
    PagePhase phase;
    phase.close();
    phase.suspend();
    CHECK(phase.closed());
    phase.resume();
    CHECK(phase.closed());
    CHECK_FALSE(phase.active());
}

TEST_CASE("page phase: what is released is the slot, but not the row of its epoch") {
    bool held = false;  // these two outlive the objects that write to them
    bool open = false;
    ReplicaSlot slot;
    slot.set_lock(std::make_unique<FakeLock>(held));
    slot.begin_epoch({"g", "3", 5});
    ReplicaNews news;
    news.listen(std::make_unique<FakeChannel>(open));
    REQUIRE(slot.adopted());
    REQUIRE(held);
    REQUIRE(open);
    release(slot, news);
    CHECK_FALSE(held);
    CHECK_FALSE(open);
    CHECK_FALSE(slot.adopted());
    CHECK_FALSE(slot.locked());
    CHECK(slot.row() == "g/3");
    CHECK(slot.epoch() == 5);
    CHECK(news.channel() == nullptr);
    CHECK(news.listening());
}

}  // namespace tabacus::test
