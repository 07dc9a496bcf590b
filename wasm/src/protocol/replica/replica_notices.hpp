// ReplicaNotices: what a replica reports to its tab.
//
//   a record    reported                            who may leave the state, and how
//   readable    never                               another script writes what cannot be parsed
//   unreadable  once, by the first                  nothing: a record of that key is not reported
//               warn_unreadable()                   again
#pragma once

#include <list>
#include <string>
#include <string_view>
#include <utility>

#include "tabacus/common/counter.hpp"
#include "tabacus/common/error.hpp"

namespace tabacus {

class ReplicaNotices {
  public:
    explicit ReplicaNotices(NoticeHandler on_notice) : on_notice_(std::move(on_notice)) {}

    void report(const Notice& notice) const { on_notice_(notice); }
    void warn(std::string_view code, std::string_view message, std::string_view subject) const;
    void warn(const Error& failure, std::string_view subject) const;
    /// Warns once of each record, however often it is met.
    void warn_unreadable(std::string_view where, std::string_view key);

  private:
    NoticeHandler on_notice_;
    std::list<std::string> unreadable_;
};

}  // namespace tabacus
