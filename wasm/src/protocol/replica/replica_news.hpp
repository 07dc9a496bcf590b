// ReplicaNews: this tab's totals for other tabs, and theirs for this tab.
//
//   state       meaning                                   who may leave the state, and how
//   unfollowed  no caller reads or observes a value: the  follow(): the first subscription or read
//               tab receives nothing, and opens a         of a counter
//               channel only to post
//   listening   the channel is open, unless the page is   nothing
//               left, or the platform has none
//
//   loop         begins                                   ends
//   announcing   when an own row is to be announced       when all are announced, or the page is
//                                                         left
//   reminding    when own rows are committed              a moment later: they are announced once
//                                                         more
//   confirming   when another tab's totals are received   when the store was read: totals that it
//                                                         does not have are checked once more, and
//                                                         then forgotten
//
// A message has a line for each counter. Version 0.1.0 reads messages of one line only.
//
// Totals are cumulative, so that order, repetition and loss of messages do no harm. They are
// announced before they are committed, and not believed for long: what was received is checked
// against the store after a while, and forgotten if the store does not confirm it.
//
// Receiving the messages of all other tabs is costly. So a tab listens only once the application in
// it reads or observes the value of a counter ("follows" it), and ignores the totals of the other
// counters. Without IndexedDB every counter is followed from the start, since a tab learns of other
// tabs' increments by messages only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "protocol/common/record.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

class CounterSet;
class Replica;
class ReplicaSlot;
struct CounterState;

class ReplicaNews {
  public:
    [[nodiscard]] bool listening() const { return listening_; }
    /// Requires that `channel` is null or has a listener.
    void listen(std::unique_ptr<Channel> channel) {
        listening_ = true;
        channel_ = std::move(channel);
    }
    /// Null while the tab does not listen, its page is left, and where the platform has no
    /// channels.
    [[nodiscard]] Channel* channel() const { return channel_.get(); }
    void close_channel() { channel_.reset(); }

    [[nodiscard]] bool announcing() const { return announcing_; }
    void set_announcing(bool announcing) { announcing_ = announcing; }
    [[nodiscard]] bool reminding() const { return reminding_; }
    void set_reminding(bool reminding) { reminding_ = reminding; }
    [[nodiscard]] bool confirming() const { return confirming_; }
    void set_confirming(bool confirming) { confirming_ = confirming; }

    /// Notes that a tab of version 0.1.0 has sent a message. Returns true in the first call only.
    bool meet_older_version() {
        expect_older_version();
        return !std::exchange(older_version_met_, true);
    }
    /// Notes that a tab of version 0.1.0 may be open.
    void expect_older_version() { older_version_expected_ = true; }
    [[nodiscard]] bool older_version_expected() const { return older_version_expected_; }

  private:
    std::unique_ptr<Channel> channel_;
    bool listening_ = false;
    bool announcing_ = false;
    bool reminding_ = false;
    bool confirming_ = false;
    bool older_version_met_ = false;
    bool older_version_expected_ = false;
};

/// Opens the channel, and listens.
void listen(Replica& replica);

/// Keeps the value of a counter current from here on. Reads the store at the end of the turn,
/// because the tab may have missed announcements before it listened.
void follow(Replica& replica, CounterState& state);

/// Takes the own rows that are due (counter_news.hpp), and returns the messages that announce them.
/// All rows share one message, with a line for each row. But a tab of version 0.1.0 reads only
/// messages of one line: a counter that such a tab has counted gets a message of its own, and so
/// does every counter if `older_version` is true. A row without a base (own_row.hpp) is left out,
/// because its totals are not known; the commit that finds its base makes it due again. If the
/// messages become too long, the other rows are left for the next call.
std::list<std::string> take_announcements(const CounterSet& counters, const ReplicaSlot& slot,
                                          bool older_version);

/// Posts messages to the tabs that listen.
void post(Replica& replica, const std::list<std::string>& messages);

/// Announces own rows at once, and then in each frame until nothing is left to be announced.
void start_announcing(Replica& replica);

/// Announces committed rows once more, a moment later, so that a tab that missed or forgot the
/// first announcement checks the store.
void start_reminding(Replica& replica);

/// Announces at once what start_announcing() and start_reminding() would announce later, because
/// the page is left.
void announce_at_once(Replica& replica);

}  // namespace tabacus
