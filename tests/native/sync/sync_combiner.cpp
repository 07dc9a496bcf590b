// The base of the shared locks, one operation after the other: cells call a function before each of
// their operations, so that a test decides what happens in between.
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "tabacus/sync/counting_semaphore.hpp"
#include "tabacus/sync/rw_lock.hpp"

using namespace tabacus::sync;

namespace {

/// What the cells of a test share.
struct Operations {
    static inline std::uint64_t count = 0;
    static inline std::function<void(std::uint64_t)> before;

    static void note() {
        const std::uint64_t number = count++;
        if (before) before(number);
    }
    static void begin(std::function<void(std::uint64_t)> call = nullptr) {
        count = 0;
        before = std::move(call);
    }
};

template <class T>
class NotedAtomic {
  public:
    NotedAtomic() = default;
    explicit NotedAtomic(T value) : value_(value) {}
    T load() const {
        Operations::note();
        return value_;
    }
    void store(T value) {
        Operations::note();
        value_ = value;
    }
    T exchange(T value) {
        Operations::note();
        return std::exchange(value_, value);
    }
    T fetch_add(T value) {
        Operations::note();
        return std::exchange(value_, value_ + value);
    }
    T fetch_sub(T value) {
        Operations::note();
        return std::exchange(value_, value_ - value);
    }
    T fetch_or(T value) {
        Operations::note();
        return std::exchange(value_, value_ | value);
    }
    bool compare_exchange_strong(T& expected, T desired) {
        Operations::note();
        if (value_ == expected) {
            value_ = desired;
            return true;
        }
        expected = value_;
        return false;
    }
    bool compare_exchange_weak(T& expected, T desired) {
        return compare_exchange_strong(expected, desired);
    }

  private:
    T value_{};
};

/// A parker whose sleeps end at once, and are counted.
template <std::uint32_t looks = 1>
struct NotingParker {
    template <class T>
    using Atomic = NotedAtomic<T>;
    using Word = NotedAtomic<std::uint32_t>;
    static inline std::uint32_t sleeps = 0;

    static constexpr std::uint32_t spin_pause_first = 1;
    static constexpr std::uint32_t grant_pause_first = 1;
    static constexpr std::uint32_t spin_pause_max = 0;
    static constexpr std::uint32_t spin_rounds_max = 2;
    static constexpr std::uint32_t watch_looks = looks;
    static constexpr std::uint32_t watch_rounds = 8;
    static constexpr std::int64_t watch_max_ns = 1'000'000;
    static constexpr std::int64_t sleep_max_ns = 100'000'000;

    static Parked park(Word& /*word*/, std::uint32_t /*expected*/, std::int64_t /*timeout_ns*/) {
        ++sleeps;
        return Parked::timed_out;
    }
    static void unpark_one(Word& /*word*/) {}
    static void unpark_all(Word& /*word*/) {}
};

/// Returns how many operations a writer needs whose deadline has passed, at a lock that is held.
template <std::uint32_t looks>
std::uint64_t operations_of_late_writer() {
    auto lock = std::make_unique<BasicRwLock<NotingParker<looks>, 3>>();
    REQUIRE(lock->lock(1, RwMode::exclusive) == Acquired::acquired);
    Operations::begin();
    const auto late = [] { return std::int64_t{7}; };
    REQUIRE(lock->lock_until(2, RwMode::exclusive, 7, late) == Acquired::timed_out);
    return Operations::count;
}

}  // namespace

TEST_CASE("combiner: a thread whose deadline has passed looks once before it gives up", "[sync]") {
    CHECK(operations_of_late_writer<100>() == operations_of_late_writer<1>());
}

TEST_CASE("combiner: a request for which there is no record is refused without a sleep", "[sync]") {
    using Parks = NotingParker<2>;
    Operations::begin();
    auto lock = std::make_unique<BasicRwLock<Parks, 2>>();
    REQUIRE(lock->lock(1, RwMode::shared) == Acquired::acquired);
    REQUIRE(lock->lock(2, RwMode::shared) == Acquired::acquired);
    Parks::sleeps = 0;
    CHECK(lock->lock(3, RwMode::exclusive) == Acquired::full);
    CHECK(Parks::sleeps == 0);
}

TEST_CASE("semaphore: a request whose thread stops as it publishes hides no other request",
          "[sync]") {
    constexpr std::uint32_t unsettled = BasicSemaphore<NotingParker<>, 5>::unsettled;
    constexpr std::uint32_t wants = BasicSemaphore<NotingParker<>, 5>::wants;
    for (std::uint64_t moment = 0;; ++moment) {
        auto semaphore = std::make_unique<BasicSemaphore<NotingParker<>, 5>>();
        Operations::begin();
        semaphore->begin(1);
        REQUIRE(semaphore->try_acquire(1) == Acquired::acquired);
        auto& stopping = *semaphore->request(2);  // it has the older ticket
        REQUIRE(semaphore->settle(2, stopping, GiveUp::at_once) == Acquired::timed_out);
        auto& waiting = *semaphore->request(3);
        // The second thread publishes once more, and stops before it combines. Nobody reports that.
        Operations::begin([&](std::uint64_t number) {
            if (number == moment) {
                Operations::before = nullptr;
                stopping.state.fetch_or(wants | unsettled);
            }
        });
        semaphore->release(1);
        const bool whole = Operations::before != nullptr;
        Operations::begin();
        // Whoever has the permit, the next release lets the other one have it.
        semaphore->release(4);
        INFO("published before operation " << moment);
        CHECK((waiting.state.load() & wants) == 0);
        if (whole) break;
    }
}
