// RowCache: what one tab knows of the rows of one counter.
//
// For each row it holds what the store held (committed) and what its owner announced (announced).
// Announcements make a change visible in other tabs before it is committed. They may be wrong, and
// may never be committed.
//
//   state of a row       meaning                              who may leave the state, and how
//   stored               the store held it, and nothing       merge_announced() with newer totals
//                        newer is announced
//   ahead of the store   its owner announced newer totals     merge_committed(): the store caught
//                                                             up; age_announcements(): its owner
//                                                             is gone
//
// Within an epoch totals only grow. A newer epoch replaces an older one, since its owner began with
// what the store held.
#pragma once

#include <list>
#include <string>
#include <string_view>

#include "protocol/common/record.hpp"

namespace tabacus {

/// The most rows that this tab keeps because of announcements. The bound limits the memory that
/// another script on the channel can make this tab use. Rows that are announced and never stored
/// are forgotten after a while.
constexpr std::size_t cached_rows_max = 1000;

/// What this tab knows of a row of another replica.
struct CachedRow {
    std::string id;  // "generation/slot"
    TotalsRecord committed;
    TotalsRecord announced;
    int checks = 0;  // how often the store was read since without confirming the announcement

    [[nodiscard]] bool ahead_of_store() const;
    [[nodiscard]] Totals believed() const;
};

class RowCache {
  public:
    /// Merges what the store holds in a row. Older epochs are ignored.
    void merge_committed(std::string_view id, TotalsRecord record);
    /// Merges what a row's owner announced. Older epochs are ignored, and a further row once there
    /// are cached_rows_max.
    void merge_announced(std::string_view id, TotalsRecord record);
    /// Requires that the store was just read. Forgets every announcement that it has not confirmed
    /// for the `checks_max`-th time. Returns true if some are left to be confirmed.
    bool age_announcements(int checks_max);
    /// Removes a row, whose owner is this tab from here on.
    void remove(std::string_view id);

    [[nodiscard]] const std::list<CachedRow>& rows() const { return rows_; }
    /// What the store held in a row; nothing if it is not known to have the row.
    [[nodiscard]] Totals committed(std::string_view id);
    /// The sum over the rows, with announcements (sum) or without them. Saturates at ±total_max,
    /// far beyond any value that may be shown.
    [[nodiscard]] std::int64_t sum() const;
    [[nodiscard]] std::int64_t committed_sum() const;
    /// Whether version 0.1.0 has written or announced one of the rows, so that a tab of that
    /// version may use the counter.
    [[nodiscard]] bool has_older_version() const;

  private:
    [[nodiscard]] CachedRow* find(std::string_view id);
    CachedRow& row_of(std::string_view id);
    std::list<CachedRow> rows_;
};

/// `a + b`, saturating at ±total_max.
std::int64_t saturating_add(std::int64_t a, std::int64_t b);

}  // namespace tabacus
