// LockScene: a simulated origin, pages that take locks in it, and the judge of their grants.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lab/lab_tab.hpp"
#include "lab/origin.hpp"
#include "protocol/common/names.hpp"
#include "tabacus/lock/lock.hpp"
#include "time_last_chooser.hpp"

namespace tabacus::test {

using lab::LabTab;
using lab::Origin;
using lab::Platform;
using lab::StorageModel;

/// Checks what must hold of all grants of one lock, in whichever tab.
struct LockJudge {
    struct Holder {
        int request;
        LockMode mode;
        const Held* held;
    };
    void enter(int request, LockMode mode, const Held& held) {
        for (const auto& other : inside) {
            if (lenient || !other.held->held()) continue;
            if (mode == LockMode::exclusive || other.mode == LockMode::exclusive) {
                report_failure(request,
                               "was granted the lock beside " + std::to_string(other.request));
            }
        }
        if (held.token()) {
            if (!tokens.insert(*held.token()).second) {
                report_failure(request, "got the token of another grant");
            }
            if (!lenient && *held.token() <= newest) {
                report_failure(request, "got a token that is not larger than all before");
            }
            newest = std::max(newest, *held.token());
        }
        inside.push_back({request, mode, &held});
        order.push_back(request);
    }
    void leave(int request) {
        std::erase_if(inside,
                      [request](const Holder& holder) { return holder.request == request; });
    }
    void report_failure(int request, const std::string& what) {
        failures.push_back("request " + std::to_string(request) + " " + what);
    }

    /// Whether grants may overlap: a previous holder in another process may learn of a steal after
    /// the stealer was granted the lock.
    bool lenient = false;
    std::vector<Holder> inside;
    std::set<std::int64_t> tokens;
    std::int64_t newest = 0;
    std::vector<int> order;  // the requests' numbers in the order of their grants
    std::vector<std::string> failures;
    int committed = 0;  // acknowledged increments
    int unknown = 0;    // increments of unknown outcome
};

class LockPage {
  public:
    struct Request {
        int number = 0;
        std::optional<ErrorCode> error;
        bool granted = false;
        bool unavailable = false;
        bool ended = false;
        std::string loss;
        std::vector<ErrorCode> commit_errors;
        Completer<Unit> let_go;  // a test completes it to end hold()
        AbortSignal abort;
    };
    using RequestPtr = std::shared_ptr<Request>;

    LockPage(LabTab& world, LockJudge& judge, int& last_request)
        : world_(world),
          judge_(judge),
          last_request_(last_request),
          table_(world, "test", [this](const Notice& notice) { notices.push_back(notice); }) {}

    /// Takes the lock, increments a row under its fencing token `commits` times, each time after
    /// `hold_ms`, and releases the lock.
    RequestPtr count(LockOptions options, int commits = 1, double hold_ms = 0) {
        auto request = std::make_shared<Request>();
        scope_.spawn(count_once(request, "l", std::move(options), commits, hold_ms));
        return request;
    }
    /// Takes the lock and holds it until `let_go` of the returned request is completed.
    RequestPtr hold(LockOptions options = {}, const std::string& name = "l") {
        auto request = std::make_shared<Request>();
        scope_.spawn(hold_once(request, name, std::move(options)));
        return request;
    }
    LockTable& table() { return table_; }
    Scope& scope() { return scope_; }
    LabTab& world() { return world_; }

    std::vector<Notice> notices;

  private:
    Task<void> count_once(RequestPtr request, std::string name, LockOptions options, int commits,
                          double hold_ms) {
        const auto number = request->number = ++last_request_;
        const auto mode = options.mode;
        auto taken = co_await attempt(table_.acquire(name, std::move(options)));
        if (!taken) {
            request->error = taken.error().code();
            request->ended = true;
            co_return;
        }
        {
            auto held = std::move(taken.value());
            request->granted = static_cast<bool>(held);
            request->unavailable = !held;
            if (held) {
                const Inside inside(world_, judge_, number, mode, held);
                held.on_lost([request](std::string_view reason) { request->loss = reason; });
                for (int i = 0; i < commits; ++i) {
                    if (hold_ms > 0) co_await world_.clock().sleep(hold_ms);
                    co_await commit(*request, held);
                }
            }
        }
        request->ended = true;
    }

    Task<void> commit(Request& request, Held& held) {
        Write write;
        const auto outcome = co_await attempt(write_in(held, write));
        if (outcome) {
            ++judge_.committed;
            if (write.late) judge_.report_failure(request.number, "committed under an old token");
        } else {
            const auto code = outcome.error().code();
            request.commit_errors.push_back(code);
            if (write.begun && code == ErrorCode::unknown_commit) ++judge_.unknown;
        }
    }

    struct Write {
        bool begun = false;
        bool late = false;  // a newer grant had written before
    };
    /// Increments the row, which holds the count and the token of the last grant that wrote it.
    static Task<void> write_in(Held& held, Write& write) {
        auto transaction = co_await held.begin();
        const auto row = co_await transaction.get("counts", "n");
        const auto count = row ? std::stoi(*row) + 1 : 1;
        const auto token = *held.token();
        write.late = row && std::stoll(row->substr(row->find('/') + 1)) > token;
        transaction.put("counts", "n", std::to_string(count) + "/" + std::to_string(token));
        transaction.prove();
        write.begun = true;
        co_await transaction.commit();
    }

    Task<void> hold_once(RequestPtr request, std::string name, LockOptions options) {
        const auto number = ++last_request_;
        const auto mode = options.mode;
        auto taken = co_await attempt(table_.acquire(name, std::move(options)));
        if (!taken) {
            request->error = taken.error().code();
            request->ended = true;
            co_return;
        }
        {
            auto held = std::move(taken.value());
            request->granted = static_cast<bool>(held);
            request->unavailable = !held;
            if (held) {
                held.on_lost([request](std::string_view reason) { request->loss = reason; });
                const auto until = request->let_go;
                if (name == "l") {
                    const Inside inside(world_, judge_, number, mode, held);
                    co_await until.async();
                } else {
                    co_await until.async();
                }
            }
        }
        request->ended = true;
    }

    /// Reports to the judge that a request holds the lock for as long as this object lives. The
    /// death of the tab destroys it too.
    struct Inside {
        Inside(LabTab& world, LockJudge& of, int number, LockMode mode, const Held& held)
            : recorder(world.origin().recorder()), judge(of), request(number) {
            recorder.note(lab::Object::scenario, 0, lab::AccessKind::write);
            judge.enter(number, mode, held);
        }
        Inside(const Inside&) = delete;
        Inside& operator=(const Inside&) = delete;
        Inside(Inside&&) = delete;
        Inside& operator=(Inside&&) = delete;
        ~Inside() {
            recorder.note(lab::Object::scenario, 0, lab::AccessKind::write);
            judge.leave(request);
        }
        lab::FootprintRecorder& recorder;
        LockJudge& judge;
        int request;
    };

    LabTab& world_;
    LockJudge& judge_;
    int& last_request_;
    LockTable table_;
    Scope scope_;  // declared last: its coroutines use all members above
};

class LockScene {
  public:
    explicit LockScene(std::uint64_t seed, StorageModel model = StorageModel::cached,
                       std::unique_ptr<lab::Chooser> chooser = nullptr)
        : origin(Origin::Options{seed, model}, std::move(chooser)), random(seed * 7919 + 1) {}

    struct Member {
        LabTab* tab;
        LockPage* page;
    };
    Member open(Platform platform = {}) {
        auto& tab = origin.open_tab(platform);
        auto& page = tab.run<LockPage>(tab, judge, last_request);
        members.push_back({&tab, &page});
        return members.back();
    }
    void steps(std::size_t count) {
        for (; count > 0 && origin.step(); --count) {
        }
    }
    /// Steps until `done()` holds. Throws std::logic_error if that takes too many steps, or if
    /// nothing can happen any more before.
    template <typename Done>
    void until(Done done) {
        origin.run_until([&] { return done(); });
    }
    [[nodiscard]] int stored() {
        const auto& rows = origin.database().rows(Store::data);
        const auto found = rows.find("counts/n");
        return found == rows.end() ? 0 : std::stoi(found->second.text);
    }
    /// Whether the lock manager has no waiter, and no holder but of liveness locks, which living tabs
    /// keep once they have reported a hold.
    [[nodiscard]] bool nothing_left() {
        const auto snapshot = origin.locks().snapshot();
        return snapshot.pending.empty() && std::ranges::all_of(snapshot.held, [](const auto& lock) {
                   return lock.name.starts_with(Names("test").liveness(""));
               });
    }

    LockJudge judge;  // outlives the pages
    int last_request = 0;
    Origin origin;
    lab::SeededRandom random;
    std::vector<Member> members;
};

/// Steps until `delay_ms` have passed by the clock of the page's tab. Requires that the tab lives.
inline void wait_ms(LockScene& scene, LockPage& page, double delay_ms) {
    const auto over = std::make_shared<bool>(false);
    page.scope().spawn([](LabTab& tab, double time_ms, std::shared_ptr<bool> done) -> Task<void> {
        co_await tab.clock().sleep(time_ms);
        *done = true;
    }(page.world(), delay_ms, over));
    scene.until([&] { return *over; });
}

inline StorageModel model_of_seed(std::uint64_t seed) {
    return static_cast<StorageModel>(seed % 3);
}

}  // namespace tabacus::test
