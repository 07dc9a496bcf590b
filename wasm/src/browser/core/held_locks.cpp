#include "browser/core/held_locks.hpp"

#include <utility>

namespace tabacus::browser {

int HeldLocks::keep(Held held) {
    const int number = ++last_;
    held.on_lost([number](std::string_view reason) { host::lock_lost(number, reason); });
    held_[number] = std::move(held);
    return number;
}

Held HeldLocks::take(int number) {
    auto found = held_.extract(number);
    return found.empty() ? Held() : std::move(found.mapped());
}

Held* HeldLocks::find(int number) {
    const auto found = held_.find(number);
    return found == held_.end() ? nullptr : &found->second;
}

std::shared_ptr<Grant> HeldLocks::grant(int number) const {
    const auto found = held_.find(number);
    return found == held_.end() ? nullptr : found->second.grant();
}

double HeldLocks::token(int number) const {
    const auto found = held_.find(number);
    const auto token = found == held_.end() ? std::nullopt : found->second.token();
    return token ? static_cast<double>(*token) : __builtin_nan("");
}

void HeldLocks::check_max_hold(int number) const {
    const auto found = held_.find(number);
    if (found != held_.end()) found->second.check_max_hold();
}

}  // namespace tabacus::browser
