// KeyIndex: the index rows of some keys. The index row of a key says in which row the job with that
// key is. If there are many keys that begin alike, few requests read or remove all their rows.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tabacus/common/world.hpp"

namespace tabacus {

class KeyIndex {
  public:
    explicit KeyIndex(Transaction& transaction) : transaction_(transaction) {}

    /// Adds the row of this key, as QueueRows::index_key() returns it.
    void add(std::string row_key) { rows_.emplace(std::move(row_key), ""); }
    // One of the following two is called, once, after all rows were added.

    /// Reads the rows that were added.
    Task<void> read();
    /// Returns the value of the row, which is empty if there is no such row.
    std::string& value(const std::string& row_key) { return rows_[row_key]; }
    /// Removes the rows that were added.
    Task<void> remove();

  private:
    using Rows = std::map<std::string, std::string>;

    void begin();
    Task<std::vector<Row>> list();

    Transaction& transaction_;
    Rows rows_;
    /// The first key that no list has reached yet.
    Rows::iterator unlisted_;
    /// Whether the next request is a list.
    bool listing_ = false;
};

}  // namespace tabacus
