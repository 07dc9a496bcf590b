#include "browser/core/operations.hpp"

#include <algorithm>

namespace tabacus::browser {

int Operations::add(Shared<detail::Operation> asked, Answer answer) {
    const int number = static_cast<int>(next_++);
    under_way_.push_back({number, answer, std::move(asked)});
    return number;
}

std::optional<Operations::UnderWay> Operations::take(int number) {
    const auto found =
        std::find_if(under_way_.begin(), under_way_.end(),
                     [number](const UnderWay& other) { return other.number == number; });
    if (found == under_way_.end()) return std::nullopt;
    UnderWay taken = std::move(*found);
    // The operation is erased before it is settled, because code that settling resumes may begin
    // operations.
    under_way_.erase(found);
    return taken;
}

void Operations::settled(int operation, Texts&& answer) {
    if (const auto it = take(operation)) it->answer(*it->asked, answer);
}

void Operations::failed(int operation, ErrorCode code, const std::string& message) {
    const auto it = take(operation);
    if (!it) return;
    it->asked->fail(failure_of(Error(code, message)));
}

}  // namespace tabacus::browser
