// AbortableTransactions: the transactions of a table, so that a page that is being frozen can abort
// them all in the same turn: frozen in the middle of one, it would block the others' for as long as
// the browser lets it.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tabacus/common/world.hpp"

namespace tabacus {

class AbortableTransactions {
  public:
    explicit AbortableTransactions(World& world) : world_(world), open_(std::make_shared<Open>()) {}

    Task<std::unique_ptr<Transaction>> begin(Stores scope, Access access, Durability durability) {
        const auto open = open_;
        while (open->stopped) {
            const Completer<Unit> resumed;
            open->waiting.push_back(resumed);
            co_await resumed.async();
        }
        const auto generation = open->generation;
        auto inner = co_await world_.database().begin(scope, access, durability);
        if (open->generation != generation) co_await fail(aborted());
        co_return std::make_unique<Abortable>(std::move(inner), open);
    }
    /// Aborts those that have not asked to commit.
    void abort_all() const {
        ++open_->generation;
        const auto all = open_->list;
        for (auto* const transaction : all) transaction->abort();
    }
    /// Aborts them as abort_all() does. Until resume() is called, begin() waits: a transaction that
    /// a page begins while it stops would end only when the page goes on, and block all others.
    void stop() const {
        open_->stopped = true;
        abort_all();
    }
    void resume() const {
        open_->stopped = false;
        for (const auto& one : std::exchange(open_->waiting, {})) one.complete({});
    }

  private:
    class Abortable;
    struct Open {
        std::vector<Abortable*> list;
        int generation = 0;
        bool stopped = false;
        std::vector<Completer<Unit>> waiting;
    };
    static Error aborted() {
        return {ErrorCode::store_failed, "the page was frozen or hidden: try again"};
    }

    class Abortable final : public Transaction {
      public:
        Abortable(std::unique_ptr<Transaction> inner, std::shared_ptr<Open> open)
            : inner_(std::move(inner)), open_(std::move(open)) {
            open_->list.push_back(this);
        }
        Abortable(const Abortable&) = delete;
        Abortable& operator=(const Abortable&) = delete;
        Abortable(Abortable&&) = delete;
        Abortable& operator=(Abortable&&) = delete;
        ~Abortable() override { std::erase(open_->list, this); }

        void abort() {
            if (!committing_) inner_.reset();
        }

        Async<std::optional<Row>> get(Store store, std::string_view key) override {
            if (!inner_) return Async<std::optional<Row>>::failed(aborted());
            return inner_->get(store, key);
        }
        Async<std::vector<Row>> list(Store store, std::string_view prefix, std::uint32_t limit,
                                     std::string_view from) override {
            if (!inner_) return Async<std::vector<Row>>::failed(aborted());
            return inner_->list(store, prefix, limit, from);
        }
        void put(Store store, std::string_view key, std::string_view value) override {
            if (inner_) inner_->put(store, key, value);
        }
        void remove(Store store, std::string_view key) override {
            if (inner_) inner_->remove(store, key);
        }
        void remove_range(Store store, std::string_view first, std::string_view last) override {
            if (inner_) inner_->remove_range(store, first, last);
        }
        Async<std::optional<std::string>> holder(std::string_view subject) override {
            if (!inner_) return Async<std::optional<std::string>>::failed(aborted());
            return inner_->holder(subject);
        }
        void claim(std::string_view subject, std::string_view holder) override {
            if (inner_) inner_->claim(subject, holder);
        }
        void release(std::string_view holder) override {
            if (inner_) inner_->release(holder);
        }
        Async<Unit> commit() override {
            if (!inner_) return Async<Unit>::failed(aborted());
            committing_ = true;
            return inner_->commit();
        }

      private:
        std::unique_ptr<Transaction> inner_;
        std::shared_ptr<Open> open_;
        bool committing_ = false;
    };

    World& world_;
    std::shared_ptr<Open> open_;
};

/// Reads again what failed for a passing reason, such as a dropped connection or a page that
/// stopped during the read. A page that stopped reads again when it goes on, and its timers with
/// it.
template <typename Read>
auto read_again(World& world, Read read) -> decltype(read()) {
    constexpr int attempts_max = 4;
    constexpr double pause_ms = 20;
    for (int tried = 1;; ++tried) {
        auto outcome = co_await attempt(read());
        if (outcome) co_return std::move(outcome.value());
        const Error error = outcome.error();
        if (error.code() != ErrorCode::store_failed || tried == attempts_max) co_await fail(error);
        co_await world.clock().sleep(pause_ms);
    }
}

}  // namespace tabacus
