#include "article_faults.hpp"

#include <string>
#include <utility>

#include "protocol/strategy/eventual.hpp"
#include "protocol/strategy/lamport.hpp"

namespace tabacus::lab {
namespace {

class RetryCalled final : public LamportCounter {
  public:
    explicit RetryCalled(CounterLocation location) : LamportCounter(std::move(location), {}) {}

  private:
    /// The retry finds nothing changed and calls itself again, until the stack overflows.
    static constexpr int stack_max = 1000;
    int calls_ = 0;

    Async<Unit> wait(double /*delay_ms*/) override {
        if (++calls_ > stack_max) {
            calls_ = 0;
            return Async<Unit>::failed(
                Error(ErrorCode::store_failed, "RangeError: Maximum call stack size exceeded"));
        }
        return Unit{};
    }
};

class BirthAsAge final : public LamportCounter {
  public:
    explicit BirthAsAge(CounterLocation location)
        : LamportCounter(std::move(location), {}), birth_(LamportCounter::attempt_id()) {}

  private:
    std::string attempt_id() override { return birth_; }
    std::string birth_;
};

class EqualNewsIgnored final : public EventualCounter {
  public:
    using EventualCounter::EventualCounter;

  private:
    std::string stamp() override { return ""; }
};

class ZeroIsNoBaseline final : public EventualCounter {
  public:
    using EventualCounter::EventualCounter;

  private:
    [[nodiscard]] bool has_baseline(const Total& total) const override {
        return total.baseline != 0;
    }
};

}  // namespace

std::unique_ptr<StoredCounter> make_faulty(ArticleFault fault, CounterLocation location) {
    switch (fault) {
        case ArticleFault::retry_called:
            return std::make_unique<RetryCalled>(std::move(location));
        case ArticleFault::birth_as_age:
            return std::make_unique<BirthAsAge>(std::move(location));
        case ArticleFault::equal_writes:
            return std::make_unique<EqualNewsIgnored>(std::move(location));
        case ArticleFault::zero_is_no_baseline:
            break;
    }
    return std::make_unique<ZeroIsNoBaseline>(std::move(location));
}

}  // namespace tabacus::lab
