// Queue: passes each call to the part that it is for.
#include "queue_parts.hpp"

namespace tabacus {

Queue::Queue(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Queue::~Queue() = default;

Task<JobReceipt> Queue::enqueue(JobSpec spec) { return parts_->batches.enqueue(std::move(spec)); }

void Queue::handle(std::vector<std::string> kinds) {
    parts_->kinds.handle(std::move(kinds));
    parts_->workers.start();
}

void Queue::handle_all() {
    parts_->kinds.handle_all();
    parts_->workers.start();
}

void Queue::stop() { parts_->workers.stop(); }

Task<void> Queue::leave() { return parts_->workers.leave(); }

void Queue::finish(int run, JobOutcome outcome) { parts_->runs.finish(run, std::move(outcome)); }

void Queue::progress(int run, double fraction, std::string_view note) {
    parts_->news.publish_progress(run, fraction, note);
}

Task<void> Queue::pause() { return parts_->control.pause(); }

Task<void> Queue::resume() { return parts_->control.resume(); }

Task<bool> Queue::cancel(std::string key) { return parts_->control.cancel(std::move(key)); }

Task<std::int64_t> Queue::clear() { return parts_->control.clear(); }

Task<bool> Queue::retry(std::string id) { return parts_->control.retry(std::move(id)); }

Task<bool> Queue::discard(std::string id) { return parts_->control.discard(std::move(id)); }

std::int64_t Queue::count() const { return parts_->status.count; }

void Queue::follow_jobs(bool follows) { parts_->open.follows_jobs = follows; }

bool Queue::paused() const { return parts_->status.paused; }

Task<std::int64_t> Queue::read_count() { return parts_->lists.read_count(); }

Task<std::vector<JobInfo>> Queue::jobs(JobRange range) {
    return parts_->lists.jobs(std::move(range));
}

Task<std::vector<JobInfo>> Queue::running() { return parts_->lists.running(); }

Task<std::vector<JobInfo>> Queue::dead_letters(JobRange range) {
    return parts_->lists.dead_letters(std::move(range));
}

Task<void> Queue::idle() {
    co_await read_count();
    const Completer<Unit> ended;
    parts_->idle.add(ended);
    parts_->poller.start();
    parts_->news.note_again();
    co_await ended.async();
}

}  // namespace tabacus
