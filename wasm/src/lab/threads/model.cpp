#include "model.hpp"

#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <utility>

namespace tabacus::lab {
namespace {

/// The size of a thread's stack. The calls of a primitive are only a few frames deep.
constexpr std::size_t stack_bytes = std::size_t{64} * 1024;
using Stack = std::array<std::byte, stack_bytes>;

/// Marks the process of a thread's timeout (Choice::process).
constexpr std::uint64_t timeout_bit = std::uint64_t{1} << 32U;

enum class State : std::uint8_t { ready, parked, ended, unborn };

struct Thread {
    ucontext_t context{};
    std::unique_ptr<Stack> stack;
    State state = State::ready;
    std::uint32_t word = 0;   // parked: the number of the cell
    std::uint64_t since = 0;  // parked: the step; the thread that sleeps longest is woken first
    bool times_out = false;   // parked: whether the sleep may time out
    bool timed_out = false;
    bool at_once = true;         // whether its next operation belongs to the current step
    std::uint32_t woken_by = 0;  // the step that woke it
    std::uint32_t operations = 0;
    std::uint32_t dies_after = ThreadsWorkload::never;
    [[nodiscard]] bool dies() const { return operations >= dies_after; }
};

class ThreadsRun;
thread_local ThreadsRun* running = nullptr;  // the run, while one of its threads runs
thread_local std::uint32_t cells_made = 0;   // the number of cells of the current run
thread_local std::vector<std::unique_ptr<Stack>>
    spare_stacks;  // kept, because mapping memory costs more than a run

class ThreadsRun final : public Run {
  public:
    ThreadsRun(std::uint32_t threads, const std::function<std::unique_ptr<ThreadsWorkload>()>& make,
               Tracing tracing)
        : tracing_(tracing) {
        cells_made = 0;
        workload_ = make();
        bool deaths = false;
        for (std::uint32_t i = 0; i < threads; ++i)
            deaths |= workload_->dies_after(i) != ThreadsWorkload::never;
        threads_.resize(deaths ? threads + 1 : threads);
        parked_by_.resize(threads_.size());
        for (std::uint32_t i = 0; i < threads_.size(); ++i) begin(i);
        for (std::uint32_t i = 0; i < threads; ++i)
            threads_[i].dies_after = workload_->dies_after(i);
        if (deaths) threads_.back().state = State::unborn;
    }
    ThreadsRun(const ThreadsRun&) = delete;
    ThreadsRun& operator=(const ThreadsRun&) = delete;
    ThreadsRun(ThreadsRun&&) = delete;
    ThreadsRun& operator=(ThreadsRun&&) = delete;
    ~ThreadsRun() override {
        for (auto& thread : threads_) spare_stacks.push_back(std::move(thread.stack));
    }

    const std::vector<Choice>& choices() override {
        choices_.clear();
        const bool stays = last_ < threads_.size() && threads_[last_].state == State::ready;
        if (stays) choices_.push_back({last_, false, false});
        for (std::uint32_t i = 0; i < threads_.size(); ++i) {
            if (i != last_ && threads_[i].state == State::ready) {
                choices_.push_back({i, stays, false});
            }
        }
        for (std::uint32_t i = 0; i < threads_.size(); ++i) {
            if (threads_[i].state != State::parked) continue;
            if (!threads_[i].times_out && !threads_[i].dies()) continue;
            choices_.push_back({i | timeout_bit, !choices_.empty(), false});
        }
        return choices_;
    }

    Taken take(std::size_t index, Footprint* footprint) override {
        const auto process = choices_.at(index).process;
        const auto self = static_cast<std::uint32_t>(process);
        auto& thread = threads_[self];
        footprint_ = footprint;
        ++steps_;
        Taken taken;
        if ((process & timeout_bit) != 0) {
            taken.cause = parked_by_[self];
            note(thread.word * 2 + 1, AccessKind::write);
            if (thread.dies()) {
                die(thread);
            } else {
                wake(thread, true);
            }
        } else {
            taken.cause = std::exchange(thread.woken_by, 0);
            thread.at_once = true;
            last_ = current_ = self;
            running = this;
            swapcontext(&home_, &thread.context);
            running = nullptr;
        }
        footprint_ = nullptr;
        if (failure_.empty()) failure_ = workload_->after_step();
        return taken;
    }

    void finish() override {
        for (const auto& thread : threads_) {
            if (thread.state == State::parked) {
                failure_ = "all threads that have not ended sleep";
                return;
            }
        }
        failure_ = workload_->judge();
    }
    [[nodiscard]] const std::string& failure() const override { return failure_; }
    std::vector<TraceLine> lines() override { return std::exchange(lines_, {}); }

    // Functions that a thread of the run calls.
    void point() {
        auto& thread = threads_[current_];
        if (!std::exchange(thread.at_once, false)) {
            swapcontext(&thread.context, &home_);
            thread.at_once = false;
        }
        if (thread.dies()) {
            trace("dies");
            die(thread);
            swapcontext(&thread.context, &home_);  // never comes back
        }
        ++thread.operations;
    }
    void note(std::uint32_t object, AccessKind access) {
        if (footprint_ != nullptr) {
            footprint_->push_back({object_id(Object::word, std::uint64_t{object}), access});
        }
    }
    void trace(std::string text) {
        if (tracing_ == Tracing::on) {
            lines_.push_back({current_ + 1, Object::word, std::move(text)});
        }
    }
    [[nodiscard]] bool traces() const { return tracing_ == Tracing::on; }

    sync::Parked park(std::uint32_t number, const std::function<bool()>& unchanged,
                      bool times_out) {
        point();
        note(number * 2, AccessKind::read);
        if (!unchanged()) {
            trace("does not sleep: the cell has changed");
            return sync::Parked::changed;
        }
        note(number * 2 + 1, AccessKind::write);
        trace("sleeps");
        auto& thread = threads_[current_];
        thread.state = State::parked;
        thread.word = number;
        thread.since = steps_;
        thread.times_out = times_out;
        parked_by_[current_] = steps_;
        swapcontext(&thread.context, &home_);
        return std::exchange(thread.timed_out, false) ? sync::Parked::timed_out
                                                      : sync::Parked::notified;
    }
    void unpark(std::uint32_t number, bool all) {
        point();
        note(number * 2 + 1, AccessKind::write);
        trace(all ? "wakes all" : "wakes one");
        do {
            Thread* longest = nullptr;
            for (auto& thread : threads_) {
                if (thread.state != State::parked || thread.word != number) continue;
                if (longest == nullptr || thread.since < longest->since) longest = &thread;
            }
            if (longest == nullptr) return;
            wake(*longest, false);
        } while (all);
    }

  private:
    void begin(std::uint32_t index) {
        auto& thread = threads_[index];
        if (spare_stacks.empty()) {
            thread.stack = std::make_unique<Stack>();
        } else {
            thread.stack = std::move(spare_stacks.back());
            spare_stacks.pop_back();
        }
        getcontext(&thread.context);
        thread.context.uc_stack.ss_sp = thread.stack->data();
        thread.context.uc_stack.ss_size = stack_bytes;
        thread.context.uc_link = &home_;
        makecontext(&thread.context, &ThreadsRun::body, 0);
    }
    static void body() {
        auto& run = *running;
        const auto self = run.current_;
        try {
            run.workload_->run(self);
        } catch (const std::exception& error) {
            run.failure_ = std::string("a thread threw: ") + error.what();
        }
        run.threads_[self].state = State::ended;
    }
    /// Ends the thread where it is, and lets the last thread report the death.
    void die(Thread& thread) {
        thread.state = State::ended;
        threads_.back().state = State::ready;
        threads_.back().woken_by = steps_;
    }
    void wake(Thread& thread, bool timed_out) {
        thread.state = State::ready;
        thread.timed_out = timed_out;
        thread.woken_by = steps_;
    }

    std::vector<Thread> threads_;
    Tracing tracing_;
    std::unique_ptr<ThreadsWorkload> workload_;
    ucontext_t home_{};
    std::uint32_t current_ = 0;
    std::uint32_t last_ = UINT32_MAX;
    std::uint32_t steps_ = 0;
    std::vector<std::uint32_t> parked_by_;
    Footprint* footprint_ = nullptr;
    std::vector<Choice> choices_;
    std::vector<TraceLine> lines_;
    std::string failure_;
};

}  // namespace

namespace model {

void point() {
    if (running != nullptr) running->point();
}

void record_access(std::uint32_t number, AccessKind access, const char* what, std::int64_t value) {
    if (running == nullptr) return;
    running->note(number * 2, access);
    if (running->traces()) {
        running->trace(std::string(what) + " " + std::to_string(value) + " (cell " +
                       std::to_string(number) + ")");
    }
}

std::uint32_t next_cell() { return cells_made++; }

sync::Parked park(std::uint32_t number, const std::function<bool()>& unchanged, bool times_out) {
    return running->park(number, unchanged, times_out);
}

void unpark(std::uint32_t number, bool all) {
    if (running != nullptr) running->unpark(number, all);
}

}  // namespace model

Program threads_program(std::uint32_t threads,
                        std::function<std::unique_ptr<ThreadsWorkload>()> make) {
    return [threads, make = std::move(make)](Tracing tracing) -> std::unique_ptr<Run> {
        return std::make_unique<ThreadsRun>(threads, make, tracing);
    };
}

}  // namespace tabacus::lab
