// The queues of a namespace in one tab; and asking: how jobs come, and their outcomes return.
#include <algorithm>

#include "protocol/common/concat.hpp"
#include "protocol/common/names.hpp"
#include "protocol/common/record.hpp"
#include "state.hpp"

namespace tabacus {
namespace {

/// More would hold up everybody else's transactions.
constexpr std::size_t batch_max = 2048;
/// Outcomes fetched by one transaction.
constexpr std::uint32_t collected_max = 256;
/// The fields of a cancelled job in an event: its id, key and kind.
constexpr std::size_t fields_of_cancelled = 3;

Error queue_closed() { return {ErrorCode::closed, "the tab was closed"}; }

/// `message`: nothing that JSON escapes.
JobOutcome missing(std::string_view message) {
    auto text =
        concat({R"({"name":"TabacusError","message":")", message, R"(","code":"store-failed"})"});
    return {JobOutcome::Kind::failed, {std::move(text), false}, {}};
}

}  // namespace

// --- Queues -------------------------------------------------------------------------------------

Queues::Queues(World& world, std::string_view name_space, LockTable& locks,
               const NoticeHandler& on_notice)
    : parts_(std::make_unique<Parts>(world, name_space, locks, on_notice)) {
    parts_->open_channel();
    parts_->lifecycle = world.lifecycle().on_event(
        [parts = parts_.get()](LifecycleEvent event) { parts->on_lifecycle(event); });
}

Queues::~Queues() = default;

void Queues::Parts::open_channel() {
    channel = world.channel(names.queues_channel());
    if (!channel) return;
    channel->on_message([this](std::string_view text) {
        const auto message = parse_queue_event(text);
        if (!message || closed) return;  // another version's, or a stranger's
        const auto found = queues.find(message->queue);
        if (found != queues.end()) found->second->receive(message->event);
    });
}

/// After the locks, which receive the event first and notify workers that they lost their claims.
void Queues::Parts::on_lifecycle(LifecycleEvent event) {
    if (closed) return;
    if (event == LifecycleEvent::frozen || event == LifecycleEvent::page_hide) {
        transactions.stop();
    }
    if (event == LifecycleEvent::page_hide) {
        channel.reset();
        world.database().close();
    }
    if (event == LifecycleEvent::page_show || event == LifecycleEvent::resumed) {
        transactions.resume();
        if (!channel) open_channel();
        for (const auto& [key, queue] : queues) queue->on_resume();
    }
}

bool Queues::available() const { return parts_->world.database().available(); }

const std::string& Queues::tab() const { return parts_->context.tab; }

Queue& Queues::queue(const std::string& name, QueueOptions options, QueueCallbacks callbacks) {
    auto& queue = parts_->queues[escaped(name)];
    if (!queue) queue = std::make_unique<Queue>(*parts_, name, options, std::move(callbacks));
    return *queue;
}

void Queues::online() {
    for (const auto& [key, queue] : parts_->queues) queue->online();
}

void Queues::close() {
    if (std::exchange(parts_->closed, true)) return;
    for (const auto& [key, queue] : parts_->queues) queue->close();
    parts_->transactions.resume();
    parts_->lifecycle = {};
    parts_->channel.reset();
}

// --- Queue --------------------------------------------------------------------------------------

Queue::Queue(Queues::Parts& parts, std::string name, QueueOptions options, QueueCallbacks callbacks)
    : parts_(parts),
      name_(std::move(name)),
      key_(escaped(name_)),
      options_(options),
      callbacks_(std::move(callbacks)),
      expected_(std::make_unique<Expected>()) {}

Queue::~Queue() = default;

Task<JobReceipt> Queue::enqueue(JobSpec spec) {
    if (closed_) co_await fail(queue_closed());
    const auto request = std::make_shared<Request>();
    request->spec = std::move(spec);
    requests_.push_back(request);
    if (!std::exchange(flushing_, true)) parts_.scope.spawn(flush());
    co_await request->decided.async();
    if (request->failure) co_await fail(*request->failure);
    if (request->refusal) co_await fail(*request->refusal);
    co_return request->receipt;
}

/// One transaction at a time, of all that has gathered meanwhile.
Task<void> Queue::flush() {
    co_await parts_.world.clock().end_of_turn();
    while (!requests_.empty()) {
        const auto count = std::min(requests_.size(), batch_max);
        const auto end = requests_.begin() + static_cast<std::ptrdiff_t>(count);
        std::vector<std::shared_ptr<Request>> batch(requests_.begin(), end);
        requests_.erase(requests_.begin(), end);
        co_await commit(std::move(batch));
    }
    flushing_ = false;
}

Task<void> Queue::commit(std::vector<std::shared_ptr<Request>> batch) {
    std::optional<Error> failure;
    for (int tried = 1; tried <= queue_attempts_max; ++tried) {
        const auto written = co_await attempt(write(batch));
        failure = written ? std::nullopt : std::optional<Error>(written.error());
        if (!failure || failure->code() != ErrorCode::store_failed || closed_) break;
    }
    if (failure && failure->code() == ErrorCode::quota_exceeded && batch.size() > 1) {
        // A job that is too large for the disk must not keep the other jobs out.
        for (const auto& one : batch) co_await commit({one});
        co_return;
    }
    for (const auto& request : batch) {
        request->failure = failure;
        request->decided.complete({});
    }
}

Task<void> Queue::write(const std::vector<std::shared_ptr<Request>>& batch) {
    Stores scope{Store::jobs, Store::quarantine};
    const bool values = std::any_of(batch.begin(), batch.end(), [](const auto& request) {
        return request->spec.payload.by_value || !request->spec.key.empty();
    });
    if (values) scope = scope | Stores{Store::data};
    Changes changes;
    std::vector<QueueRequest*> requests;
    for (const auto& request : batch) {
        request->refusal.reset();
        requests.push_back(request.get());
    }
    const auto transaction =
        co_await parts_.transactions.begin(scope, Access::write, options_.durability);
    QueueRows rows{*transaction, parts_.context, key_, options_, changes};
    co_await rows.read_head();
    co_await rows.enqueue(std::move(requests));
    rows.put_fresh();
    if (rows.touched) {
        if (rows.head.paused == QueueHead::Paused::by_failure) {
            rows.head.paused = QueueHead::Paused::no;
            changes.add(QueueEvent::Kind::resumed, {});
        }
        co_await rows.write_head();
        co_await transaction->commit();
    }
    for (const auto& request : batch) {
        if (request->refusal) continue;
        request->receipt.count = rows.head.count;
        expect(request->receipt.id);
    }
    publish(changes);
}

// --- Outcomes -----------------------------------------------------------------------------------

void Queue::expect(const std::string& id) {
    expected_->ids.insert(id);
    watch();
}

void Queue::deliver(JobOutcomes outcomes) {
    std::erase_if(outcomes, [&](const auto& received) {
        const auto& [id, outcome] = received;
        if (expected_->ids.erase(id) > 0) {
            expected_->unknown.erase(id);
            return false;
        }
        // The answer that it was accepted may still be on its way: poll() delivers the outcome.
        if (flushing_) expected_->unknown.insert_or_assign(id, outcome);
        return true;
    });
    if (!outcomes.empty()) callbacks_.settled(outcomes);
}

/// Keeps what a commit of unknown outcome would have settled for this tab.
void Queue::keep_unknown(const Changes& changes) {
    for (const auto& [id, outcome] : changes.outcomes) {
        if (expected_->ids.contains(id)) expected_->unknown.insert_or_assign(id, outcome);
    }
}

/// Returns the jobs of unknown outcome that were settled: they are gone, and no other tab has
/// reported them. A job that is still there will be settled anew.
Task<std::vector<std::string>> Queue::resolve_unknown(Transaction& transaction, std::string born) {
    std::set<std::string> there;
    for (const std::string_view part : {"r/", "w/"}) {
        const auto rows = co_await transaction.list(Store::jobs, concat({key_, "/", part}));
        for (const auto& row : rows) {
            for (const auto& job : parse_jobs(row.value)) there.insert(job.id);
        }
    }
    const auto prefix = concat({key_, "/o/", parts_.context.tab, "/"});
    const auto reported = co_await transaction.list(Store::jobs, prefix);
    for (const auto& row : reported) there.insert(row.key.substr(prefix.size()));
    std::vector<std::string> gone;
    std::erase_if(expected_->unknown, [&](const auto& entry) {
        const auto& id = entry.first;
        if (there.contains(id) || !id.starts_with(born + "-")) return true;
        const bool expected = expected_->ids.contains(id);
        if (expected) gone.push_back(id);
        return !expected && !flushing_;
    });
    co_return gone;
}

/// What other tabs have settled for this one. One at a time; asked again meanwhile, once more.
Task<void> Queue::collect() {
    collect_again_ = true;
    if (std::exchange(collecting_, true)) co_return;
    while (std::exchange(collect_again_, false)) {
        auto more = co_await attempt(collect_some());
        // What fails is tried again by poll_periodically().
        if (more && more.value()) collect_again_ = true;
        if (more && !collect_again_) be_idle();
    }
    collecting_ = false;
}

/// Parses the row, and removes the value that belongs to it.
Task<JobOutcome> Queue::take_outcome(Transaction& transaction, Row row) {
    auto parsed = parse_outcome_row(row.value);
    if (!parsed) co_return missing("the outcome of the job cannot be read");
    if (parsed->value.by_value) {
        const auto key = queue_value_key(row.key);
        auto value = co_await transaction.get(Store::data, key);
        if (value && !value->foreign) parsed->value.text = std::move(value->value);
        transaction.remove(Store::data, key);
    }
    co_return JobOutcome{parsed->kind, std::move(parsed->value), {}};
}

Task<bool> Queue::collect_some() {
    constexpr Stores scope{Store::jobs, Store::data};
    const auto transaction =
        co_await parts_.transactions.begin(scope, Access::write, Durability::relaxed);
    const auto prefix = concat({key_, "/o/", parts_.context.tab, "/"});
    // While answers to enqueue() are on their way, an outcome that is not expected yet may be of
    // such a job: it stays, and delays no other.
    const auto rows = co_await transaction->list(Store::jobs, prefix,
                                                 flushing_ ? Transaction::rows_max : collected_max);
    JobOutcomes outcomes;
    std::size_t removed = 0;
    for (const auto& row : rows) {
        if (removed == collected_max) break;
        const auto id = row.key.substr(prefix.size());
        if (expected_->ids.contains(id)) {
            outcomes.emplace_back(id, co_await take_outcome(*transaction, row));
        } else if (flushing_) {
            continue;
        } else {
            transaction->remove(Store::data, queue_value_key(row.key));
        }
        transaction->remove(Store::jobs, row.key);
        ++removed;
    }
    if (removed == 0) co_return false;
    const auto committed = co_await attempt(transaction->commit());
    // They may be gone, and what was read holds in any case.
    if (!committed && committed.error().code() != ErrorCode::unknown_commit) {
        co_await fail(committed.error());
    }
    deliver(std::move(outcomes));
    co_return removed == collected_max;
}

/// Polls the store while anything is waited for, since messages may be lost.
void Queue::watch() {
    if (!std::exchange(polling_, true)) parts_.scope.spawn(poll_periodically());
}

Task<void> Queue::poll_periodically() {
    while (!closed_) {
        const bool asking = !expected_->ids.empty() || !idle_.empty();
        if (!asking && !handling_) break;
        co_await parts_.world.clock().sleep(asking ? ask_again_ms : work_again_ms);
        if (closed_) break;
        // What fails is tried again with the next poll.
        (void)co_await attempt(poll());
    }
    polling_ = false;
}

Task<void> Queue::poll() {
    constexpr Stores scope{Store::jobs};
    std::optional<QueueHead> head;
    bool outcomes = false;
    std::vector<std::string> settled;
    {
        const auto transaction =
            co_await parts_.transactions.begin(scope, Access::read, Durability::relaxed);
        auto head_read = transaction->get(Store::jobs, concat({key_, "/h"}));
        auto outcomes_read =
            transaction->list(Store::jobs, concat({key_, "/o/", parts_.context.tab, "/"}), 1);
        const auto row = co_await std::move(head_read);
        if (row) head = parse_queue_head(row->value);
        outcomes = !(co_await std::move(outcomes_read)).empty();
        if (head && !expected_->unknown.empty()) {
            settled = co_await resolve_unknown(*transaction, head->born);
        }
    }
    JobOutcomes known;
    for (const auto& id : settled) {
        const auto found = expected_->unknown.find(id);
        if (found != expected_->unknown.end()) known.emplace_back(id, found->second);
    }
    deliver(std::move(known));
    if (outcomes) parts_.scope.spawn(collect());
    if (head) {
        note(head->version, head->count);
        paused_ = head->paused != QueueHead::Paused::no;
        if (head->count > 0 && !paused_) wake_workers();
    }
    lose_foreign(head ? head->born : std::string());
}

/// Jobs of a former incarnation of the database are gone with it.
void Queue::lose_foreign(const std::string& born) {
    const auto prefix = born + "-";
    JobOutcomes gone;
    for (const auto& id : expected_->ids) {
        if (!born.empty() && id.starts_with(prefix)) continue;
        gone.emplace_back(id, missing("the job is gone with the database that kept it"));
    }
    deliver(std::move(gone));
    if (born.empty()) note(version_ + 1, 0);
}

// --- News ---------------------------------------------------------------------------------------

/// What is known of the queue's length, by the version of its head.
void Queue::note(std::int64_t version, std::int64_t count) {
    if (version < version_) return;
    version_ = version;
    count_ = count;
    if (count > 0 || idle_.empty()) return;
    if (expected_->ids.empty()) return be_idle();
    parts_.scope.spawn(collect());
}

/// A caller that waits for this has received the outcomes of its jobs, and its tab runs none that
/// was cancelled.
void Queue::be_idle() {
    if (count_ > 0 || !runs_.empty()) return;
    for (const auto& waiting : std::exchange(idle_, {})) waiting.complete({});
}

void Queue::receive(const QueueEvent& event) {
    note(event.version, event.count);
    using Kind = QueueEvent::Kind;
    const bool own = event.tab == parts_.context.tab;
    switch (event.kind) {
        case Kind::paused:
            paused_ = true;
            wake_workers();  // what is claimed ahead does not begin
            break;
        case Kind::resumed:
            paused_ = false;
            wake_workers();
            break;
        case Kind::returned:
            // A worker that was lost may have settled the job before, and never reported it.
            if (!own && !expected_->ids.empty()) parts_.scope.spawn(collect());
            [[fallthrough]];
        case Kind::queued:
        case Kind::changed:
            wake_workers();
            break;
        case Kind::failed:
            wake_workers();
            [[fallthrough]];
        case Kind::done:
            if (!own && !expected_->ids.empty()) parts_.scope.spawn(collect());
            break;
        case Kind::cancelled:
            if (!own && !expected_->ids.empty()) parts_.scope.spawn(collect());
            for (const auto& run : std::vector(runs_)) {
                bool meant = event.fields.empty();
                for (std::size_t i = 0; i < event.fields.size(); i += fields_of_cancelled) {
                    meant = meant || event.fields[i] == run->id;
                }
                if (meant && !run->ended) callbacks_.lost(run->number, "cancelled");
            }
            wake_workers();
            break;
        case Kind::running:
        case Kind::progress:
            break;
    }
    callbacks_.event(event);
}

/// All tabs, this one among them.
void Queue::publish(Changes& changes) {
    auto outcomes = std::exchange(changes.outcomes, {});
    const auto events = std::exchange(changes.events, {});
    for (const auto& event : events) {
        if (parts_.channel) parts_.channel->post(format_queue_event(key_, event));
    }
    deliver(std::move(outcomes));
    for (const auto& event : events) receive(event);
}

void Queue::on_resume() {
    wake_workers();
    if (!expected_->ids.empty()) parts_.scope.spawn(collect());
}

void Queue::close() {
    if (std::exchange(closed_, true)) return;
    for (const auto& request : std::exchange(requests_, {})) {
        request->failure = queue_closed();
        request->decided.complete({});
    }
    stop();
}

}  // namespace tabacus
