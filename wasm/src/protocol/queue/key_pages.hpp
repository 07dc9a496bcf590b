// KeyPages: where the jobs are that were accepted together with their keys, within one transaction
// over a queue's rows. A row for each key would cost more than all else of such a job. So a row,
// a page, has up to page_keys_max keys, and keys that are alike are read and written together.
//
// The key of a page's row is "q/i/<bound>". The page has the keys that are not behind its bound,
// and are behind the bound of the page before it. The bound of the last page is behind all keys. A
// page without keys has no row: its keys belong to the next page then. A page is "1", and of each
// key ";key;position": where its job was accepted. The job's row is the first one of the same part
// and kind that is not before that position.
//
//   state of a key   meaning                                leaves the state by
//   unknown          its page has not been read             read(), write(): known
//   known            find() returns its position, if any    set(), erase(): changed
//   changed          the change is not in the store yet     write(): written with its page
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tabacus/common/world.hpp"

namespace tabacus {

/// The most keys of a page.
constexpr std::size_t page_keys_max = 64;

class KeyPages {
  public:
    /// `queue`: the escaped name.
    KeyPages(Transaction& transaction, const std::string& queue);

    /// Reads the pages of these keys of jobs.
    Task<void> read(std::vector<std::string> keys);
    /// Returns the position of the job with that key, or an empty text. Requires read().
    [[nodiscard]] std::string find(std::string_view key) const;
    /// Whether these keys are on few pages, so that pages cost less than a row for each key.
    /// Requires read().
    [[nodiscard]] bool are_close(const std::set<std::string>& keys) const;
    /// Records the position of the job with that key.
    void set(std::string_view key, std::string position);
    void erase(std::string_view key) {
        if (!cleared_) set(key, {});
    }
    /// Erases all keys, and removes all pages.
    void clear();
    /// Writes the changes. Must be called once, after everything else.
    Task<void> write();
    /// Takes the pages that cannot be read, whose rows are to be quarantined. They count as empty.
    std::vector<Row> take_unreadable() { return std::exchange(unreadable_, {}); }

  private:
    struct Page {
        std::string from;  // the first key that is known to be on it
        std::map<std::string, std::string> positions;
    };
    using Pages = std::map<std::string, Page>;

    // Keys are spelt below as they are in pages.
    Task<void> read_pages(std::set<std::string> names);
    Async<std::vector<Row>> request(std::string_view from, std::uint32_t limit);
    void admit(std::string from, const std::vector<Row>& rows, bool last);
    Pages::iterator page_of(const std::string& name);
    void put(const std::string& bound, const Page& page);

    Transaction& transaction_;
    std::string prefix_;
    Pages pages_;                                 // that were read, by their bounds
    std::map<std::string, std::string> changes_;  // positions; empty: the key is erased
    std::vector<Row> unreadable_;
    bool cleared_ = false;
};

}  // namespace tabacus
