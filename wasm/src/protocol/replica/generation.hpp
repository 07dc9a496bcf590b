// Generation: which incarnation of the database this replica knows, and the recovery of a vanished
// one.
//
//   state     meaning                                    who may leave the state, and how
//   unknown   this replica has adopted no slot yet; the  adopt(): an adoption has committed
//             backup may know an earlier generation
//   known     the database had this id at the last       adopt(), with another id if the database
//             adoption                                   vanished
//
//   loss reported   meaning                                           who may change it, and how
//   false           the browser has reported no loss                  on_created()
//   true            it made the database anew, after a total loss     adopt()
//
// Any tab may recover rows, in any order, any number of times: a row keeps the name of the
// generation in which it was written, no replica writes it any more, and the larger totals win.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tabacus/common/counter.hpp"
#include "tabacus/common/task.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

class Backup;
class CounterSet;
class ReplicaNotices;
class ReplicaSlot;

class Generation {
  public:
    /// `data_loss`: what the browser reported when it made the database, if it did so before.
    explicit Generation(std::string data_loss) : data_loss_(std::move(data_loss)) {}

    /// The id of the database as last seen; empty if it is unknown.
    [[nodiscard]] const std::string& id() const { return id_; }
    void adopt(const std::string& id) {
        id_ = id;
        data_loss_.clear();
    }
    /// Notes that the browser has made the database, and reports `data_loss`.
    void on_created(const std::string& data_loss) { data_loss_ = data_loss; }
    /// Returns true if the browser reported a total loss that no adoption has dealt with yet.
    [[nodiscard]] bool loss_reported() const { return data_loss_ == "total"; }

    /// Returns the id of this database. If the database has none, makes one and sets `made`. Fills
    /// `loss` as compare() does.
    Task<std::string> settle(Transaction& transaction, Backup& backup, ReplicaNotices& notices,
                             Random& random, Notice& loss, bool& made) const;
    /// Fills `loss` if the database `id` is not the one that this tab, the backup (`previous`) or
    /// the browser remembers.
    void compare(const std::string& id, const std::string& previous, Notice& loss) const;
    /// Returns true if `row`, of the key "generation", holds an id.
    static bool readable(const std::optional<Row>& row);

  private:
    std::string id_;
    std::string data_loss_;
};

/// Puts back the rows of other generations for which the database has smaller totals than this
/// tab's memory, or, if a database was `lost`, than the backup. A row that only a newer version's
/// backup has is put back as it is; such a backup never replaces a row that can be read. Returns
/// the number of rows that were put back.
Task<std::int32_t> recover(Transaction& transaction, std::string_view generation, Backup& backup,
                           CounterSet& counters, const ReplicaSlot& slot, bool lost);

}  // namespace tabacus
