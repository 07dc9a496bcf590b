// Threads that ask their page for a lock over tabs, under every interleaving: no two threads hold
// the lock at once, no thread sleeps for ever, and the page keeps nothing for a thread that has
// ended.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <string>

#include "lab/explore/search.hpp"
#include "lab/threads/model.hpp"
#include "tabacus/sync/tab_request.hpp"

namespace tabacus::test {
namespace {

using lab::ModelAtomic;
using lab::ModelParker;
using lab::Program;
using lab::Search;
using lab::threads_program;
using lab::ThreadsWorkload;
using sync::TabHas;
using sync::TabState;
using sync::TabTask;

using Request = sync::BasicTabRequest<ModelParker>;
using Bell = sync::BasicTabBell<ModelParker>;

/// How a thread asks for the lock each time.
enum class Way { waits, times_out, tries };

/// Threads 0 to Threads − 1 ask, and the last thread is their page, which has one lock.
template <std::uint32_t Threads>
class Asking final : public ThreadsWorkload {
  public:
    Asking(std::array<Way, Threads> ways, int rounds) : ways_(ways), rounds_(rounds) {}

    void run(std::uint32_t index) override {
        if (index == Threads) {
            serve();
            return;
        }
        requests_[index].take(index + 1, u"l");
        for (int i = 0; i < rounds_; ++i) enter(index);
        requests_[index].close(bell_);
        ended_.fetch_add(1);
        bell_.ring();
    }

    std::string judge() override {
        if (inside_.peek() != entered_) return "two threads were inside at once";
        for (const TabHas has : has_) {
            if (has != TabHas::nothing)
                return "the page keeps something for a request that is over";
        }
        for (const Request& request : requests_) {
            if (request.state() != TabState::free) return "a request was not given back";
        }
        return "";
    }

  private:
    void enter(std::uint32_t index) {
        Request& request = requests_[index];
        const Way way = ways_[index];
        request.ask(bell_, way == Way::tries ? TabState::trying : TabState::asked);
        std::int64_t now_ns = 0;
        const auto clock = [&now_ns] { return ++now_ns; };
        const auto timeout_ns = way == Way::times_out ? 2 : sync::forever_ns;
        if (request.answer(bell_, timeout_ns, clock) != TabState::granted) return;
        inside_.store(inside_.load() + 1);
        ++entered_;
        request.release(bell_);
    }

    void serve() {
        for (;;) {
            const std::uint32_t rings = bell_.rings();
            const bool last = ended_.load() == Threads;
            while (serve_once()) {
            }
            if (last) return;
            bell_.wait(rings);
        }
    }

    /// Processes each request once. Returns whether there may be more to do.
    bool serve_once() {
        bool moved = false;
        for (std::uint32_t i = 0; i < Threads; ++i) moved |= process(i);
        return moved;
    }

    bool process(std::uint32_t i) {
        switch (requests_[i].next_task(has_[i])) {
            case TabTask::nothing:
                return has_[i] == TabHas::waiting && give(i);
            case TabTask::wait:
                has_[i] = TabHas::waiting;
                return true;
            case TabTask::attempt:
                if (!give(i)) requests_[i].refuse(0);
                return true;
            case TabTask::drop:
                if (has_[i] == TabHas::holding) taken_ = false;
                has_[i] = TabHas::nothing;
                return true;
        }
        return false;
    }

    bool give(std::uint32_t i) {
        if (taken_) return false;
        taken_ = true;
        has_[i] = TabHas::holding;
        requests_[i].grant(1);  // if the thread has given up, the next look drops the request
        return true;
    }

    const std::array<Way, Threads> ways_;
    const int rounds_;
    Bell bell_;
    std::array<Request, Threads> requests_;
    ModelAtomic<std::uint32_t> ended_{0};
    ModelAtomic<std::uint32_t> inside_{0};
    std::uint32_t entered_ = 0;
    std::array<TabHas, Threads> has_{};
    bool taken_ = false;
};

template <std::uint32_t Threads>
void check_proved(std::array<Way, Threads> ways, int rounds, const lab::Bound& bound = {}) {
    Search search(threads_program(Threads + 1,
                                  [=] { return std::make_unique<Asking<Threads>>(ways, rounds); }),
                  bound);
    search.explore(5'000'000);
    CAPTURE(search.counts().schedules, search.counts().steps);
    CHECK((search.failed_run() ? search.failed_run()->failure : "") == "");
    CHECK(search.exhausted());
    CHECK(search.counts().schedules > 1);
}

}  // namespace

TEST_CASE("explorer: a thread and its page miss no step of each other", "[explorer]") {
    for (const Way way : {Way::waits, Way::times_out, Way::tries}) {
        CAPTURE(static_cast<int>(way));
        check_proved<1>({way}, 1);
    }
}

TEST_CASE("explorer: a thread that asks again before the page has seen its release is served",
          "[explorer]") {
    for (const Way way : {Way::waits, Way::times_out, Way::tries}) {
        CAPTURE(static_cast<int>(way));
        check_proved<1>({way}, 2, {.preemptions = 3});
    }
}

TEST_CASE("explorer: two threads exclude each other through their page", "[explorer]") {
    for (const Way way : {Way::waits, Way::times_out, Way::tries}) {
        CAPTURE(static_cast<int>(way));
        check_proved<2>({Way::waits, way}, 1, {.preemptions = 1});
    }
}

}  // namespace tabacus::test
