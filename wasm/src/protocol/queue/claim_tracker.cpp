#include "claim_tracker.hpp"

#include <algorithm>
#include <utility>

#include "protocol/common/concat.hpp"
#include "protocol/common/record.hpp"

namespace tabacus {
namespace {

/// Returns how many fields an event has for each job; 0 if the event concerns the whole queue.
std::size_t fields_per_job(QueueEvent::Kind kind) {
    switch (kind) {
        case QueueEvent::Kind::failed:
            return 5;
        case QueueEvent::Kind::running:
            return 4;
        case QueueEvent::Kind::queued:
        case QueueEvent::Kind::progress:
        case QueueEvent::Kind::done:
        case QueueEvent::Kind::returned:
        case QueueEvent::Kind::cancelled:
            return 3;
        case QueueEvent::Kind::paused:
        case QueueEvent::Kind::resumed:
        case QueueEvent::Kind::changed:
            break;
    }
    return 0;
}

std::int64_t number_of(std::string_view field) {
    return parse_decimal(field, 0, INT32_MAX).value_or(0);
}

/// Returns the claim of a job whose slot is unknown. The claim of a slot is the slot's number.
std::string claim_of_job(std::string_view id) { return concat({"/", id}); }

}  // namespace

std::vector<QueueReport> ClaimTracker::receive(const QueueEvent& event) {
    using Kind = QueueEvent::Kind;
    const auto step = fields_per_job(event.kind);
    // An empty queue has no claims: the events that would have ended them were lost.
    if (size_ == 0 && event.kind == Kind::queued) claimed_.clear();
    size_ = event.count;
    if (event.kind == Kind::paused) paused_ = true;
    if (event.kind == Kind::resumed) paused_ = false;
    if (step == 0 || event.fields.empty()) {
        if (event.kind == Kind::cancelled) claimed_.clear();
        report(event.kind, event.tab);
    } else if (event.kind == Kind::running) {
        claim(event);
    } else {
        for (std::size_t at = 0; at + step <= event.fields.size(); at += step) {
            receive_job(event, at);
        }
    }
    auto reports = std::exchange(reports_, {});
    if (!reporting_) reports.clear();
    return reports;
}

/// Handles the part of an event that concerns the job whose fields begin at `at`.
void ClaimTracker::receive_job(const QueueEvent& event, std::size_t at) {
    using Kind = QueueEvent::Kind;
    const auto* const fields = &event.fields[at];
    const auto& id = fields[0];
    const auto found = claimed_.find(id);
    const bool ahead = found != claimed_.end() && !found->second.announced;
    const bool done = event.kind == Kind::done;
    const bool failed = event.kind == Kind::failed;
    const bool progress = event.kind == Kind::progress;
    if (done || failed || progress) announce(id);
    if (progress) {
        ObservedJob unknown;
        auto& job = found == claimed_.end() ? unknown : found->second.job;
        job.fraction = static_cast<double>(number_of(fields[1])) / 1e6;
        job.note = fields[2];
        report(event.kind, event.tab).job = job;
    } else {
        if (event.kind != Kind::queued) leave(id);
        if (event.kind == Kind::returned && ahead) return;
        done_ += done ? 1 : 0;
        failed_ += failed ? 1 : 0;
        auto& next = report(event.kind, event.tab);
        next.job.key = fields[1];
        next.job.kind = fields[2];
        if (failed) next.error = fields[3];
        next.final = failed && fields[4] != "again";
    }
    auto& job = reports_.back().job;
    job.id = id;
    job.tab = event.tab;
}

/// Handles the event that a slot has claimed jobs. The last field names the slot. The first job
/// runs.
void ClaimTracker::claim(const QueueEvent& event) {
    const auto& fields = event.fields;
    const auto& slot = fields.back();
    const auto& first = fields.front();
    // What the slot had claimed before has left, whether this tab has received the events or not.
    std::erase_if(claimed_, [&](const auto& entry) {
        return entry.second.claim == slot && entry.first != first;
    });
    current_.erase(slot);
    const auto step = fields_per_job(event.kind);
    for (std::size_t at = 0; at + step <= fields.size(); at += step) {
        const auto attempt = static_cast<int>(number_of(fields[at + 3]));
        keep({fields[at], fields[at + 1], fields[at + 2], event.tab, attempt, -1, {}}, slot);
    }
    announce(first);
}

void ClaimTracker::keep(ObservedJob job, const std::string& claim) {
    const auto id = job.id;
    auto& entry = claimed_[id];
    const bool same = entry.announced && entry.claim == claim && entry.job.tab == job.tab &&
                      entry.job.attempt == job.attempt;
    if (same) {
        current_[claim] = id;
        return;
    }
    if (entry.order == 0) entry.order = ++last_order_;
    current_.erase(claim_of_job(id));
    entry.job = std::move(job);
    entry.claim = claim;
    entry.announced = false;
}

/// Reports that a job which was claimed ahead runs, once this tab learns it.
void ClaimTracker::announce(const std::string& id) {
    const auto found = claimed_.find(id);
    if (found == claimed_.end() || found->second.announced) return;
    auto& entry = found->second;
    entry.announced = true;
    current_[entry.claim] = id;
    report(QueueEvent::Kind::running, entry.job.tab).job = entry.job;
}

/// Forgets a job that is no longer claimed. The outcome of its run was settled, or is ignored.
void ClaimTracker::leave(const std::string& id) {
    claimed_.erase(id);
    current_.erase(claim_of_job(id));
    std::erase_if(values_, [&](const auto& value) {
        if (value.second != id) return false;
        unneeded_values_.push_back(value.first);
        return true;
    });
}

/// Adds a report of what has changed the state.
QueueReport& ClaimTracker::report(QueueEvent::Kind type, const std::string& tab) {
    if (!reporting_) reports_.clear();
    auto& added = reports_.emplace_back();
    added.type = type;
    added.job.tab = tab;
    if (reporting_) added.state = state();
    return added;
}

void ClaimTracker::settle(const JobOutcomes& outcomes) {
    for (const auto& [id, outcome] : outcomes) {
        const auto found = claimed_.find(id);
        if (found == claimed_.end()) continue;
        const auto current = current_.find(found->second.claim);
        if (current != current_.end() && current->second == id) current_.erase(current);
    }
}

void ClaimTracker::learn(std::int64_t size, bool paused) {
    size_ = size;
    paused_ = paused;
}

void ClaimTracker::refresh(const std::vector<JobInfo>& running, std::int64_t mark) {
    std::erase_if(claimed_, [&](const auto& entry) {
        return entry.second.order <= mark &&
               std::none_of(running.begin(), running.end(),
                            [&](const JobInfo& job) { return job.id == entry.first; });
    });
    for (const auto& info : running) {
        auto& entry = claimed_[info.id];
        if (entry.order == 0) {
            entry.job = {info.id, info.key, info.kind, info.tab, info.attempts + 1, -1, {}};
            entry.claim = one_slot_ ? "0" : claim_of_job(info.id);
            entry.order = ++last_order_;
        }
        entry.announced = true;
        current_[entry.claim] = info.id;
    }
}

QueueState ClaimTracker::state() const {
    std::vector<const Claimed*> running;
    for (const auto& [claim, id] : current_) {
        const auto found = claimed_.find(id);
        if (found == claimed_.end() || found->second.claim != claim) continue;
        running.push_back(&found->second);
        for (auto at = running.size() - 1; at > 0; --at) {
            if (running[at - 1]->order > running[at]->order)
                std::swap(running[at - 1], running[at]);
        }
    }
    QueueState state;
    state.size = size_;
    state.done = done_;
    state.failed = failed_;
    state.paused = paused_;
    for (const auto* entry : running) state.running.push_back(entry->job);
    return state;
}

void ClaimTracker::keep_value(const std::string& id, const QueueValue& value) {
    if (value.by_value) values_[value.text] = id;
}

std::vector<std::string> ClaimTracker::take_unneeded_values() {
    return std::exchange(unneeded_values_, {});
}

}  // namespace tabacus
