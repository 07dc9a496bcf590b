// Held: a caller's handle of its grant.
#include <utility>

#include "queue/native_holds.hpp"

namespace tabacus {

bool Held::held() const { return grant_ && grant_->held; }

std::optional<std::int64_t> Held::token() const { return grant_ ? grant_->token : std::nullopt; }

std::string_view Held::loss() const { return grant_ ? std::string_view(grant_->loss) : ""; }

void Held::on_lost(Function<void(std::string_view)> callback) const {
    if (held()) grant_->on_lost.push_back(std::move(callback));
}

void Held::check_max_hold() const {
    if (!grant_) return;
    if (const auto holds = grant_->holds.lock()) holds->check_max_hold(grant_);
}

Held::~Held() { release(); }

void Held::release() {
    const auto grant = std::exchange(grant_, nullptr);
    if (!grant) return;
    if (const auto holds = grant->holds.lock()) holds->release(*grant);
}

Task<FencedTransaction> Held::begin() { return begin({}, Durability::strict); }

Task<FencedTransaction> Held::begin(Stores also, Durability durability) {
    const auto holds = grant_ ? grant_->holds.lock() : nullptr;
    if (!holds) co_await fail(ErrorCode::lock_lost, "the lock is already released");
    constexpr Stores scope{Store::locks, Store::data};
    co_return co_await holds->begin(grant_, also | scope, durability);
}

}  // namespace tabacus
