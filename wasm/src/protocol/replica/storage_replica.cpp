#include "storage_replica.hpp"

#include <string_view>

#include "protocol/common/concat.hpp"

namespace tabacus {

Task<bool> StorageReplica::load_rows(const std::list<ReadRequest>& requests) {
    for (const auto& [state, done] : requests) {
        const auto prefix = names.stored_row(concat({state->key, "/"}));
        for (const auto& key : co_await world.storage().keys(prefix)) {
            const auto value = co_await world.storage().get(key);
            if (!value) continue;
            merge_row(*this, *state, std::string_view(key).substr(prefix.size()), *value, false);
        }
    }
    co_return true;
}

Task<void> StorageReplica::commit_rows(std::size_t most) {
    for (const auto& row : counters.gather(Durability::strict, most)) {
        co_await world.storage().set(names.stored_row(row_key(row.state->key, slot.row())),
                                     format_totals({slot.epoch(), row.totals}));
        committer.committed({row});
    }
}

}  // namespace tabacus
