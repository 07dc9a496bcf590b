#include "shrink.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tabacus::lab {
namespace {

std::size_t departures(const Schedule& schedule) {
    return schedule.size() -
           static_cast<std::size_t>(std::count(schedule.begin(), schedule.end(), 0U));
}

/// The process of each step. A process that cannot take a step is skipped. After the end the
/// default is taken.
using Order = std::vector<std::uint64_t>;

/// Returns the group of a process: all processes of one tab, or one thread.
std::uint64_t group_of(std::uint64_t process) {
    const auto tab = process >> 44U & 0xfffU;
    return tab != 0 ? tab << 44U : process;
}

class Shrinker {
  public:
    Shrinker(const Program& program, Outcome best, std::uint64_t runs_max)
        : program_(program), best_(std::move(best)), runs_left_(runs_max) {}

    Outcome shrink() {
        while (runs_left_ > 0) {
            const auto before = rank(best_);
            restore_defaults();
            gather();
            drop();
            lower();
            if (rank(best_) == before) break;
        }
        return best_;
    }

  private:
    using Rank = std::tuple<std::size_t, std::uint64_t, Schedule>;
    static Rank rank(const Outcome& outcome) {
        return {departures(outcome.schedule), outcome.steps, outcome.schedule};
    }

    bool accept(const Schedule& candidate) {
        if (runs_left_ == 0) return false;
        return take_over(replay(program_, candidate));
    }
    bool accept(const Order& candidate) {
        if (runs_left_ == 0) return false;
        std::size_t at = 0;
        const auto choose = [&](const std::vector<Choice>& choices, std::uint64_t) -> std::size_t {
            for (; at < candidate.size(); ++at) {
                for (std::size_t i = 0; i < choices.size(); ++i) {
                    if (choices[i].process != candidate[at]) continue;
                    ++at;
                    return i;
                }
            }
            return choices[0].fault ? choices.size() : 0;
        };
        return take_over(run_by(program_, steps_max_default, choose));
    }
    bool take_over(Outcome outcome) {
        --runs_left_;
        if (outcome.failure.empty() || rank(outcome) >= rank(best_)) return false;
        best_ = std::move(outcome);
        return true;
    }

    /// Replaces chunks of the schedule by the default choice, in ever smaller chunks.
    void restore_defaults() {
        for (auto chunk = best_.schedule.size(); chunk > 0; chunk /= 2) {
            for (std::size_t at = 0; at < best_.schedule.size(); at += chunk) {
                auto candidate = best_.schedule;
                const auto end = std::min(at + chunk, candidate.size());
                if (std::all_of(candidate.begin() + static_cast<std::ptrdiff_t>(at),
                                candidate.begin() + static_cast<std::ptrdiff_t>(end),
                                [](auto entry) { return entry == 0; })) {
                    continue;
                }
                std::fill(candidate.begin() + static_cast<std::ptrdiff_t>(at),
                          candidate.begin() + static_cast<std::ptrdiff_t>(end), 0U);
                accept(candidate);
            }
        }
    }

    [[nodiscard]] Order order_of_best() const {
        Order order;
        for (const auto& step : trace_of(program_, best_.schedule).steps)
            order.push_back(step.process);
        return order;
    }

    /// Moves the steps of a tab or thread directly behind its earlier steps, or directly before its
    /// later ones.
    void gather() {
        auto order = order_of_best();
        for (std::size_t begin = 0; begin < order.size();) {
            const auto group = group_of(order[begin]);
            auto end = begin + 1;
            while (end < order.size() && group_of(order[end]) == group) ++end;
            const bool moved = move_back(order, begin, end) || move_on(order, begin, end);
            if (moved) order = order_of_best();
            begin = moved ? 0 : end;
        }
    }
    bool move_back(Order order, std::size_t begin, std::size_t end) {
        for (auto to = begin; to > 0; --to) {
            if (group_of(order[to - 1]) != group_of(order[begin])) continue;
            const auto at = order.begin();
            std::rotate(at + static_cast<std::ptrdiff_t>(to),
                        at + static_cast<std::ptrdiff_t>(begin),
                        at + static_cast<std::ptrdiff_t>(end));
            return accept(order);
        }
        return false;
    }
    bool move_on(Order order, std::size_t begin, std::size_t end) {
        for (auto to = end; to < order.size(); ++to) {
            if (group_of(order[to]) != group_of(order[begin])) continue;
            const auto at = order.begin();
            std::rotate(at + static_cast<std::ptrdiff_t>(begin),
                        at + static_cast<std::ptrdiff_t>(end),
                        at + static_cast<std::ptrdiff_t>(to));
            return accept(order);
        }
        return false;
    }

    /// Removes chunks of the order, so that the default is taken, in ever smaller chunks.
    void drop() {
        auto order = order_of_best();
        for (auto chunk = std::max<std::size_t>(order.size() / 2, 1); chunk > 0; chunk /= 2) {
            for (std::size_t at = 0; at < order.size();) {
                auto candidate = order;
                const auto end = std::min(at + chunk, candidate.size());
                candidate.erase(candidate.begin() + static_cast<std::ptrdiff_t>(at),
                                candidate.begin() + static_cast<std::ptrdiff_t>(end));
                if (accept(candidate)) {
                    order = order_of_best();
                } else {
                    at += chunk;
                }
            }
        }
    }

    /// Replaces a choice by one with a lower index, which is nearer to the default.
    void lower() {
        for (std::size_t at = 0; at < best_.schedule.size(); ++at) {
            for (std::uint32_t entry = 1; entry < best_.schedule[at]; ++entry) {
                auto candidate = best_.schedule;
                candidate[at] = entry;
                if (accept(candidate)) break;
            }
        }
    }

    const Program& program_;
    Outcome best_;
    std::uint64_t runs_left_;
};

}  // namespace

Outcome shrink(const Program& program, const Outcome& failing, std::uint64_t runs_max) {
    return Shrinker(program, failing, runs_max).shrink();
}

}  // namespace tabacus::lab
