#include "job_runner.hpp"

#include <algorithm>
#include <climits>

namespace tabacus {
namespace {

/// The jobs that follow those of a claim that have ended (JobOutcome::next).
struct Followers {
    bool keyed = false;
    std::optional<int> priority;  // the highest of those without a delay

    void add(const std::vector<JobSpec>& next) {
        for (const auto& spec : next) {
            keyed = keyed || !spec.key.empty();
            if (spec.delay_ms == 0) priority = std::max(spec.priority, priority.value_or(INT_MIN));
        }
    }
    /// Whether one of them comes, or may come, before the job `ahead`. A job with a key may be in
    /// the queue already, and then moves to the front.
    [[nodiscard]] bool overtake(const Job& ahead, bool lifo) const {
        if (keyed) return true;
        return priority && (lifo ? *priority >= ahead.priority : *priority > ahead.priority);
    }
};

}  // namespace

Task<void> JobRunner::mark_long(std::weak_ptr<bool> is_long) {
    co_await parts_.open.context.world.clock().sleep(ahead_ms);
    const auto waiting = is_long.lock();
    if (!waiting) co_return;
    *waiting = true;
    parts_.runs.wake_all();
}

Task<void> JobRunner::run_all(HeldSlot& held_slot) {
    auto& [open, runs, signal, news, kinds, settler] = parts_;
    const auto& jobs = held_slot.claim.jobs;
    auto& finished = held_slot.unsettled.finished;
    const auto began_ms = open.monotonic_ms();
    const auto is_long = std::make_shared<bool>(false);
    if (jobs.size() > 1) open.context.scope.spawn(mark_long(is_long));
    const auto quick = [&, &of = open] {
        return !*is_long && of.monotonic_ms() - began_ms < ahead_ms;
    };
    bool alone = false;  // nothing else of the slot is claimed or unsettled
    Followers followers;
    bool overtaken = false;
    bool interrupted = false;
    std::size_t begun = 0;
    for (std::size_t at = 0; at < jobs.size(); ++at) {
        // quick() also reads the clock, because timers cannot run between jobs that do not wait.
        interrupted = begun > 0 && held_slot.interruptions != signal.interruptions();
        if (begun > 0 && (!quick() || alone || overtaken || interrupted)) break;
        if (!kinds.working() || !kinds.handles(jobs[at].kind) || !held_slot.held.held()) break;
        ++begun;
        held_slot.current = at;
        const auto run = runs.begin(jobs[at]);
        held_slot.worker->run = run;
        while (!run->ended) {
            const auto waiting = run->wake_signal;
            co_await waiting.async();
            if (run->ended || !*is_long || alone) continue;
            // The job is long. The other jobs that the slot has claimed, or not settled, must not
            // wait for it.
            alone = true;
            (void)co_await attempt(settler.settle_and_claim(held_slot, false));
        }
        runs.end(run);
        news.note_again();
        held_slot.current.reset();
        if (run->lost) break;
        const bool failed = run->outcome.kind == JobOutcome::Kind::failed;
        finished.push_back({at, std::move(run->outcome)});
        if (failed && open.options.pause_on_failure) break;  // nothing else begins
        followers.add(finished.back().outcome.next);
        overtaken = begun < jobs.size() && followers.overtake(jobs[begun], open.options.lifo);
    }
    using Pace = ClaimSize::Pace;
    held_slot.size.adapt(overtaken     ? Pace::overtaken
                         : interrupted ? Pace::interrupted
                         : quick()     ? Pace::quick
                                       : Pace::slow,
                         begun, open.monotonic_ms() - began_ms);
}

}  // namespace tabacus
