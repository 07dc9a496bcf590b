// The slot of a replica: its states, and the epochs of its adoptions.
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <utility>

#include "fake_lock.hpp"
#include "protocol/replica/replica_slot.hpp"

namespace tabacus::test {
namespace {

class FixedRandom final : public Random {
  public:
    explicit FixedRandom(std::uint64_t bits) : bits_(bits) {}
    std::uint64_t bits() override { return bits_; }

  private:
    std::uint64_t bits_;
};

}  // namespace

TEST_CASE("slot: it goes from locked to adopted to resting, and is lost by a steal") {
    bool held = false;  // outlives the slot, whose lock writes to it
    ReplicaSlot slot;
    CHECK_FALSE(slot.locked());
    CHECK_FALSE(slot.adopted());
    CHECK_FALSE(slot.resting(true));

    slot.set_name("3");
    auto lock = std::make_unique<FakeLock>(held);
    const auto& stealer = *lock;
    slot.set_lock(std::move(lock));
    slot.on_lock_lost([&slot] { slot.lose_lock(); });
    CHECK(slot.locked());
    CHECK_FALSE(slot.resting(true));

    slot.begin_epoch({"g", "3", 8});
    CHECK(slot.adopted());
    CHECK(slot.holder().epoch == 8);
    CHECK(slot.row() == "g/3");
    CHECK(slot.epoch() == 8);
    CHECK_FALSE(slot.resting(true));

    stealer.steal();
    CHECK_FALSE(slot.adopted());
    CHECK(slot.lock_lost());
    CHECK(held);  // the handle stays, so that its callback is not destroyed inside itself
    slot.drop_lost_lock();
    CHECK_FALSE(held);
    CHECK_FALSE(slot.lock_lost());
    // Commits under the row may still have to be settled.
    CHECK(slot.row() == "g/3");
    CHECK(slot.epoch() == 8);
}

TEST_CASE("slot: without its lock it rests, unless there are no locks at all") {
    bool held = false;  // outlives the slot, whose lock writes to it
    ReplicaSlot slot;
    slot.set_lock(std::make_unique<FakeLock>(held));
    slot.begin_epoch({"g", "0", 8});
    slot.unlock();
    CHECK_FALSE(held);
    CHECK(slot.resting(true));
    CHECK_FALSE(slot.resting(false));
    slot.set_lock(std::make_unique<FakeLock>(held));
    CHECK_FALSE(slot.resting(true));
    CHECK(slot.adopted());
    slot.drop_lost_lock();
    CHECK(held);  // it was not lost
}

TEST_CASE("slot: one that is passed over is lost, and left for the next one") {
    bool held = false;  // outlives the slot, whose lock writes to it
    ReplicaSlot slot;
    CHECK(slot.first() == 0);
    slot.set_name("4");
    slot.set_lock(std::make_unique<FakeLock>(held));
    slot.begin_epoch({"g", "4", 8});
    slot.pass_over();
    CHECK_FALSE(slot.adopted());
    CHECK(slot.first() == 5);
    CHECK(slot.name().empty());
    CHECK_FALSE(held);
    CHECK(slot.take_passed_over());
    CHECK_FALSE(slot.take_passed_over());
}

TEST_CASE("slot: a private epoch needs neither lock nor holder") {
    ReplicaSlot slot;
    slot.begin_private_epoch("memory/x");
    CHECK(slot.row() == "memory/x");
    CHECK(slot.epoch() == epochs_per_adoption);
    CHECK_FALSE(slot.adopted());
}

TEST_CASE("epochs: the next one is above the former, and two adopters choose different ones") {
    FixedRandom low(0);
    FixedRandom high(~std::uint64_t{0});
    for (const std::int64_t former : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1} << 20,
                                      (std::int64_t{1} << 40) + 12'345}) {
        CAPTURE(former);
        const auto lowest = epoch_after(former, low);
        const auto highest = epoch_after(former, high);
        REQUIRE(lowest);
        REQUIRE(highest);
        CHECK(*lowest > former);
        CHECK(*highest > *lowest);
        // Whichever has happened, the epoch after it is above both.
        CHECK(*epoch_after(*lowest, low) > *highest);
    }
}

TEST_CASE("epochs: after the last one there is none") {
    FixedRandom high(~std::uint64_t{0});
    CHECK_FALSE(epoch_after(epoch_max, high));
    std::int64_t former = epoch_max - (std::int64_t{1} << 21);
    const auto last = epoch_after(former, high);
    REQUIRE(last);
    CHECK(*last <= epoch_max);
}

}  // namespace tabacus::test
