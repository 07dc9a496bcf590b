// Counter: the interface of every counter over tabs.
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

/// JavaScript's Number.MAX_SAFE_INTEGER. An add() that would take a counter's value beyond
/// ±value_max fails with out_of_range.
constexpr std::int64_t value_max = (std::int64_t{1} << 53) - 1;

/// A problem that no call of the application caused. The application gets it as an event.
struct Notice {
    enum class Kind : std::uint8_t { warning, store_lost };
    Kind kind = Kind::warning;
    std::string code;            // "corrupt-record", "store-lost", "slot-lost", …
    std::string message;         // one sentence for a person
    std::string subject;         // the key, slot or generation that the notice is about
    std::string previous;        // store_lost: the generation that vanished, if known
    std::int32_t recovered = 0;  // store_lost: the number of rows that were recovered
    std::optional<ErrorCode> failure =
        std::nullopt;  // the error of an operation that failed; `code` is empty then
};
using NoticeHandler = Function<void(const Notice&)>;

/// One counter of a namespace, as one tab uses it. guarantee() states what the strategy promises. A
/// call fails with the error codes of the storage or the transaction that it uses (world.hpp).
class Counter {
  public:
    virtual ~Counter() = default;
    /// Adds `n` and returns the value that this tab then knows. Requires that `n` lies within
    /// ±value_max. Fails with out_of_range if the value would leave that range; then nothing is
    /// added.
    virtual Task<std::int64_t> add(std::int64_t n) = 0;
    /// Returns the value in the strategy's store, with this tab's own increments. Like value(), it
    /// may lie outside ±value_max.
    virtual Task<std::int64_t> read() = 0;
    /// Returns once every increment that this tab made before the call is committed.
    virtual Task<void> flush() = 0;
    /// Returns the best-known value without waiting. It may lie outside ±value_max, because tabs
    /// add independently of each other; the caller must refuse such a value.
    [[nodiscard]] virtual std::int64_t value() const = 0;
    /// Calls `callback` after the value may have changed, at most once per turn, until the
    /// subscription is destroyed.
    virtual Subscription on_change(Function<void()> callback) = 0;
    /// Returns what the strategy promises, where the tab's rows are.
    [[nodiscard]] virtual Guarantee guarantee() const = 0;
};

}  // namespace tabacus
