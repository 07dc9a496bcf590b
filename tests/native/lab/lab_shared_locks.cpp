// The rules of Web Locks twice, in the laboratory and in shared memory: the same answers, always.
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

enum class Said : std::uint8_t { waits, held, stolen, not_available, over };

/// The laboratory's manager, and what it has told of each request.
class LabSide : public lab::LockListener {
  public:
    void granted(lab::RequestId id) override { said[id] = Said::held; }
    void not_available(lab::RequestId id) override { said[id] = Said::not_available; }
    void stolen(lab::RequestId id) override { said[id] = Said::stolen; }

    std::map<lab::RequestId, Said> said;

  private:
    lab::Notes notes_;

  public:
    lab::LockManager manager{*this, notes_};
};

struct alignas(128) LockRoom {
    std::byte bytes[64 * 1024];
};

/// The table in shared memory, behind the same numbers.
class SharedSide {
  public:
    SharedSide()
        : room_(std::make_unique<LockRoom>()),
          table_(*new (room_->bytes) sync::LockTable(sizeof(LockRoom))) {
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

    [[nodiscard]] Said said(lab::RequestId id) const {
        const sync::Ref ref = refs.at(id);
        if (ref == sync::LockTable::not_available) return Said::not_available;
        switch (table_.state_of(ref)) {
            case sync::LockState::pending:
                return Said::waits;
            case sync::LockState::held:
                return Said::held;
            default:
                return Said::stolen;
        }
    }

    std::map<lab::RequestId, sync::Ref> refs;

  private:
    std::unique_ptr<LockRoom> room_;
    sync::LockTable& table_;
};

/// The same to both, and the same said by both.
class BothSides {
  public:
    void request(lab::LockManager::Request asked) {
        asked.id = ++last_;
        clients_[asked.id] = asked.client;
        lab_.said[asked.id] = Said::waits;
        shared_.request(asked);
        lab_.manager.request(asked);
        compare();
        if (lab_.said[asked.id] == Said::not_available) forget(asked.id);
    }

    /// The one of that number, among all that are known: whatever its state allows.
    void settle(std::size_t choice) {
        if (lab_.said.empty()) return;
        const auto chosen =
            std::next(lab_.said.begin(), static_cast<std::ptrdiff_t>(choice % lab_.said.size()));
        const auto [id, said] = *chosen;
        if (said == Said::waits) {
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
        lab_.said.erase(id);
        shared_.refs.erase(id);
        clients_.erase(id);
    }

    void compare() {
        for (const auto& [id, said] : lab_.said) {
            INFO("request " << id);
            REQUIRE(static_cast<int>(shared_.said(id)) == static_cast<int>(said));
        }
    }

    LabSide lab_;
    SharedSide shared_;
    std::map<lab::RequestId, std::uint32_t> clients_;
    lab::RequestId last_ = 0;
};

}  // namespace

TEST_CASE("lock table: it answers as the laboratory's lock manager, whatever is asked",
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
