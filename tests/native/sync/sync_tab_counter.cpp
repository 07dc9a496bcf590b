// Counters over tabs from C++ threads, whose adds a page of this test gathers.
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <system_error>
#include <thread>

#include "sync_support.hpp"
#include "tabacus/threads/tab_counter.hpp"

namespace {

using tabacus::TabCounter;
using tabacus::sync::Arena;
using tabacus::sync::number_limit;
using tabacus::sync::TabHas;
using tabacus::sync::TabPurpose;
using tabacus::sync::TabTask;
using tabacus::sync::test::on_threads;
using namespace std::chrono_literals;

struct alignas(Arena) CounterMemory {
    std::byte bytes[128 * 1024];
};

/// A page that gathers into a total when its bell rings, as js/threads/tab-counter does.
class GatheringPage {
  public:
    GatheringPage()
        : memory_(std::make_unique<CounterMemory>()),
          arena(*new (memory_->bytes) Arena(sizeof(CounterMemory) / 2, 16)) {}
    GatheringPage(const GatheringPage&) = delete;
    GatheringPage& operator=(const GatheringPage&) = delete;
    ~GatheringPage() { stop(); }

    void start() {
        thread_ = std::thread([this] {
            while (!ending_) {
                const std::uint32_t rings = arena.tab_bell().rings();
                gather();
                answer();
                if (!ending_) arena.tab_bell().wait(rings);
            }
        });
    }
    void stop() {
        if (!thread_.joinable()) return;
        ending_ = true;
        arena.tab_bell().ring();
        thread_.join();
    }

    void gather() {
        for (auto* cells = arena.next_tab_cells(nullptr); cells != nullptr;
             cells = arena.next_tab_cells(cells)) {
            const auto n = cells->begin_gather();
            total += n;
            cells->take(n);
            cells->publish(total);
        }
    }

  private:
    void answer() {
        for (auto* request = arena.next_tab_request(nullptr); request != nullptr;
             request = arena.next_tab_request(request)) {
            if (request->next_task(TabHas::nothing) == TabTask::wait) {
                gather();
                if (request->purpose() == TabPurpose::counter && !refuses) {
                    request->grant(total);
                } else {
                    request->refuse(2);
                }
            }
        }
    }

    std::unique_ptr<CounterMemory> memory_;
    std::thread thread_;
    std::atomic<bool> ending_{false};

  public:
    Arena& arena;
    std::atomic<bool> refuses{false};
    std::int64_t total = 0;
};

}  // namespace

TEST_CASE("threads that add and flush are gathered exactly", "[sync][tab]") {
    GatheringPage page;
    page.start();
    constexpr std::int64_t adds = 2'000;
    TabCounter shared(page.arena, u"n");
    on_threads(4, [&](std::uint32_t index) {
        TabCounter own(page.arena, u"n");
        TabCounter& counter = index % 2 == 0 ? own : shared;
        for (std::int64_t i = 0; i < adds; ++i) counter.add(index == 0 ? -1 : 1);
        counter.flush();
    });
    CHECK(shared.value() == 2 * adds);
    page.stop();
    CHECK(page.total == 2 * adds);
}

TEST_CASE("a counter over tabs throws if it cannot add or flush", "[sync][tab]") {
    GatheringPage page;
    CHECK_THROWS_AS(TabCounter(page.arena, u""), std::system_error);
    TabCounter counter(page.arena, u"n");
    CHECK_THROWS_AS(counter.flush(1ms), std::system_error);
    counter.add(number_limit.most);
    CHECK_THROWS_AS(counter.add(1), std::system_error);
    counter.add(-1);
    counter.add(1);
    CHECK(counter.value() == number_limit.most);
    page.start();
    counter.flush();
    page.refuses = true;
    CHECK_THROWS_AS(counter.flush(), std::system_error);
}
