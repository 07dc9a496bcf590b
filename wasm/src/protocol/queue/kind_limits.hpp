// KindLimits: the bound on the kinds of jobs in a queue, within one transaction over its rows. The
// queue's head lists the kinds. It may also list kinds of which no jobs are left.
//
//   state of a kind   meaning                            what ends the state
//   listed            jobs of the kind are accepted      recount(), if no job has it: unlisted
//   unlisted          its first job needs room           admit(): listed, or refused if there are
//                                                        kinds_max kinds
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "rows.hpp"

namespace tabacus {

class KindLimits {
  public:
    explicit KindLimits(QueueRows& rows) : rows_(rows) {}

    /// Returns false if `more` kinds would be too many. recount() may make room.
    [[nodiscard]] bool has_room(std::size_t more) const;
    /// Adds the kind to the head if it is not there. Returns false if there are too many kinds.
    bool admit(const std::string& kind);
    /// Returns the reason if no job may have this kind, because there are too many kinds. Otherwise
    /// the head lists the kind from here on.
    std::optional<Error> refusal_of(const std::string& kind);
    /// Removes from the head the kinds of which there are no jobs.
    Task<void> recount();

  private:
    QueueRows& rows_;
};

}  // namespace tabacus
