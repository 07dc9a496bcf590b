#include "tabacus/replica/gatherer.hpp"

#include "replica.hpp"

namespace tabacus {
namespace {

Failing fail_out_of_range() {
    return fail(ErrorCode::out_of_range,
                "what threads have added would bring the counter beyond ±(2^53 − 1)");
}

}  // namespace

Gatherer::Gatherer(ReplicatedCounter& counter, SharedCells& cells)
    : counter_(counter),
      cells_(cells),
      changes_(counter.on_change([this] { cells_.publish(counter_.value()); })),
      commits_(counter.replica().committer.before_last_commits().add([this] { gather(); })) {}

bool Gatherer::gather() {
    if (counter_.replica().closed()) return true;  // what is added from now on cannot be committed
    const auto n = cells_.gather();
    const bool counted = n == 0 || counter_.increment(n).has_value();
    if (counted) cells_.take(n);
    cells_.publish(counter_.value());
    return counted;
}

Task<std::int64_t> Gatherer::read() {
    if (!gather()) co_await fail_out_of_range();
    co_return co_await counter_.read();
}

Task<void> Gatherer::flush() {
    if (!gather()) co_await fail_out_of_range();
    co_await counter_.flush();
}

}  // namespace tabacus
