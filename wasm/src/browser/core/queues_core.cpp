#include "browser/core/queues_core.hpp"

namespace tabacus::browser {
namespace {

/// The callbacks of a queue into JavaScript: in one text where it can be, since each costs a call.
/// js/queue/queues.js has the same list in the same order.
enum class Callback : int { run, lost, settled, event };

void notify_owner(int queue, Callback what, std::string_view first, std::string_view second) {
    call(Call::queue_callback,
         {.object = queue, .number = static_cast<double>(what), .first = first, .second = second});
}

void add(std::string& texts, std::string_view text) { add_text(texts, text); }

void add(std::string& texts, double number) {
    add(texts, std::to_string(static_cast<std::int64_t>(number)));
}

void add(std::string& texts, const QueueValue& value) {
    add(texts, value.by_value ? "v" : "");
    add(texts, value.text);
}

void add(std::string& texts, const JobInfo& job) {
    add(texts, job.id);
    add(texts, job.key);
    add(texts, job.kind);
    add(texts, job.priority);
    add(texts, job.optional ? "1" : "");
    add(texts, job.at_most_once ? "1" : "");
    add(texts, static_cast<double>(job.state));
    add(texts, job.attempts);
    add(texts, job.lost_workers);
    add(texts, job.enqueued_ms);
    add(texts, job.due_ms);
    add(texts, job.error);
    add(texts, job.tab);
    add(texts, job.payload);
}

}  // namespace

int QueuesCore::open(const std::string& name, const QueueOptions& options) {
    const int number = static_cast<int>(opened_.size());
    QueueCallbacks callbacks;
    callbacks.run = [number](int run, const JobInfo& job) {
        std::string texts;
        add(texts, run);
        add(texts, job.id);
        add(texts, job.key);
        add(texts, job.kind);
        add(texts, job.attempts);
        add(texts, job.lost_workers);
        add(texts, job.payload);
        notify_owner(number, Callback::run, texts, "");
    };
    callbacks.lost = [number](int run, std::string_view reason) {
        notify_owner(number, Callback::lost, std::to_string(run), reason);
    };
    callbacks.settled = [number](const JobOutcomes& outcomes) {
        std::string texts;
        for (const auto& [id, outcome] : outcomes) {
            const auto kind = static_cast<char>(outcome.kind);
            add(texts, id);
            add(texts, std::string_view(&kind, 1));
            add(texts, outcome.value);
        }
        notify_owner(number, Callback::settled, texts, "");
    };
    callbacks.event = [number](const QueueEvent& event) {
        std::string texts(1, static_cast<char>(event.kind));
        texts += '\0';
        add(texts, event.tab);
        add(texts, static_cast<double>(event.count));
        for (const auto& field : event.fields) add(texts, field);
        notify_owner(number, Callback::event, texts, "");
    };
    opened_.push_back(&queues_.queue(name, options, std::move(callbacks)));
    return number;
}

void QueuesCore::enqueue(int queue, JobSpec spec, PromiseId promise) {
    run_in(
        scope_, at(queue).enqueue(std::move(spec)),
        [promise](const JobReceipt& receipt) {
            std::string texts;
            add(texts, receipt.id);
            add(texts, receipt.joined ? "1" : "");
            add(texts, static_cast<double>(receipt.count));
            Resolve{promise}(texts);
        },
        Reject{promise});
}

void QueuesCore::handle(int queue, const Texts& kinds) {
    if (kinds.empty()) return at(queue).handle_all();
    std::vector<std::string> all;
    for (const auto& kind : kinds) all.push_back(kind.value_or(""));
    at(queue).handle(std::move(all));
}

void QueuesCore::finish(int queue, int run, bool succeeded, QueueValue value) {
    JobOutcome outcome;
    outcome.kind = succeeded ? JobOutcome::Kind::done : JobOutcome::Kind::failed;
    outcome.value = std::move(value);
    outcome.next = std::exchange(next_, {});
    at(queue).finish(run, std::move(outcome));
}

void QueuesCore::count(int queue, PromiseId promise) {
    run_in(
        scope_, at(queue).read_count(),
        [promise, &of = at(queue)](std::int64_t count) {
            std::string texts;
            add(texts, static_cast<double>(count));
            add(texts, of.paused() ? "1" : "");
            Resolve{promise}(texts);
        },
        Reject{promise});
}

void QueuesCore::cancel(int queue, const std::string& key, PromiseId promise) {
    run_in(
        scope_, at(queue).cancel(key),
        [promise](bool found) { Resolve{promise}(std::int64_t{found ? 1 : 0}); }, Reject{promise});
}

void QueuesCore::end_dead_letter(int queue, const std::string& id, bool again, PromiseId promise) {
    run_in(
        scope_, again ? at(queue).retry(id) : at(queue).discard(id),
        [promise](bool found) { Resolve{promise}(std::int64_t{found ? 1 : 0}); }, Reject{promise});
}

void QueuesCore::list(int queue, View view, PromiseId promise) {
    auto listing = view == View::jobs      ? at(queue).jobs()
                   : view == View::running ? at(queue).running()
                                           : at(queue).dead_letters();
    run_in(
        scope_, std::move(listing),
        [promise](const std::vector<JobInfo>& jobs) {
            std::string texts;
            for (const auto& job : jobs) add(texts, job);
            Resolve{promise}(texts);
        },
        Reject{promise});
}

}  // namespace tabacus::browser
