#include "searched_run.hpp"

#include <algorithm>

namespace tabacus::lab {

void SearchedRun::begin(Search& search) {
    search_ = &search;
    search.restart_run();
    recorder_->record_into(&footprint_);
}

void SearchedRun::end() {
    if (search_ == nullptr) return;
    if (!given_up_) {
        end_step();
        search_->end_run();
    }
    recorder_->record_into(nullptr);
    search_ = nullptr;
}

std::optional<std::size_t> SearchedRun::choose(const std::vector<Choice>& choices) {
    end_step();
    const auto chosen = search_->choose(choices);
    given_up_ = !chosen;
    return chosen;
}

void SearchedRun::begin_step(std::uint32_t number, std::uint32_t cause) {
    cause_ = step_of(cause);
    footprint_.clear();
    recorder_->note(everything, AccessKind::read);
    begun_.push_back(number);
    if (beside_) note_everything();
}

void SearchedRun::begin_fault(std::uint32_t number) {
    begin_step(number, 0);
    note_everything();
}

void SearchedRun::note_clock() {
    recorder_->note(waiting_allowed, AccessKind::read);
    note_everything();
}

void SearchedRun::set_beside(bool beside) {
    beside_ = beside;
    note_everything();
}

/// Returns the number, from 1, of the search's step that was under way when the origin had counted
/// `cause` steps; 0 if none was.
std::uint32_t SearchedRun::step_of(std::uint32_t cause) const {
    const auto after = std::upper_bound(begun_.begin(), begun_.end(), cause);
    return static_cast<std::uint32_t>(after - begun_.begin());
}

/// Reports the last step to the search. Each object is reported once: its reads and bumps together
/// are a write.
void SearchedRun::end_step() {
    if (!cause_) return;
    std::sort(footprint_.begin(), footprint_.end(),
              [](const auto& a, const auto& b) { return a.object < b.object; });
    Footprint merged;
    for (const auto& one : footprint_) {
        if (merged.empty() || merged.back().object != one.object) {
            merged.push_back(one);
        } else if (merged.back().access != one.access) {
            merged.back().access = AccessKind::write;
        }
    }
    search_->note_taken(*cause_, merged);
    cause_.reset();
}

}  // namespace tabacus::lab
