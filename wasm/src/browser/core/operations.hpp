// Operations that the host has under way, each an Async that waits for one answer.
//
// The host answers by calling back with the operation's number, and the waiting protocol goes on
// inside that call: an IndexedDB transaction is active only while its request's event is dispatched
// (Indexed Database API 3.0 §2.7.1), so a Promise in between would be a turn too late on old
// engines. A host that knows the answer gives it within the call that asks.
#pragma once

#include <list>
#include <memory>
#include <utility>

#include "browser/generated/host.hpp"
#include "tabacus/common/task.hpp"

namespace tabacus::browser {

class Operations {
  public:
    template <typename T>
    struct Begun {
        int operation;
        Async<T> answer;
    };
    /// Begins an operation, whose number is for the call that asks the host; `read` makes the result of
    /// its answer.
    template <typename T, typename Read>
    Begun<T> begin(Read read) {
        const Shared<Asked<T, Read>> asked(std::make_unique<Asked<T, Read>>(std::move(read)));
        const int number = add(asked, [](detail::Operation& operation, Texts& answer) {
            auto& self = static_cast<Asked<T, Read>&>(operation);
            self.complete(self.read(answer));
        });
        return {number, Async<T>(asked)};
    }

    /// The number of the operation that begins next.
    [[nodiscard]] int next() const { return static_cast<int>(next_); }

    void settled(int operation, Texts&& answer);
    void failed(int operation, ErrorCode code, const std::string& message);

  private:
    template <typename T, typename Read>
    struct Asked final : detail::OperationOf<T> {
        explicit Asked(Read reader) : read(std::move(reader)) {}
        Read read;
    };
    using Answer = void (*)(detail::Operation& asked, Texts& answer);
    struct UnderWay {
        int number = 0;
        Answer answer = nullptr;
        Shared<detail::Operation> asked;
    };

    int add(Shared<detail::Operation> asked, Answer answer);
    /// Nothing for a number that is not under way: an answer may come twice (an abort, and the
    /// error behind it).
    std::optional<UnderWay> take(int number);

    std::list<UnderWay> under_way_;
    /// Wraps after 2^32 operations.
    unsigned next_ = 0;
};

/// For operations whose answer is that they happened.
inline Unit read_unit(const Texts&) { return {}; }

/// For those that answer one text or null.
inline Text read_text(Texts& answer) { return std::move(answer.front()); }

}  // namespace tabacus::browser
