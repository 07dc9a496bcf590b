// Operations that the host has under way, each an Async that waits for one settle().
//
// The host answers by calling back with the operation's number, and the waiting protocol goes on
// inside that call: an IndexedDB transaction is active only while its request's event is dispatched
// (Indexed Database API 3.0 §2.7.1), so a Promise in between would be a turn too late on old engines
// and costs a microtask and four allocations on all.
#pragma once

#include <emscripten/val.h>

#include <exception>
#include <functional>
#include <utility>
#include <vector>

#include "tabacus/task.hpp"

namespace tabacus::browser {

/// What the host reports of a failure, [code, message], as the exception that a protocol catches.
std::exception_ptr failure_from(const emscripten::val& report);

class Operations {
 public:
    /// Registers an operation; its number goes to the host. `read` makes the result of the answer.
    template <typename T, typename Read>
    int begin(const Completer<T>& completer, Read read) {
        return add([completer, read](bool ok, const emscripten::val& answer) {
            if (ok) {
                completer.complete(read(answer));
            } else {
                completer.fail(failure_from(answer));
            }
        });
    }

    /// Ends an operation. A number that is not under way is ignored: an answer may come twice (an
    /// abort and the error behind it).
    void settle(int id, bool ok, const emscripten::val& answer);

 private:
    using Settle = std::function<void(bool, const emscripten::val&)>;
    int add(Settle settle);

    std::vector<std::pair<int, Settle>> under_way_;
    int last_id_ = 0;
};

/// For operations whose answer is that they happened.
inline Unit read_unit(const emscripten::val&) {
    return {};
}

}  // namespace tabacus::browser
