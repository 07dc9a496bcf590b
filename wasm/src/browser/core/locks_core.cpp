#include "browser/core/locks_core.hpp"

namespace tabacus::browser {

void LocksCore::prepare(LockOptions& options, int within, int request) {
    options.signal = requests_.begin(request);
    if (auto outer = held_.grant(within)) options.within = std::move(outer);
}

void LocksCore::acquire(std::vector<std::string> names, LockOptions options, int within,
                        int request, PromiseId promise) {
    prepare(options, within, request);
    requests_.run(scope_, take(std::move(names), std::move(options)), request, promise,
                  Resolve{promise});
}

void LocksCore::acquire_permit(const std::string& name, int permits, LockOptions options,
                               int within, int request, PromiseId promise) {
    prepare(options, within, request);
    requests_.run(scope_, take_permit(name, permits, std::move(options)), request, promise,
                  Resolve{promise});
}

Task<LocksCore::Numbers> LocksCore::take_permit(std::string name, int permits,
                                                LockOptions options) {
    auto held = co_await semaphore_.acquire(std::move(name), permits, std::move(options));
    Numbers numbers;
    if (held) numbers.push_back(held_.keep(std::move(held)));
    co_return numbers;
}

Task<LocksCore::Numbers> LocksCore::take(std::vector<std::string> names, LockOptions options) {
    Numbers numbers;
    if (names.size() > 1) {
        auto all = co_await table_.acquire_all(std::move(names), std::move(options));
        for (auto& held : all) numbers.push_back(held_.keep(std::move(held)));
    } else {
        auto held = co_await table_.acquire(std::move(names.front()), std::move(options));
        if (held) numbers.push_back(held_.keep(std::move(held)));
    }
    co_return numbers;
}

void LocksCore::enter(const std::string& key, LockOptions options, OnceAge age, int request,
                      PromiseId promise) {
    options.signal = requests_.begin(request);
    requests_.run(scope_, once_.enter(key, std::move(options), age), request, promise,
                  [this, promise](OnceTurn turn) {
                      const int held = turn.outcome ? 0 : held_.keep(std::move(turn.held));
                      Resolve{promise}(OnceEntry{std::move(turn.outcome), held});
                  });
}

void LocksCore::settle_once(const std::string& key, int held, OnceOutcome outcome, OnceAge age,
                            PromiseId promise) {
    settle(scope_, once_.settle(key, held_.take(held), std::move(outcome), age), promise);
}

void LocksCore::forget_once(const std::string& key, PromiseId promise) {
    settle(scope_, once_.forget(key), promise);
}

void LocksCore::release(int held) {
    // The lock is removed from the table first, because code that the release resumes may release
    // other locks.
    const auto released = held_.take(held);
}

void LocksCore::wait_for_unlock(const std::string& name, std::optional<double> timeout_ms,
                                int request, PromiseId promise) {
    requests_.run(scope_, table_.wait_for_unlock(name, requests_.begin(request), timeout_ms),
                  request, promise, Resolve{promise});
}

void LocksCore::watch(const std::string& name, int watch) {
    watches_[watch] = table_.on_change(name, [watch] { host::lock_changed(watch); });
}

void LocksCore::capabilities(PromiseId promise) const {
    Resolve{promise}(LockCapabilities{table_.exclusion(), table_.fenced(), table_.tab()});
}

}  // namespace tabacus::browser
