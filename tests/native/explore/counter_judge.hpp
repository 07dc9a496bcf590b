// CounterJudge: Jepsen's rule for counters (jepsen.checker/counter). The value of every read lies
// between the sum of all increments that were acknowledged when it began and the sum of all that
// were attempted when it ended. An increment of unknown outcome widens only the upper bound. For
// decrements the bounds are exchanged.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tabacus::test {

class CounterJudge {
  public:
    struct Sum {
        std::int64_t plus = 0;
        std::int64_t minus = 0;
        void add(std::int64_t n) { (n < 0 ? minus : plus) += n < 0 ? -n : n; }
    };
    /// The sums that were acknowledged when a read began.
    using Reading = Sum;

    void attempt(std::int64_t n) { attempted_.add(n); }
    void acknowledge(Sum sum) {
        acknowledged_.plus += sum.plus;
        acknowledged_.minus += sum.minus;
    }

    [[nodiscard]] Reading begin_read() const { return acknowledged_; }
    void end_read(const Reading& reading, std::int64_t value, const std::string& reader) {
        const auto min = reading.plus - attempted_.minus;
        const auto max = attempted_.plus - reading.minus;
        ++reads_;
        if (value >= min && value <= max) return;
        failures_.push_back(reader + " read " + std::to_string(value) + ", allowed " +
                            std::to_string(min) + " to " + std::to_string(max));
    }

    [[nodiscard]] Sum attempted() const { return attempted_; }
    [[nodiscard]] Sum acknowledged() const { return acknowledged_; }
    [[nodiscard]] const std::vector<std::string>& failures() const { return failures_; }
    [[nodiscard]] std::uint64_t reads() const { return reads_; }

  private:
    Sum attempted_;
    Sum acknowledged_;
    std::vector<std::string> failures_;
    std::uint64_t reads_ = 0;
};

}  // namespace tabacus::test
