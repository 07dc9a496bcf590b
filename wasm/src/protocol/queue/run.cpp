// Running: what a slot has claimed is given to the application, one job after another.
#include <algorithm>
#include <climits>
#include <cmath>

#include "protocol/common/names.hpp"
#include "protocol/common/record.hpp"
#include "state.hpp"

namespace tabacus {
namespace {

/// Claims ahead grow so while jobs are short.
constexpr std::size_t ahead_growth = 4;

/// What follows the jobs of a claim that have ended.
struct Followers {
    bool keyed = false;
    std::optional<int> priority;  // the highest of those without a key, or a time to wait for

    void add(const std::vector<JobSpec>& next) {
        for (const auto& spec : next) {
            keyed = keyed || !spec.key.empty();
            if (spec.delay_ms == 0) priority = std::max(spec.priority, priority.value_or(INT_MIN));
        }
    }
    /// Whether one comes, or may come, before `ahead`. One that has a key may be there already, and
    /// then moves to the front.
    [[nodiscard]] bool overtake(const Job& ahead, bool lifo) const {
        if (keyed) return true;
        return priority && (lifo ? *priority >= ahead.priority : *priority > ahead.priority);
    }
};

}  // namespace

std::shared_ptr<Queue::Run> Queue::begin(const Job& job) {
    const auto run = std::make_shared<Run>();
    run->number = ++last_run_;
    run->id = job.id;
    runs_.push_back(run);
    callbacks_.run(run->number, info_of(job, JobInfo::State::running));
    return run;
}

void Queue::end(const std::shared_ptr<Run>& run) {
    std::erase(runs_, run);
    note(version_, count_);
}

void Queue::finish(int number, JobOutcome outcome) {
    const auto found = std::find_if(runs_.begin(), runs_.end(),
                                    [number](const auto& run) { return run->number == number; });
    if (found == runs_.end() || (*found)->ended) return;
    // wake() may take it off the list.
    const auto run = *found;  // NOLINT(performance-unnecessary-copy-initialization)
    run->ended = true;
    run->outcome = std::move(outcome);
    run->wake();
}

void Queue::progress(int number, double fraction, std::string_view note) {
    const auto found = std::find_if(runs_.begin(), runs_.end(),
                                    [number](const auto& run) { return run->number == number; });
    if (found == runs_.end()) return;
    const auto millionths = std::llround(std::clamp(fraction, 0.0, 1.0) * 1e6);
    QueueChanges changes;
    changes.add(QueueEvent::Kind::progress, {(*found)->id, format_decimal(millionths), note});
    auto& event = changes.events.back();
    event.tab = parts_.context.tab;
    event.version = version_;
    event.count = count_;
    publish(changes);
}

Task<void> Queue::mark_late(std::weak_ptr<bool> late) {
    co_await parts_.world.clock().sleep(ahead_ms);
    const auto waiting = late.lock();
    if (!waiting) co_return;
    *waiting = true;
    for (const auto& run : std::vector(runs_)) run->wake();
}

/// One after another, as long as they are short. Leaves them in `finished`.
Task<void> Queue::run_all(HeldSlot& held_slot) {
    const auto& jobs = held_slot.jobs;
    const auto began_ms = parts_.world.clock().monotonic_ms();
    const auto late = std::make_shared<bool>(false);
    if (jobs.size() > 1) parts_.scope.spawn(mark_late(late));
    const auto quick = [&] {
        return !*late && parts_.world.clock().monotonic_ms() - began_ms < ahead_ms;
    };
    bool alone = false;  // nothing else of the slot is claimed or unsettled
    Followers followers;
    bool overtaken = false;
    bool interrupted = false;
    std::size_t begun = 0;
    for (std::size_t at = 0; at < jobs.size(); ++at) {
        const auto& job = jobs[at];
        // Jobs that do not wait for anything leave no turn for timers.
        interrupted = begun > 0 && held_slot.wakes != wake_count_;
        if (begun > 0 && (!quick() || alone || overtaken || interrupted)) break;
        if (!working() || !handles(job.kind) || !held_slot.held.held()) break;
        ++begun;
        held_slot.current = at;
        const auto run = begin(job);
        held_slot.worker->run = run;
        while (!run->ended) {
            const auto signal = run->wake_signal;
            co_await signal.async();
            if (run->ended || !*late || alone) continue;
            // It takes its time: others need not wait for what it holds up.
            alone = true;
            (void)co_await attempt(settle_and_claim(held_slot, false));
        }
        end(run);
        held_slot.current.reset();
        if (run->lost) break;
        const bool failed = run->outcome.kind == JobOutcome::Kind::failed;
        held_slot.finished.push_back({at, std::move(run->outcome)});
        if (failed && options_.pause_on_failure) break;  // nothing else begins
        followers.add(held_slot.finished.back().outcome.next);
        overtaken = begun < jobs.size() && followers.overtake(jobs[begun], options_.lifo);
    }
    held_slot.ahead = overtaken     ? begun
                      : interrupted ? std::min(held_slot.ahead, begun * 2)
                      : quick()     ? std::min(held_slot.ahead * ahead_growth, ahead_max)
                                    : std::max(begun, std::size_t{2}) - 1;
}

}  // namespace tabacus
