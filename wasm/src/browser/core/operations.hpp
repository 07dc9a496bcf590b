// Operations: the operations that the host has not answered yet. Each is an Async that waits for
// one answer.
//
// The host answers by a call with the operation's number, and the waiting protocol goes on inside
// that call. An IndexedDB transaction is active only while the event of its request is dispatched
// (Indexed Database API 3.0 §2.7.1); with a Promise in between, the protocol would go on too late
// in old engines. A host that has the answer at once gives it before the call that begins the
// operation returns.
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
    /// Begins an operation. Its number must be passed to the call of the host that starts it.
    /// `read(answer)` turns the answer into the result. If `read` has a method refusal(answer) that
    /// returns a failure, the operation fails with it.
    template <typename T, typename Read>
    Begun<T> begin(Read read) {
        const Shared<Asked<T, Read>> asked(std::make_unique<Asked<T, Read>>(std::move(read)));
        const int number = add(asked, [](detail::Operation& operation, Texts& answer) {
            auto& self = static_cast<Asked<T, Read>&>(operation);
            if constexpr (requires { self.read.refusal(answer); }) {
                if (auto refusal = self.read.refusal(answer)) return self.fail(std::move(refusal));
            }
            self.complete(self.read(answer));
        });
        return {number, Async<T>(asked)};
    }

    /// Returns the number of the operation that begins next.
    [[nodiscard]] int next() const { return static_cast<int>(next_); }

    /// Completes the operation with the host's answer.
    void settled(int operation, Texts&& answer);
    /// Fails the operation.
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
    /// Removes a pending operation and returns it. Returns nothing if it is not pending, because an
    /// answer may come twice (an abort, and the error that caused it).
    std::optional<UnderWay> take(int number);

    std::list<UnderWay> under_way_;
    unsigned next_ = 0;  // wraps around after 2^32 operations
};

/// Reads the answer of an operation that has no result.
inline Unit read_unit(const Texts&) { return {}; }

/// Reads an answer that is one text or null.
inline Text read_text(Texts& answer) { return std::move(answer.front()); }

}  // namespace tabacus::browser
