#include "model.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <exception>
#include <utility>

#include "lab/digest.hpp"
#include "thread_stack.hpp"

namespace tabacus::lab {
namespace {

// Marks the processes of what happens to a thread (Choice::process).
constexpr std::uint64_t timeout_bit = std::uint64_t{1} << 32U;
constexpr std::uint64_t death_bit = std::uint64_t{1} << 33U;

enum class State : std::uint8_t { ready, parked, ended, unborn };

struct Thread {
    Continuation place{};
    std::uint64_t stack_hash = 0;
    State state = State::ready;
    bool mortal = false;
    bool times_out = false;  // parked: whether the sleep may time out
    bool timed_out = false;
    bool at_once = true;          // whether its next operation belongs to the current step
    std::uint32_t word = 0;       // parked: the number of the cell
    std::uint32_t parked_at = 0;  // the step; the thread that sleeps longest is woken first
    std::uint32_t woken_by = 0;   // the step that woke it
};

class ThreadsRun;
thread_local ThreadsRun* running = nullptr;  // the run, while one of its threads runs
thread_local std::uint32_t cells_made = 0;   // the number of cells of the current run
thread_local std::vector<ThreadStack>
    spare_stacks;  // kept, because mapping memory costs more than a run

/// A hash of memory, as the sum of a number for each of its words.
class MemoryHash {
  public:
    /// Returns the hash of the memory. The words that have changed since the last call take time.
    std::uint64_t of(std::span<const std::byte> memory) {
        words_.resize(memory.size() / sizeof(std::uint64_t));
        for (std::size_t i = 0; i < words_.size(); ++i) {
            std::uint64_t word = 0;
            std::memcpy(&word, memory.data() + i * sizeof word, sizeof word);
            if (word == words_[i]) continue;
            sum_ += number(i, word) - number(i, std::exchange(words_[i], word));
        }
        return sum_;
    }

  private:
    static std::uint64_t number(std::size_t at, std::uint64_t word) {
        return mixed(mixed(word) + at);
    }
    std::vector<std::uint64_t> words_;
    std::uint64_t sum_ = 0;
};

class ThreadsRun final : public Run {
  public:
    ThreadsRun(std::uint32_t threads, const std::function<std::unique_ptr<ThreadsWorkload>()>& make,
               Tracing tracing)
        : tracing_(tracing) {
        cells_made = 0;
        workload_ = make();
        if (stacks_copy && tracing == Tracing::off) memory_ = workload_->memory();
        bool deaths = false;
        for (std::uint32_t i = 0; i < threads; ++i) deaths |= workload_->mortal(i);
        threads_.resize(deaths ? threads + 1 : threads);
        for (std::uint32_t i = 0; i < threads_.size(); ++i) begin(i);
        for (std::uint32_t i = 0; i < threads; ++i) threads_[i].mortal = workload_->mortal(i);
        if (deaths) threads_.back().state = State::unborn;
        if (copies()) {
            for (std::uint32_t i = 0; i < threads_.size(); ++i) hash_stack(i);
            hash();
        }
    }
    ThreadsRun(const ThreadsRun&) = delete;
    ThreadsRun& operator=(const ThreadsRun&) = delete;
    ThreadsRun(ThreadsRun&&) = delete;
    ThreadsRun& operator=(ThreadsRun&&) = delete;
    ~ThreadsRun() override {
        // The next run gives each thread the same stack again.
        for (; !stacks_.empty(); stacks_.pop_back())
            spare_stacks.push_back(std::move(stacks_.back()));
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
            if (threads_[i].state != State::parked || !threads_[i].times_out) continue;
            choices_.push_back(
                {.process = i | timeout_bit, .preempts = !choices_.empty(), .turn = last_});
        }
        for (std::uint32_t i = 0; i < threads_.size(); ++i) {
            const bool there =
                threads_[i].state == State::ready || threads_[i].state == State::parked;
            if (!threads_[i].mortal || !there) continue;
            choices_.push_back({.process = i | death_bit, .fault = true, .turn = last_});
        }
        return choices_;
    }

    Taken take(std::size_t index, Footprint* footprint) override {
        const auto process = choices_.at(index).process;
        const auto self = static_cast<std::uint32_t>(process);
        footprint_ = footprint;
        ++steps_;
        Taken taken;
        if ((process & timeout_bit) != 0) {
            taken.cause = threads_[self].parked_at;
            note(threads_[self].word * 2 + 1, AccessKind::write);
            wake(threads_[self], true);
        } else if ((process & death_bit) != 0) {
            die(self);
        } else {
            taken.cause = std::exchange(threads_[self].woken_by, 0);
            go_on(self);
        }
        footprint_ = nullptr;
        if (failure_.empty()) failure_ = workload_->after_step();
        if (failure_.empty() && all_sleep()) failure_ = hang;
        if (copies()) hash();
        return taken;
    }

    void finish() override { failure_ = all_sleep() ? hang : workload_->judge(); }
    [[nodiscard]] const std::string& failure() const override { return failure_; }
    std::vector<TraceLine> lines() override { return std::exchange(lines_, {}); }

    [[nodiscard]] std::optional<std::uint64_t> state() const override {
        return copies() ? std::optional(state_) : std::nullopt;
    }
    [[nodiscard]] bool copies() const override { return !memory_.empty(); }
    void save(std::vector<std::byte>& copy) const override {
        copy.clear();
        const auto add = [&](std::span<const std::byte> bytes) {
            copy.insert(copy.end(), bytes.begin(), bytes.end());
        };
        const Counted counted{last_, steps_};
        add(std::as_bytes(std::span(&counted, 1)));
        add(std::as_bytes(std::span(threads_)));
        add(memory_);
        for (std::size_t i = 0; i < threads_.size(); ++i) add(used(i));
    }
    void restore(const std::vector<std::byte>& copy) override {
        const std::byte* from = copy.data();
        const auto take_back = [&](std::span<std::byte> bytes) {
            std::memcpy(bytes.data(), from, bytes.size());
            from += bytes.size();
        };
        Counted counted{};
        take_back(std::as_writable_bytes(std::span(&counted, 1)));
        last_ = counted.last;
        steps_ = counted.steps;
        take_back(std::as_writable_bytes(std::span(threads_)));
        take_back(memory_);
        for (std::size_t i = 0; i < threads_.size(); ++i) {
            take_back(used(i));
            if (threads_[i].state != State::ended) stacks_[i].clear_below(threads_[i].place);
        }
        failure_.clear();
        hash();
    }

    // Functions that a thread of the run calls.
    void point() {
        auto& thread = threads_[current_];
        if (std::exchange(thread.at_once, false)) return;
        Continuation::change(thread.place, home_);
        thread.at_once = false;
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
    [[nodiscard]] std::uint32_t current() const { return current_; }

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
        thread.parked_at = steps_;
        thread.times_out = times_out;
        Continuation::change(thread.place, home_);
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
                if (longest == nullptr || thread.parked_at < longest->parked_at) longest = &thread;
            }
            if (longest == nullptr) return;
            wake(*longest, false);
        } while (all);
    }

  private:
    static constexpr const char* hang = "all threads that have not ended sleep";

    struct Counted {
        std::uint32_t last;
        std::uint32_t steps;
    };

    void begin(std::uint32_t index) {
        if (spare_stacks.empty()) {
            stacks_.emplace_back();
        } else {
            stacks_.push_back(std::move(spare_stacks.back()));
            spare_stacks.pop_back();
        }
        if (copies()) stacks_.back().clear();
        stacks_.back().begin(threads_[index].place, &ThreadsRun::body);
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
        Continuation::change(run.threads_[self].place, run.home_);  // never comes back
    }
    /// Lets the thread run up to its next operation but one.
    void go_on(std::uint32_t self) {
        auto& thread = threads_[self];
        thread.at_once = true;
        last_ = current_ = self;
        if (thread.mortal) note_life(self, AccessKind::read);
        running = this;
        Continuation::change(home_, thread.place);
        running = nullptr;
        if (copies()) hash_stack(self);
    }
    /// Ends the thread where it is, and lets the last thread report the death.
    void die(std::uint32_t self) {
        auto& thread = threads_[self];
        note_life(self, AccessKind::write);
        if (thread.state == State::parked) note(thread.word * 2 + 1, AccessKind::write);
        current_ = self;
        trace("dies");
        thread.state = State::ended;
        threads_.back().state = State::ready;
        threads_.back().woken_by = steps_;
    }
    void note_life(std::uint32_t self, AccessKind access) {
        if (footprint_ != nullptr) {
            footprint_->push_back({object_id(Object::pulse, std::uint64_t{self}), access});
        }
    }
    void wake(Thread& thread, bool timed_out) {
        thread.state = State::ready;
        thread.timed_out = timed_out;
        thread.woken_by = steps_;
    }
    [[nodiscard]] bool all_sleep() const {
        bool any = false;
        for (const auto& thread : threads_) {
            const bool sleeps = thread.state == State::parked && !thread.times_out;
            if (thread.state == State::ready || (thread.state == State::parked && !sleeps))
                return false;
            any |= sleeps;
        }
        return any;
    }

    [[nodiscard]] std::span<std::byte> used(std::size_t index) const {
        const bool lives = threads_[index].state != State::ended;
        return lives ? stacks_[index].used(threads_[index].place) : std::span<std::byte>();
    }
    /// Hashes what a thread knows: its stack and its registers.
    void hash_stack(std::uint32_t index) {
        auto& thread = threads_[index];
        stacks_[index].clear_below(thread.place);
        Digest all(index);
        const auto add = [&](std::span<const std::byte> bytes) {
            all.add(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
        };
        add(std::as_bytes(std::span(&thread.place, 1)));
        add(used(index));
        thread.stack_hash = all.value();
    }
    /// Hashes the state. Of a word's sleepers only their order counts, not when they fell asleep.
    void hash() {
        state_ = memory_hash_.of(memory_);
        for (std::uint32_t i = 0; i < threads_.size(); ++i) {
            const auto& thread = threads_[i];
            Digest known(std::uint64_t{i} << 8U | static_cast<std::uint64_t>(thread.state));
            if (thread.state != State::ended) known.add(thread.stack_hash);
            if (thread.state == State::ready) known.add(thread.timed_out ? 1U : 0U);
            if (thread.state == State::parked) {
                known.add(std::uint64_t{thread.word} << 1U | (thread.times_out ? 1U : 0U));
                known.add(std::uint64_t{order_of(thread)});
            }
            state_ += known.value();
        }
    }
    /// Returns how many threads sleep longer at the thread's word.
    [[nodiscard]] std::uint32_t order_of(const Thread& thread) const {
        std::uint32_t before = 0;
        for (const auto& other : threads_) {
            if (other.state == State::parked && other.word == thread.word &&
                other.parked_at < thread.parked_at) {
                ++before;
            }
        }
        return before;
    }

    std::vector<Thread> threads_;
    std::vector<ThreadStack> stacks_;
    Tracing tracing_;
    std::unique_ptr<ThreadsWorkload> workload_;
    std::span<std::byte> memory_;  // the workload's, if the run copies itself
    MemoryHash memory_hash_;
    std::uint64_t state_ = 0;
    Continuation home_;
    std::uint32_t current_ = 0;
    std::uint32_t last_ = UINT32_MAX;
    std::uint32_t steps_ = 0;
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

std::uint32_t current_thread() { return running->current(); }

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
