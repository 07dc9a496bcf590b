#include "browser/core/counter_core.hpp"

namespace tabacus::browser {

void Reject::operator()(const Failure& failure) const {
    const Error& error = error_of(failure);
    (*this)(error.code(), error.what());
}

void notify(const Notice& notice) { host::notice(notice); }

double CounterCore::value() {
    if (!std::exchange(followed_, true)) {
        subscription_ = counter_.on_change([this] {
            const auto address = reinterpret_cast<std::uintptr_t>(this);
            host::counter_changed(static_cast<int>(address));
        });
    }
    return static_cast<double>(counter_.value());
}

void CounterCore::add(double n, PromiseId promise) {
    settle(scope_, counter_.add(static_cast<std::int64_t>(n)), promise);
}

void CounterCore::read(PromiseId promise) { settle(scope_, counter_.read(), promise); }

void CounterCore::flush(PromiseId promise) { settle(scope_, counter_.flush(), promise); }

}  // namespace tabacus::browser
