// Locks over tabs from C++ threads, which a page of this test answers.
#include <algorithm>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "sync_support.hpp"
#include "tabacus/threads/tab_mutex.hpp"

using namespace tabacus::sync;
using namespace std::chrono_literals;
using tabacus::TabMutex;
using tabacus::sync::test::on_threads;

namespace {

struct alignas(Arena) PageMemory {
    std::byte bytes[128 * 1024];
};

/// A page that answers requests as js/threads/tab-lock/broker.js does. Its locks are shared with no
/// other tab, and are granted in the order of the requests.
class Page {
  public:
    Page()
        : memory_(std::make_unique<PageMemory>()),
          arena(*new (memory_->bytes) Arena(sizeof(PageMemory) / 2, 16)) {}
    Page(const Page&) = delete;
    Page& operator=(const Page&) = delete;
    ~Page() { stop(); }

    void start() {
        thread_ = std::thread([this] { serve(); });
    }
    void stop() {
        if (!thread_.joinable()) return;
        ending_ = true;
        arena.tab_bell().ring();
        thread_.join();
    }

    /// Processes every request once.
    void serve_once() {
        for (auto* request = arena.next_tab_request(nullptr); request != nullptr;
             request = arena.next_tab_request(request)) {
            process(*request);
        }
    }

    /// Takes the lock as another tab would.
    void take(const std::u16string& name) { locks_[name].push_back(nullptr); }
    void release(const std::u16string& name) { end(name, nullptr); }

  private:
    struct Record {
        TabHas has = TabHas::nothing;
        std::u16string name;
    };
    using Queue = std::deque<TabRequest*>;

    void serve() {
        while (!ending_) {
            const std::uint32_t rings = arena.tab_bell().rings();
            serve_once();
            if (!ending_) arena.tab_bell().wait(rings);
        }
    }

    void process(TabRequest& request) {
        for (;;) {
            const auto record = records_.find(&request);
            const TabTask task =
                request.next_task(record == records_.end() ? TabHas::nothing : record->second.has);
            if (task == TabTask::nothing) return;
            if (task == TabTask::drop) {
                drop(request);
            } else {
                begin(request, task == TabTask::attempt);
            }
        }
    }

    void begin(TabRequest& request, bool tries) {
        const std::u16string name(request.name());
        Queue& queue = locks_[name];
        if (tries && !queue.empty()) {
            request.refuse(0);
            return;
        }
        records_[&request] = {tries ? TabHas::trying : TabHas::waiting, name};
        queue.push_back(&request);
        if (queue.size() == 1) grant(request);
    }

    void grant(TabRequest& request) {
        records_.at(&request).has = TabHas::holding;
        if (!request.grant(++token_)) drop(request);
    }

    void drop(TabRequest& request) {
        const std::u16string name = records_.at(&request).name;
        records_.erase(&request);
        end(name, &request);
    }

    void end(const std::u16string& name, TabRequest* request) {
        Queue& queue = locks_[name];
        const bool held = queue.front() == request;
        queue.erase(std::find(queue.begin(), queue.end(), request));
        if (held && !queue.empty() && queue.front() != nullptr) grant(*queue.front());
    }

    std::unique_ptr<PageMemory> memory_;
    std::thread thread_;
    std::atomic<bool> ending_{false};
    std::map<TabRequest*, Record> records_;
    std::map<std::u16string, Queue> locks_;
    std::int64_t token_ = 0;

  public:
    Arena& arena;
};

}  // namespace

TEST_CASE("threads that block exclude each other through the page", "[sync][tab]") {
    Page page;
    page.start();
    constexpr std::int64_t rounds = 500;
    std::int64_t plain = 0;
    std::vector<std::int64_t> tokens;
    SECTION("each with a mutex of its own") {
        on_threads(4, [&](std::uint32_t) {
            TabMutex mutex(page.arena, u"cart");
            for (std::int64_t i = 0; i < rounds; ++i) {
                const std::scoped_lock lock(mutex);
                ++plain;
                tokens.push_back(mutex.token());
            }
        });
    }
    SECTION("all with one mutex") {
        TabMutex mutex(page.arena, u"cart");
        on_threads(4, [&](std::uint32_t) {
            for (std::int64_t i = 0; i < rounds; ++i) {
                const std::scoped_lock lock(mutex);
                ++plain;
                tokens.push_back(mutex.token());
            }
        });
    }
    SECTION("in every way of locking") {
        TabMutex shared(page.arena, u"cart");
        on_threads(4, [&](std::uint32_t index) {
            TabMutex own(page.arena, u"cart");
            TabMutex& mutex = index % 2 == 0 ? own : shared;
            for (std::int64_t i = 0; i < rounds; ++i) {
                const bool at_once = i % 2 == 0;
                while (!(at_once ? mutex.try_lock() : mutex.try_lock_for(50us)))
                    std::this_thread::yield();
                ++plain;
                tokens.push_back(mutex.token());
                mutex.unlock();
            }
        });
    }
    CHECK(plain == 4 * rounds);
    CHECK(std::is_sorted(tokens.begin(), tokens.end()));
    CHECK(std::adjacent_find(tokens.begin(), tokens.end()) == tokens.end());
}

TEST_CASE("a request is either granted or over, never both", "[sync][tab]") {
    Page page;
    auto outcome = Opened::found;
    TabRequest& request = *page.arena.open_tab_request(1, true, true, u"l", outcome);
    TabBell& bell = page.arena.tab_bell();
    REQUIRE(request.ask(bell, TabState::asked));
    CHECK_FALSE(request.ask(bell, TabState::asked));
    SECTION("given up first") {
        CHECK(request.give_up(bell));
        CHECK_FALSE(request.grant(1));
        CHECK_FALSE(request.refuse(1));
        CHECK(request.next_task(TabHas::waiting) == TabTask::drop);
        CHECK(request.next_task(TabHas::nothing) == TabTask::nothing);
        CHECK(request.state() == TabState::idle);
    }
    SECTION("given up, and asked again before the page has seen it") {
        CHECK(request.give_up(bell));
        CHECK(request.ask(bell, TabState::trying));
        CHECK(request.next_task(TabHas::waiting) == TabTask::drop);
        CHECK(request.next_task(TabHas::nothing) == TabTask::attempt);
    }
    SECTION("granted first") {
        CHECK(request.grant(7));
        CHECK_FALSE(request.give_up(bell));
        CHECK(request.token() == 7);
        CHECK(request.release(bell) == TabState::granted);
        CHECK(request.release(bell) == TabState::over);
        CHECK(request.ask(bell, TabState::asked));
        CHECK(request.next_task(TabHas::holding) == TabTask::drop);
    }
    SECTION("lost") {
        CHECK_FALSE(request.lose());
        CHECK(request.grant(7));
        CHECK(request.lose());
        CHECK(request.release(bell) == TabState::lost);
        CHECK_FALSE(request.lose());
    }
    SECTION("refused") {
        CHECK(request.refuse(3));
        CHECK(request.reason() == 3);
        CHECK(request.release(bell) == TabState::refused);
        CHECK(request.ask(bell, TabState::asked));
    }
    SECTION("its page ends") {
        bell.end();
        CHECK(request.state() == TabState::asked);
        CHECK(request.refuse(TabRequest::page_closed));
        CHECK(request.ask(bell, TabState::trying));
        CHECK(request.state() == TabState::refused);
        CHECK(request.reason() == TabRequest::page_closed);
    }
    SECTION("its thread exits") {
        CHECK(request.grant(7));
        CHECK_FALSE(request.report_exit(2));
        CHECK(request.report_exit(1));
        CHECK(request.state() == TabState::free);
        CHECK(page.arena.open_tab_request(3, true, false, u"other", outcome) == &request);
        CHECK(request.name() == u"other");
        CHECK_FALSE(request.report_exit(1));
    }
}

TEST_CASE("a request is used again once the page has dropped it", "[sync][tab]") {
    Page page;
    for (int i = 0; i < 1'000; ++i) {
        {
            const TabMutex one(page.arena, u"a");
            const TabMutex two(page.arena, u"b");
        }
        page.serve_once();
    }
    std::vector<std::unique_ptr<TabMutex>> all;
    const auto fill = [&] {
        for (int i = 0; i < 1'000; ++i) all.push_back(std::make_unique<TabMutex>(page.arena, u"c"));
    };
    CHECK_THROWS_AS(fill(), std::system_error);
    CHECK(all.size() > 100);
}

TEST_CASE("a mutex over tabs gives up in time, and throws if it is misused", "[sync][tab]") {
    Page page;
    page.take(u"l");
    page.start();
    TabMutex mutex(page.arena, u"l");
    CHECK_FALSE(mutex.try_lock());
    CHECK_FALSE(mutex.try_lock_for(1ms));
    CHECK_FALSE(mutex.try_lock_for(0ms));
    CHECK_THROWS_AS(mutex.unlock(), std::system_error);
    page.stop();
    page.release(u"l");
    Page other;
    other.start();
    TabMutex free(other.arena, u"l");
    CHECK(free.try_lock());
    CHECK(free.held());
    CHECK_FALSE(free.try_lock());
    CHECK_THROWS_AS(free.lock(), std::system_error);
    bool refused = false;
    std::thread([&] {
        try {
            free.unlock();
        } catch (const std::system_error& error) {
            refused = error.code() == std::errc::operation_not_permitted;
        }
    }).join();
    CHECK(refused);
    free.unlock();
    CHECK_FALSE(free.held());
    CHECK(free.try_lock_for(1h));
    free.unlock();
    CHECK_THROWS_AS(TabMutex(page.arena, u""), std::system_error);
}
