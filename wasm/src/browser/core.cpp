#include "browser/core.hpp"

namespace tabacus::browser {

namespace {

/// Texts of ours in one, parted by zero bytes.
std::string joined(std::initializer_list<std::string_view> texts) {
    std::string all;
    for (const auto text : texts) {
        all += text;
        all += '\0';
    }
    return all;
}

struct Resolve {
    PromiseId promise;
    void operator()() const { call(Call::promise_resolve, {.object = promise}); }
    void operator()(std::int64_t value) const {
        call(Call::promise_resolve, {.object = promise, .number = static_cast<double>(value)});
    }
    void operator()(std::string_view texts) const {
        call(Call::promise_resolve, {.object = promise, .first = texts});
    }
};

struct Reject {
    PromiseId promise;
    void operator()(std::string_view code, std::string_view message) const {
        call(Call::promise_reject, {.object = promise, .first = code, .second = message});
    }
    void operator()(const Error& error) const { (*this)(code_name(error.code()), error.what()); }
    void operator()(const Failure& failure) const { (*this)(error_of(failure)); }
};

template <typename T>
void settle(Scope& scope, Task<T> task, PromiseId promise) {
    run_in(scope, std::move(task), Resolve{promise}, Reject{promise});
}

/// The subject comes last: a stranger's key may hold a zero byte.
void notify(const Notice& notice) {
    const auto rest = notice.message + '\0' + notice.previous + '\0' + notice.subject;
    call(Call::notice, {.object = notice.kind == Notice::Kind::store_lost,
                        .number = static_cast<double>(notice.healed),
                        .first = notice.code,
                        .second = rest});
}

}  // namespace

CounterCore::CounterCore(Scope& scope, Counter& counter, ReplicatedCounter* replicated)
    : scope_(scope), counter_(counter), replicated_(replicated) {
    subscription_ = counter.on_change([this] {
        const auto address = reinterpret_cast<std::uintptr_t>(this);
        call(Call::counter_changed, {.object = static_cast<int>(address)});
    });
}

double CounterCore::increment(double n) {
    const auto value = replicated_->increment(static_cast<std::int64_t>(n));
    return value ? static_cast<double>(*value) : __builtin_nan("");
}

void CounterCore::add(double n, PromiseId promise) {
    settle(scope_, counter_.add(static_cast<std::int64_t>(n)), promise);
}

void CounterCore::read(PromiseId promise) { settle(scope_, counter_.read(), promise); }

void CounterCore::flush(PromiseId promise) { settle(scope_, counter_.flush(), promise); }

void CounterCore::guarantee(PromiseId promise) const {
    const Guarantee it = counter_.guarantee();
    Resolve{promise}(joined(
        {it.strategy, it.lost, it.reads_wait, it.accuracy, it.rows, it.needs, it.durability}));
}

TabCore::TabCore(const std::string& name_space) : tab_(world_, name_space, notify) {}

void TabCore::open(PromiseId promise) { settle(scope_, tab_.open(), promise); }

void TabCore::close(PromiseId promise) { settle(scope_, tab_.close(), promise); }

void TabCore::capabilities(PromiseId promise) const {
    const Capabilities it = tab_.capabilities();
    Resolve{promise}(joined({it.store, it.exclusion, it.durability, it.mirror ? "mirror" : "",
                             it.channel ? "channel" : ""}));
}

CounterCore* TabCore::counter(const std::string& name, const std::string& strategy, bool strict,
                              PromiseId promise) {
    const CounterOptions options{strategy_named(strategy).value_or(Strategy::replicated),
                                 strict ? Durability::strict : Durability::relaxed};
    if (const char* const what = tab_.missing(options.strategy)) {
        Reject{promise}(code_name(ErrorCode::unavailable), what);
        return nullptr;
    }
    auto* const replicated = options.strategy == Strategy::replicated
                                 ? &tab_.replicated(name, options.durability)
                                 : nullptr;
    auto& counter = replicated ? *replicated : tab_.counter(name, options);
    counters_.push_back(std::make_unique<CounterCore>(scope_, counter, replicated));
    return counters_.back().get();
}

}  // namespace tabacus::browser
