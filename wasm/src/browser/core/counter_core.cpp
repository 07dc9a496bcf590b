#include "browser/core/counter_core.hpp"

namespace tabacus::browser {

namespace {

std::string numbers(const Losses& losses) {
    std::string text;
    for (const auto& faults : losses.lost) text += std::to_string(faults.bits()) + ' ';
    for (const auto& faults : losses.exceeded) text += std::to_string(faults.bits()) + ' ';
    return text + (losses.before_flush ? '1' : '0');
}

}  // namespace

void Reject::operator()(const Failure& failure) const {
    const Error& error = error_of(failure);
    (*this)(code_name(error.code()), error.what());
}

std::string joined(std::initializer_list<std::string_view> texts) {
    std::string all;
    for (const auto text : texts) {
        all += text;
        all += '\0';
    }
    return all;
}

void notify(const Notice& notice) { host::notice(notice); }

CounterCore::CounterCore(Scope& scope, Counter& counter) : scope_(scope), counter_(counter) {
    subscription_ = counter.on_change([this] {
        const auto address = reinterpret_cast<std::uintptr_t>(this);
        host::counter_changed(static_cast<int>(address));
    });
}

void CounterCore::add(double n, PromiseId promise) {
    settle(scope_, counter_.add(static_cast<std::int64_t>(n)), promise);
}

void CounterCore::read(PromiseId promise) { settle(scope_, counter_.read(), promise); }

void CounterCore::flush(PromiseId promise) { settle(scope_, counter_.flush(), promise); }

void CounterCore::guarantee(PromiseId promise) const {
    const Guarantee it = counter_.guarantee();
    Resolve{promise}(joined({it.strategy, it.lost, it.reads_wait, it.accuracy, it.rows, it.needs,
                             it.durability, numbers(it.losses)}));
}

}  // namespace tabacus::browser
