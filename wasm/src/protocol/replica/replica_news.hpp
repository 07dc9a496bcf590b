// ReplicaNews: this tab's totals for other tabs, and theirs for this tab.
//
//   loop         begins                                   ends
//   announcing   when an own row is to be announced       when all are announced, or the page is
//                                                         left
//   confirming   when another tab's totals are received   when the store has confirmed all of them,
//                                                         or they are forgotten
//
// Totals are cumulative, so that order, repetition and loss of messages do no harm. They are
// announced before they are committed, and not believed for long: what was received is checked
// against the store after a while, and forgotten if the store does not confirm it.
//
// There is no channel while the page is left, nor where the platform has none.
#pragma once

#include <memory>

#include "protocol/common/record.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

class CounterSet;
class Replica;
class ReplicaSlot;

class ReplicaNews {
  public:
    [[nodiscard]] bool has_channel() const { return channel_ != nullptr; }
    /// Requires that `channel` is null or has a listener.
    void set_channel(std::unique_ptr<Channel> channel) { channel_ = std::move(channel); }
    void close_channel() { channel_.reset(); }
    void post(const Message& message) const;
    /// Announces every own row that is to be announced and whose totals are known: until a row is
    /// based, they are not.
    void announce(CounterSet& counters, const ReplicaSlot& slot) const;

    [[nodiscard]] bool announcing() const { return announcing_; }
    void set_announcing(bool announcing) { announcing_ = announcing; }
    [[nodiscard]] bool confirming() const { return confirming_; }
    void set_confirming(bool confirming) { confirming_ = confirming; }

  private:
    std::unique_ptr<Channel> channel_;
    bool announcing_ = false;
    bool confirming_ = false;
};

/// Opens the channel, and listens.
void open_channel(Replica& replica);

/// Announces own rows now and every few milliseconds, until nothing is left to be announced.
void start_announcing(Replica& replica);

}  // namespace tabacus
