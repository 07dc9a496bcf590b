#include "litmus_model.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "lab/lab_tab.hpp"
#include "lab/origin.hpp"
#include "litmus_schedules.hpp"

namespace tabacus::test {
namespace {

using lab::LabTab;
using lab::Origin;
using lab::Source;

std::string text_of(const std::optional<std::string>& value) { return value.value_or("-"); }

std::string joined(const Words& words, const std::string& separator) {
    std::string text;
    for (const auto& word : words) {
        if (!text.empty()) text += separator;
        text += word;
    }
    return text.empty() ? "-" : text;
}

std::string assignment(const std::string& name, const std::string& value) {
    auto text = name;
    text += '=';
    text += value;
    return text;
}

/// Runs the operations of one tab of a litmus program.
class LitmusTab {
  public:
    LitmusTab(LabTab& world, const LitmusProgram& program, const std::vector<Words>& operations)
        : world_(world), channel_(world.channel("litmus")), operations_(operations) {
        channel_->on_message([this](std::string_view message) { arrive(std::string(message)); });
        if (observes_events(program, operations)) {
            changes_ = world.storage().on_change("", [this](const StorageChange& change) {
                const auto key = change.key.value_or("*");
                events[key].push_back(change.new_value.value_or("gone"));
                arrive(key + "=" + text_of(change.new_value));
            });
        }
    }

    void start() { scope_.spawn(perform()); }

    static bool observes_events(const LitmusProgram& program,
                                const std::vector<Words>& operations) {
        return !program.events.empty() || waits_for_change(operations);
    }
    static bool waits_for_change(const std::vector<Words>& operations) {
        return std::any_of(operations.begin(), operations.end(),
                           [](const Words& words) { return words.front() == "receive"; });
    }

    std::map<std::string, std::string> registers;
    std::map<std::string, Words> events;
    bool done = false;

  private:
    void arrive(const std::string& what) {
        arrived_.insert(what);
        if (waiting_ && waiting_->first == what) std::exchange(waiting_, {})->second.complete({});
    }
    Async<Unit> arrival(const std::string& what) {
        if (arrived_.contains(what)) return Unit{};
        waiting_.emplace(what, Completer<Unit>());
        return waiting_->second.async();
    }
    Async<Unit> turn() {
        const Completer<Unit> completer;
        world_.post([completer] { completer.complete({}); });
        return completer.async();
    }

    Task<void> perform() {
        for (const auto& words : operations_) co_await perform(words);
        done = true;
    }

    Task<void> perform(const Words& words) {
        const auto& verb = words.front();
        if (verb == "set") {
            co_await world_.storage().set(words.at(1), words.at(2));
        } else if (verb == "remove") {
            co_await world_.storage().remove(words.at(1));
        } else if (verb == "clear") {
            world_.origin().clear_storage(world_);
        } else if (verb == "get") {
            registers[words.at(2)] = text_of(co_await world_.storage().get(words.at(1)));
        } else if (verb == "keys" || verb == "order") {
            registers[words.at(1)] = joined(co_await world_.storage().keys(""), "+");
        } else if (verb == "same") {
            const bool same = registers.at(words.at(2)) == registers.at(words.at(3));
            registers[words.at(1)] = same ? "1" : "0";
        } else {
            co_await wait_or_wake(verb, words);
        }
    }

    Task<void> wait_or_wake(const std::string& verb, const Words& words) {
        if (verb == "lock") {
            locks_[words.at(1)] = co_await world_.locks().request({.name = words.at(1)});
        } else if (verb == "unlock") {
            locks_.erase(words.at(1));
        } else if (verb == "post") {
            channel_->post(words.at(1));
        } else if (verb == "await") {
            co_await arrival(words.at(1));
        } else if (verb == "receive") {
            co_await arrival(words.at(1) + "=" + words.at(2));
        } else if (verb == "turn") {
            co_await turn();
        } else {
            throw std::invalid_argument("unknown operation in a litmus program: " + verb);
        }
    }

    LabTab& world_;
    std::unique_ptr<Channel> channel_;
    const std::vector<Words>& operations_;
    std::set<std::string> arrived_;
    std::optional<std::pair<std::string, Completer<Unit>>> waiting_;
    std::map<std::string, std::unique_ptr<HeldLock>> locks_;
    Subscription changes_;
    Scope scope_;
};

/// Decides under the model `cached` which steps depend on each other, so that their order matters.
class Dependence {
  public:
    Dependence(const LitmusProgram& program, const std::vector<LitmusTab*>& tabs) : tabs_(tabs) {
        for (const auto& operations : program.tabs) {
            waits_for_change_.push_back(LitmusTab::waits_for_change(operations));
        }
    }

    [[nodiscard]] bool depend(const Source& a, const Source& b) const {
        if (a.kind == b.kind && shared(a.kind)) return true;
        if (shared(a.kind) || shared(b.kind)) return false;
        // The steps of a tab depend on the writes under way to its process.
        return a.tab == b.tab && !indifferent(a) && !indifferent(b);
    }

    /// Whether a step depends on no other: it only records an event, or its tab has ended and reads
    /// nothing any more.
    [[nodiscard]] bool alone(const Source& source) const {
        if (shared(source.kind)) return false;
        return indifferent(source) || (source.tab > 0 && tabs_.at(source.tab - 1)->done);
    }

  private:
    using Kind = Source::Kind;
    /// Whether a step takes from a queue that all tabs share: the order of all writes, or the lock
    /// manager's requests. A step that appends to such a queue does not depend on it.
    static bool shared(Kind kind) { return kind == Kind::outgoing || kind == Kind::request; }
    /// Whether the step only records a storage event. Such steps of one tab are in order anyway.
    [[nodiscard]] bool indifferent(const Source& source) const {
        return source.kind == Kind::change && !waits_for_change_.at(source.tab - 1);
    }
    std::vector<bool> waits_for_change_;
    const std::vector<LitmusTab*>& tabs_;  // the tabs of the present schedule
};

std::string outcome_of(const LitmusProgram& program, Origin& origin,
                       const std::vector<LitmusTab*>& tabs) {
    Words parts;
    for (const auto& tab : tabs) {
        for (const auto& [name, value] : tab->registers) {
            if (!name.starts_with('_')) parts.push_back(assignment(name, value));
        }
    }
    std::sort(parts.begin(), parts.end());
    for (const auto& key : program.finally) {
        Words values;
        for (std::size_t i = 0; i < tabs.size(); ++i) {
            values.push_back(
                text_of(origin.storage().get(static_cast<lab::ProcessId>(i + 1), key)));
        }
        parts.push_back(key + "=" + joined(values, "|"));
    }
    for (const auto& key : program.events) {
        Words values;
        for (auto* tab : tabs) values.push_back(joined(tab->events[key], ","));
        parts.push_back(key + ":" + joined(values, "|"));
    }
    return joined(parts, " ");
}

std::string run_once(const LitmusProgram& program, lab::EqualWrites equal_writes,
                     std::vector<LitmusTab*>& tabs, std::unique_ptr<lab::Chooser> chooser) {
    Origin origin({1, lab::StorageModel::cached, equal_writes}, std::move(chooser));
    for (const auto& [key, value] : program.init) origin.storage().overwrite(key, value);
    tabs.clear();
    for (const auto& operations : program.tabs) {
        auto& world = origin.open_tab();
        tabs.push_back(&world.run<LitmusTab>(world, program, operations));
        world.post([tab = tabs.back()] { tab->start(); });
    }
    origin.run();
    if (!std::all_of(tabs.begin(), tabs.end(), [](const auto* tab) { return tab->done; })) {
        throw std::logic_error(program.name + " hangs:\n" + origin.recent_steps(40));
    }
    return outcome_of(program, origin, tabs);
}

}  // namespace

LitmusResult explore_litmus(const LitmusProgram& program, lab::EqualWrites equal_writes,
                            bool reduce) {
    LitmusResult result;
    std::vector<LitmusTab*> tabs;
    const Dependence dependence(program, tabs);
    Schedules schedules(
        [&](const Source& a, const Source& b) { return !reduce || dependence.depend(a, b); },
        [&](const Source& source) { return reduce && dependence.alone(source); });
    schedules.run([&](std::unique_ptr<lab::Chooser> chooser) {
        result.outcomes.insert(run_once(program, equal_writes, tabs, std::move(chooser)));
    });
    result.schedules = schedules.completed();
    result.redundant = schedules.redundant();
    return result;
}

}  // namespace tabacus::test
