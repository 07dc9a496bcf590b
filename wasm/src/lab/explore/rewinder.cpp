#include "rewinder.hpp"

#include <utility>

namespace tabacus::lab {

/// A run in the arena, for callers outside. Each call enters the arena.
class Rewinder::ArenaRun final : public Run {
  public:
    ArenaRun(RunArena& arena, const Program& program) : arena_(arena) {
        const RunArena::Stay stay(arena_);
        // Both are released, because the arena forgets them and never destroys them.
        run_ = program(Tracing::off).release();
        footprint_ = std::make_unique<Footprint>().release();
    }

    const std::vector<Choice>& choices() override {
        const RunArena::Stay stay(arena_);
        return run_->choices();
    }
    /// Copies the footprint, because the caller's vector must not allocate in the arena.
    Taken take(std::size_t index, Footprint* footprint) override {
        const auto taken = step(index, footprint != nullptr);
        if (footprint != nullptr) {
            footprint->insert(footprint->end(), footprint_->begin(), footprint_->end());
        }
        return taken;
    }
    void finish() override {
        const RunArena::Stay stay(arena_);
        run_->finish();
    }
    void end() override { run_->end(); }
    [[nodiscard]] const std::string& failure() const override { return run_->failure(); }
    [[nodiscard]] std::optional<std::uint64_t> state() const override {
        const RunArena::Stay stay(arena_);
        return run_->state();
    }

  private:
    Taken step(std::size_t index, bool note) {
        const RunArena::Stay stay(arena_);
        footprint_->clear();
        return run_->take(index, note ? footprint_ : nullptr);
    }

    RunArena& arena_;
    Run* run_;
    Footprint* footprint_;
};

Rewinder::Rewinder(Program program, bool rewinding)
    : program_(std::move(program)), rewinding_(rewinding) {}
Rewinder::~Rewinder() = default;

/// Makes the one run that is put back to checkpoints, if there may be one.
void Rewinder::make_run() {
    auto run = program_(Tracing::off);
    copies_ = run->copies();
    if (copies_) {
        run_ = std::move(run);
    } else if (run->rewinds() && RunArena::available()) {
        run.reset();
        make_arena();
    } else {
        rewinding_ = false;
    }
    if (rewinding_) reached(0);
}

void Rewinder::make_arena() {
    auto arena = std::make_unique<RunArena>();
    run_ = std::make_unique<ArenaRun>(*arena, program_);
    arena_ = std::move(arena);
}

Run& Rewinder::begin(std::size_t steps) {
    end();
    if (rewinding_ && !run_) make_run();
    if (rewinding_) {
        while (checkpoints_[kept_ - 1].steps > steps) --kept_;
        const auto& [at, copy] = checkpoints_[kept_ - 1];
        copies_ ? run_->restore(copy) : arena_->restore(copy);
        passed_ = at;
    } else {
        run_ = program_(Tracing::off);
    }
    running_ = true;
    return *run_;
}

void Rewinder::reached(std::size_t steps) {
    if (!rewinding()) return;
    const std::size_t least = copies_ ? 1 : spacing;
    if (kept_ > 0 && steps < checkpoints_[kept_ - 1].steps + least) return;
    if (kept_ == checkpoints_.size()) checkpoints_.emplace_back();
    auto& checkpoint = checkpoints_[kept_++];
    checkpoint.steps = steps;
    copies_ ? run_->save(checkpoint.copy) : arena_->save(checkpoint.copy);
}

void Rewinder::end() {
    if (std::exchange(running_, false)) run_->end();
    if (!rewinding()) run_.reset();
}

}  // namespace tabacus::lab
