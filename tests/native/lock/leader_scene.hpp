// Pages that lead and call their leader, and the judge of all terms and calls.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lock_scene.hpp"
#include "protocol/lock/lock_queue.hpp"
#include "tabacus/lock/leader.hpp"

namespace tabacus::test {

inline constexpr double short_term_ms = 1'500;
inline constexpr double long_term_ms = 60'000;
inline constexpr double call_timeout_ms = 6'000;

/// Checks what must hold of all terms and calls, whichever tabs live.
struct Parliament {
    struct Member {
        std::int64_t term;
        const Held* held;
    };
    struct Call {
        bool ended = false;
        std::optional<ErrorCode> error;
        std::string answer;
    };
    void begin_term(const Held& held) {
        const auto term = held.token().value_or(0);
        if (!lenient && term <= newest_term) report_failure("a term is not larger than all before");
        for (const auto& other : leading) {
            if (!lenient && other.held->held()) report_failure("two tabs lead at once");
        }
        newest_term = std::max(newest_term, term);
        leading.push_back({term, &held});
    }
    void end_term(const Held& held) {
        std::erase_if(leading, [&](const Member& member) { return member.held == &held; });
    }
    void report_failure(const std::string& what) {
        if (failure.empty()) failure = what;
    }

    bool lenient = false;  // a previous leader may learn of a steal after the stealer's term began
    std::int64_t newest_term = 0;
    std::vector<Member> leading;
    std::map<std::string, std::shared_ptr<Call>> calls;  // by request
    std::map<std::string, int> runs;
    std::vector<std::string> answered;  // requests in the order of their answers
    std::string failure;
};

class ParliamentPage {
  public:
    ParliamentPage(LabTab& world, Parliament& judge)
        : world_(world),
          judge_(judge),
          table_(world, "test", [](const Notice&) {}),
          leader_(world, table_, [](const Notice&) {}) {}

    using CallPtr = std::shared_ptr<Parliament::Call>;
    /// Leads for one term of `term_ms` and answers calls. The term lasts at least until the call
    /// `until` has ended, if one is given.
    void stand(double term_ms, LockOptions options = {}, CallPtr until = nullptr) {
        scope_.spawn(lead(term_ms, std::move(options), std::move(until)));
    }
    CallPtr call(const std::string& request,
                 LeaderCallOptions options = {.timeout_ms = call_timeout_ms}) {
        auto& call = judge_.calls[request];
        call = std::make_shared<Parliament::Call>();
        scope_.spawn(call_once(request, call, std::move(options)));
        return call;
    }

  private:
    struct InTerm {
        InTerm(LabTab& world, Parliament& of, const Held& which)
            : recorder(world.origin().recorder()), judge(of), held(&which) {
            recorder.note(lab::Object::scenario, 0, lab::AccessKind::write);
            judge.begin_term(which);
        }
        InTerm(const InTerm&) = delete;
        InTerm& operator=(const InTerm&) = delete;
        InTerm(InTerm&&) = delete;
        InTerm& operator=(InTerm&&) = delete;
        ~InTerm() {
            recorder.note(lab::Object::scenario, 0, lab::AccessKind::write);
            judge.end_term(*held);
        }
        lab::FootprintRecorder& recorder;
        Parliament& judge;
        const Held* held;
    };

    Task<void> call_once(std::string request, std::shared_ptr<Parliament::Call> call,
                         LeaderCallOptions options) {
        auto answer = co_await attempt(leader_.call("l", request, std::move(options)));
        if (call->ended) judge_.report_failure("a call ended twice");
        call->ended = true;
        if (answer) {
            call->answer = answer.value().text;
        } else {
            call->error = answer.error().code();
        }
    }

    Task<void> lead(double term_ms, LockOptions options, CallPtr until) {
        auto taken = co_await attempt(table_.acquire(leader_lock("l"), std::move(options)));
        if (!taken) co_return;
        const auto held = std::make_shared<Held>(std::move(taken.value()));
        const InTerm in_term(world_, judge_, *held);
        scope_.spawn(hand_over(held, term_ms, until));
        (void)co_await attempt(serve(held->grant()));
    }
    Task<void> hand_over(std::weak_ptr<Held> term, double term_ms, CallPtr until) {
        do {
            co_await world_.clock().sleep(term_ms);
        } while (until && !until->ended);
        if (const auto held = term.lock()) held->release();
    }
    Task<void> serve(std::shared_ptr<Grant> term) {
        co_await leader_.begin_term("l", term);
        while (true) {
            auto call = co_await leader_.next("l", term);
            if (!call) co_return;
            co_await run(*call, term);
        }
    }
    /// Runs a call. Its effect in the database is committed in the transaction of its answer.
    Task<void> run(LeaderCall call, std::shared_ptr<Grant> term) {
        ++judge_.runs[call.request];
        co_await world_.clock().end_of_turn();
        auto answering = co_await leader_.answering("l", call.id, term);
        if (!answering) co_return;
        auto transaction = std::move(*answering);
        const auto before = co_await transaction.get("effects", call.request);
        transaction.put("effects", call.request, before ? *before + "+" : "1");
        const auto newest = co_await transaction.get("terms", "newest");
        const bool late = newest && std::stoll(*newest) > term->token;
        transaction.put("terms", "newest", std::to_string(*term->token));
        co_await leader_.answer("l", call.id, std::move(transaction),
                                {true, "did " + call.request});
        judge_.answered.push_back(call.request);
        if (late) judge_.report_failure("a deposed leader committed");
    }

    LabTab& world_;
    Parliament& judge_;
    LockTable table_;
    Leader leader_;
    Scope scope_;  // declared last: its coroutines use all members above
};

inline std::map<std::string, std::string> effects_of(Origin& origin) {
    constexpr std::string_view prefix = "effects/";
    std::map<std::string, std::string> found;
    for (const auto& [key, value] : origin.database().rows(Store::data)) {
        if (key.starts_with(prefix)) found[key.substr(prefix.size())] = value.text;
    }
    return found;
}

/// Returns how many rows are stored for calls: open calls, answers and keys.
inline std::size_t calls_kept(Origin& origin) {
    const auto& rows = origin.database().rows(Store::locks);
    return static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [](const auto& row) {
        const auto has = [&](const char* part) {
            return row.first.find(part) != std::string::npos;
        };
        return has("/call/") || has("/answer/") || has("/key/");
    }));
}

/// Checks that the effect of each answered call is stored once, and that of a call whose caller got
/// an error is not stored, unless the error says that its outcome is unknown.
/// `caller_lives(request)` returns whether the caller's tab is alive.
inline void judge_calls(Parliament& judge, Origin& origin,
                        const std::function<bool(const std::string&)>& caller_lives) {
    const auto effects = effects_of(origin);
    for (const auto& [request, call] : judge.calls) {
        const auto found = effects.find(request);
        const bool done = found != effects.end();
        if (done && found->second != "1") judge.report_failure(request + " was committed twice");
        if (!caller_lives(request)) continue;
        if (!call->ended) judge.report_failure(request + " never ends");
        if (call->ended && !call->error && !done)
            judge.report_failure(request + " was not committed");
        if (call->ended && call->error && call->error != ErrorCode::unknown_commit && done)
            judge.report_failure(request + " was committed, and its caller got an error");
        if (call->ended && !call->error && call->answer != "did " + request) {
            judge.report_failure(request + " got the answer of another call");
        }
    }
}

}  // namespace tabacus::test
