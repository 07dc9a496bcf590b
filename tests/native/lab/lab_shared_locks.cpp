// Compares the two implementations of the rules of Web Locks, in the laboratory and in shared
// memory: they give the same answers to the same requests.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "lab/rules/lock_manager.hpp"
#include "tabacus/sync/shared_lock_table.hpp"

namespace {

namespace lab = tabacus::lab;
namespace sync = tabacus::sync;

enum class Answer : std::uint8_t { waits, held, stolen, not_available, over };

/// The laboratory's manager, and its last answer to each request.
class LabSide : public lab::LockListener {
  public:
    void granted(lab::RequestId id) override { answer[id] = Answer::held; }
    void not_available(lab::RequestId id) override { answer[id] = Answer::not_available; }
    void stolen(lab::RequestId id) override { answer[id] = Answer::stolen; }

    std::map<lab::RequestId, Answer> answer;

  private:
    lab::FootprintRecorder recorder_;

  public:
    lab::LockManager manager{*this, recorder_};
};

struct alignas(128) LockMemory {
    std::byte bytes[64 * 1024];
};

/// The lock table in shared memory. Requests have the numbers that they have in the laboratory.
class SharedSide {
  public:
    SharedSide()
        : memory_(std::make_unique<LockMemory>()),
          table_(*new (memory_->bytes) sync::SharedLockTable(sizeof(LockMemory))) {
        table_.enter(1, true);
    }

    void request(const lab::LockManager::Request& asked) {
        const std::u16string name(asked.name.begin(), asked.name.end());
        const auto mode = asked.mode == tabacus::LockMode::shared ? sync::LockMode::shared
                                                                  : sync::LockMode::exclusive;
        const auto how = asked.steal          ? sync::LockHow::steal
                         : asked.if_available ? sync::LockHow::if_available
                                              : sync::LockHow::wait;
        refs[asked.id] = table_.request(asked.client, table_.make_text(name), mode, how);
    }
    void release(lab::RequestId id) { table_.release(refs.at(id)); }
    void abort(lab::RequestId id) { table_.abort(refs.at(id)); }
    void end(std::uint32_t client) { table_.end(client); }

    [[nodiscard]] Answer answer(lab::RequestId id) const {
        const sync::Ref ref = refs.at(id);
        if (ref == sync::SharedLockTable::not_available) return Answer::not_available;
        switch (table_.state_of(ref)) {
            case sync::LockState::pending:
                return Answer::waits;
            case sync::LockState::held:
                return Answer::held;
            default:
                return Answer::stolen;
        }
    }

    std::map<lab::RequestId, sync::Ref> refs;

  private:
    std::unique_ptr<LockMemory> memory_;
    sync::SharedLockTable& table_;
};

/// Passes each request to both sides, and requires the same answers of them.
class BothSides {
  public:
    void request(lab::LockManager::Request asked) {
        asked.id = ++last_;
        clients_[asked.id] = asked.client;
        lab_.answer[asked.id] = Answer::waits;
        shared_.request(asked);
        lab_.manager.request(asked);
        compare();
        if (lab_.answer[asked.id] == Answer::not_available) forget(asked.id);
    }

    /// Aborts or releases one of the known requests, the one that `choice` selects.
    void settle(std::size_t choice) {
        if (lab_.answer.empty()) return;
        const auto chosen = std::next(lab_.answer.begin(),
                                      static_cast<std::ptrdiff_t>(choice % lab_.answer.size()));
        const auto [id, answer] = *chosen;
        if (answer == Answer::waits) {
            shared_.abort(id);
            lab_.manager.abort(id);
        } else {
            shared_.release(id);
            lab_.manager.release(id);
        }
        forget(id);
        compare();
    }

    void end(std::uint32_t client) {
        shared_.end(client);
        lab_.manager.end(client);
        for (const auto& [id, owner] : std::map(clients_)) {
            if (owner == client) forget(id);
        }
        compare();
    }

  private:
    void forget(lab::RequestId id) {
        lab_.answer.erase(id);
        shared_.refs.erase(id);
        clients_.erase(id);
    }

    void compare() {
        for (const auto& [id, answer] : lab_.answer) {
            INFO("request " << id);
            REQUIRE(static_cast<int>(shared_.answer(id)) == static_cast<int>(answer));
        }
    }

    LabSide lab_;
    SharedSide shared_;
    std::map<lab::RequestId, std::uint32_t> clients_;
    lab::RequestId last_ = 0;
};

}  // namespace

TEST_CASE("lock table: it gives the answers of the laboratory's lock manager to all requests",
          "[lab][locks]") {
    for (std::uint32_t seed = 0; seed < 150; ++seed) {
        BothSides both;
        std::mt19937 random(seed);
        for (int step = 0; step < 120; ++step) {
            const auto choice = random() % 20;
            if (choice == 0) {
                both.end(static_cast<std::uint32_t>(1 + random() % 3));
            } else if (choice < 10) {
                both.settle(random());
            } else {
                const bool steal = random() % 12 == 0;
                both.request({.client = static_cast<std::uint32_t>(1 + random() % 3),
                              .name = random() % 2 == 0 ? "l" : "m",
                              .mode = !steal && random() % 2 == 0 ? tabacus::LockMode::shared
                                                                  : tabacus::LockMode::exclusive,
                              .if_available = !steal && random() % 5 == 0,
                              .steal = steal});
            }
        }
    }
}
