#include "browser/core.hpp"

namespace tabacus::browser {

using emscripten::val;

namespace {

std::string js_string(std::string_view text) {
    return std::string(text);
}

/// A JavaScript array of strings.
val array_of(std::initializer_list<std::string_view> texts) {
    val array = val::array();
    for (const auto text : texts) array.call<void>("push", js_string(text));
    return array;
}

void reject_with(const val& reject, const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const Error& known) {
        reject(js_string(code_name(known.code())), js_string(known.what()));
    } catch (const std::exception& unknown) {
        reject(std::string("store-failed"), js_string(unknown.what()));
    }
}

struct Resolve {
    val function;
    void operator()() const { function(); }
    void operator()(std::int64_t value) const { function(static_cast<double>(value)); }
};

struct Reject {
    val function;
    void operator()(const std::exception_ptr& error) const { reject_with(function, error); }
};

template <typename T>
void promise(Scope& scope, Task<T> task, val resolve, val reject) {
    run_in(scope, std::move(task), Resolve{std::move(resolve)}, Reject{std::move(reject)});
}

NoticeHandler notify(val function) {
    return [function = std::move(function)](const Notice& notice) {
        const bool lost = notice.kind == Notice::Kind::store_lost;
        function(array_of({lost ? "storelost" : "warning", notice.code, notice.message,
                           notice.subject, notice.previous}),
                 notice.healed);
    };
}

}  // namespace

double CounterCore::increment(double n) {
    const auto value = replicated_->increment(static_cast<std::int64_t>(n));
    return value ? static_cast<double>(*value) : __builtin_nan("");
}

void CounterCore::add(double n, val resolve, val reject) {
    promise(scope_, counter_.add(static_cast<std::int64_t>(n)), std::move(resolve),
            std::move(reject));
}

void CounterCore::read(val resolve, val reject) {
    promise(scope_, counter_.read(), std::move(resolve), std::move(reject));
}

void CounterCore::flush(val resolve, val reject) {
    promise(scope_, counter_.flush(), std::move(resolve), std::move(reject));
}

double CounterCore::value() const {
    return static_cast<double>(counter_.value());
}

void CounterCore::on_change(val callback) {
    subscription_ = counter_.on_change([callback = std::move(callback)] { callback(); });
}

val CounterCore::guarantee() const {
    const Guarantee it = counter_.guarantee();
    return array_of({it.strategy, it.lost, it.reads_wait, it.accuracy, it.rows, it.needs,
                     it.durability});
}

TabCore::TabCore(const val& host, const std::string& name_space, val on_notice)
    : world_(host), tab_(world_, name_space, notify(std::move(on_notice))) {}

void TabCore::open(val resolve, val reject) {
    promise(scope_, tab_.open(), std::move(resolve), std::move(reject));
}

void TabCore::close(val resolve, val reject) {
    promise(scope_, tab_.close(), std::move(resolve), std::move(reject));
}

val TabCore::capabilities() const {
    const Capabilities it = tab_.capabilities();
    return array_of({it.store, it.exclusion, it.durability, it.mirror ? "mirror" : "",
                     it.channel ? "channel" : ""});
}

std::unique_ptr<CounterCore> TabCore::counter(const std::string& name, const std::string& strategy,
                                              bool strict, val reject) {
    const auto durability = strict ? Durability::strict : Durability::relaxed;
    try {
        const auto known = strategy_named(strategy);
        if (!known) throw Error(ErrorCode::invalid_argument, strategy);
        if (known == Strategy::replicated) {
            auto& replicated = tab_.replicated(name, durability);
            return std::make_unique<CounterCore>(scope_, replicated, &replicated);
        }
        auto& counter = tab_.counter(name, {*known, durability});
        return std::make_unique<CounterCore>(scope_, counter, nullptr);
    } catch (...) {
        reject_with(reject, std::current_exception());
        return nullptr;
    }
}

void TabCore::settle(int operation, bool ok, const val& answer) {
    world_.operations().settle(operation, ok, answer);
}

void TabCore::storage_changed(const val& key, const val& old_value, const val& new_value) {
    world_.storage().changed(
        {optional_string(key), optional_string(old_value), optional_string(new_value)});
}

void TabCore::database_created(const std::string& data_loss) {
    world_.database().happened({DatabaseEvent::Kind::created, data_loss});
}

void TabCore::database_closed() {
    world_.database().happened({DatabaseEvent::Kind::closed, {}});
}

void TabCore::lock_lost(int request) {
    world_.locks().lost(request);
}

void TabCore::message(int channel, const std::string& text) {
    world_.channels().received({channel, text});
}

void TabCore::lifecycle(int event) {
    world_.lifecycle().happened(static_cast<LifecycleEvent>(event));
}

}  // namespace tabacus::browser
