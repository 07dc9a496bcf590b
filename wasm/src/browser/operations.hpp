// Operations that the host has under way, each an Async that waits for one answer.
//
// The host answers by calling back with the operation's number, and the waiting protocol goes on
// inside that call: an IndexedDB transaction is active only while its request's event is dispatched
// (Indexed Database API 3.0 §2.7.1), so a Promise in between would be a turn too late on old
// engines. A host that knows the answer gives it within the call that asks.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "browser/border.hpp"
#include "tabacus/task.hpp"

namespace tabacus::browser {

class Operations {
  public:
    /// Asks the host; `read` makes the result of its answer.
    template <typename T, typename Read>
    Async<T> ask(Call what, Words words, Read read) {
        const Completer<T> completer;
        words.operation = add([completer, read](Texts* answer, const std::exception_ptr& failure) {
            if (answer) {
                completer.complete(read(*answer));
            } else {
                completer.fail(failure);
            }
        });
        call(what, words);
        return completer.async();
    }

    /// The number of the last operation asked for.
    [[nodiscard]] int last() const { return last_; }

    void settled(int operation, Texts answer);
    /// `report`: the code as the public API spells it, and a message.
    void failed(int operation, const Texts& report);

  private:
    using Settle = std::function<void(Texts*, const std::exception_ptr&)>;
    int add(Settle settle);
    /// Nothing for a number that is not under way: an answer may come twice (an abort, and the
    /// error behind it).
    Settle take(int operation);

    std::vector<std::pair<int, Settle>> under_way_;
    int last_ = 0;
};

/// For operations whose answer is that they happened.
inline Unit read_unit(const Texts&) { return {}; }

/// For those that answer one text or null.
inline Text read_text(Texts& answer) { return std::move(answer.front()); }

}  // namespace tabacus::browser
