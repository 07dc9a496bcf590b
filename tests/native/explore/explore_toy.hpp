// Toy: a program so small that its schedules can be counted by hand.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lab/explore/run.hpp"

namespace tabacus::test {

/// One step of a thread. A thread that meets `lock` waits until the lock is free; `kill` ends a
/// thread; `post` lets a thread that meets `wait` go on, once.
struct Instruction {
    enum class Kind : std::uint8_t { nothing, load, store, set, lock, unlock, kill, post, wait };
    Kind kind = Kind::nothing;
    std::uint32_t which = 0;  // variable, lock or thread
    std::int64_t value = 0;   // for store: added to the loaded value; for set: the new value
};
using Code = std::vector<Instruction>;

struct Toy {
    std::vector<Code> threads;
    /// Receives the final state. Returns what is wrong with it, or an empty text.
    std::function<std::string(const std::vector<std::int64_t>&)> judge;
};

class ToyRun final : public lab::Run {
  public:
    static constexpr std::uint32_t variables = 3;
    using Kind = Instruction::Kind;
    using AccessKind = lab::AccessKind;
    using Object = lab::Object;

    explicit ToyRun(const Toy& toy)
        : toy_(toy), threads_(toy.threads.size()), values_(variables), owners_(variables) {}

    const std::vector<lab::Choice>& choices() override {
        choices_.clear();
        const bool stays = last_ < threads_.size() && enabled(last_);
        if (stays) choices_.push_back({last_, false, false});
        for (std::uint32_t i = 0; i < threads_.size(); ++i) {
            if (i != last_ && enabled(i)) choices_.push_back({i, stays, false});
        }
        return choices_;
    }

    Taken take(std::size_t index, lab::Footprint* footprint) override {
        const auto self = static_cast<std::uint32_t>(choices_.at(index).process);
        auto& thread = threads_[self];
        const auto& instruction = toy_.threads[self][thread.at++];
        ++steps_;
        last_ = self;
        const auto note = [&](Object kind, std::uint64_t which, AccessKind access) {
            if (footprint != nullptr) footprint->push_back({lab::object_id(kind, which), access});
        };
        note(Object::pulse, self, AccessKind::read);
        Taken taken{};
        switch (instruction.kind) {
            case Kind::nothing:
                break;
            case Kind::load:
                note(Object::word, instruction.which, AccessKind::read);
                thread.loaded = values_[instruction.which];
                break;
            case Kind::store:
                note(Object::word, instruction.which, AccessKind::write);
                values_[instruction.which] = thread.loaded + instruction.value;
                break;
            case Kind::set:
                note(Object::word, instruction.which, AccessKind::write);
                values_[instruction.which] = instruction.value;
                break;
            case Kind::lock:
                note(Object::lock, instruction.which, AccessKind::write);
                owners_[instruction.which] = self + 1;
                break;
            case Kind::unlock:
                note(Object::lock, instruction.which, AccessKind::write);
                owners_[instruction.which] = 0;
                break;
            case Kind::kill:
                note(Object::pulse, instruction.which, AccessKind::write);
                threads_[instruction.which].dead = true;
                break;
            case Kind::post:
                note(Object::queue, instruction.which, AccessKind::write);
                note(Object::pulse, instruction.which, AccessKind::read);
                threads_[instruction.which].posts.push_back(steps_);
                break;
            case Kind::wait:
                taken.cause = thread.posts[thread.received++];
                break;
        }
        return taken;
    }

    void finish() override {
        auto state = values_;
        for (const auto& thread : threads_) {
            state.push_back(static_cast<std::int64_t>(thread.at));
            state.push_back(thread.loaded);
        }
        if (toy_.judge) failure_ = toy_.judge(state);
    }
    [[nodiscard]] const std::string& failure() const override { return failure_; }

  private:
    struct Thread {
        std::size_t at = 0;
        std::int64_t loaded = 0;
        bool dead = false;
        std::vector<std::uint32_t> posts;
        std::size_t received = 0;
    };
    [[nodiscard]] bool enabled(std::uint32_t self) const {
        const auto& thread = threads_[self];
        if (thread.dead || thread.at == toy_.threads[self].size()) return false;
        const auto& next = toy_.threads[self][thread.at];
        if (next.kind == Kind::lock) return owners_[next.which] == 0;
        if (next.kind == Kind::wait) return thread.received < thread.posts.size();
        return true;
    }

    const Toy& toy_;
    std::vector<Thread> threads_;
    std::vector<std::int64_t> values_;
    std::vector<std::uint32_t> owners_;
    std::vector<lab::Choice> choices_;
    std::uint32_t last_ = UINT32_MAX;
    std::uint32_t steps_ = 0;
    std::string failure_;
};

/// Requires that `toy` outlives the program.
inline lab::Program program_of(const Toy& toy) {
    return [&toy](lab::Tracing) { return std::make_unique<ToyRun>(toy); };
}

}  // namespace tabacus::test
