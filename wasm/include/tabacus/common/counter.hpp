// The interface of every counter over tabs, and what it promises.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tabacus/common/function.hpp"
#include "tabacus/common/guarantee.hpp"
#include "tabacus/common/task.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

/// JavaScript's Number.MAX_SAFE_INTEGER. A counter's value lies within ± this, or the call fails.
constexpr std::int64_t value_max = (std::int64_t{1} << 53) - 1;

/// What went wrong without being the fault of a call: shown to the application as an event.
struct Notice {
    enum class Kind : std::uint8_t { warning, store_lost };
    Kind kind = Kind::warning;
    std::string code;            // "corrupt-record", "store-lost", "slot-lost", …
    std::string message;         // one sentence for a person
    std::string subject;         // the key, slot or generation that it is about
    std::string previous;        // store_lost: the generation that vanished, if known
    std::int32_t recovered = 0;  // store_lost: rows brought back
    std::optional<ErrorCode> failure =
        std::nullopt;  // instead of a code: what an operation failed with
};
using NoticeHandler = Function<void(const Notice&)>;

class Counter {
  public:
    virtual ~Counter() = default;
    /// Adds `n` (within ±value_max) and returns the value then known. out_of_range changes nothing.
    virtual Task<std::int64_t> add(std::int64_t n) = 0;
    /// The value as the strategy's store has it, with this tab's own increments.
    virtual Task<std::int64_t> read() = 0;
    /// Returns once every increment that this tab made before the call is committed.
    virtual Task<void> flush() = 0;
    /// The best-known value, without waiting. May exceed ±value_max: the caller must refuse it
    /// then.
    [[nodiscard]] virtual std::int64_t value() const = 0;
    /// Called after the value may have changed; for replicated counters at most once per turn.
    virtual Subscription on_change(Function<void()> callback) = 0;
    [[nodiscard]] virtual Guarantee guarantee() const = 0;
};

}  // namespace tabacus
