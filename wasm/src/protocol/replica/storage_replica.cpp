#include "storage_replica.hpp"

#include <string_view>

#include "protocol/common/concat.hpp"

namespace tabacus {

Task<bool> StorageReplica::load_rows(CounterState& state) {
    const auto prefix = names_.stored_row(concat({state.key, "/"}));
    for (const auto& key : co_await world_.storage().keys(prefix)) {
        const auto value = co_await world_.storage().get(key);
        if (value) merge_row(state, std::string_view(key).substr(prefix.size()), *value, false);
    }
    co_return true;
}

Task<void> StorageReplica::commit_rows() {
    for (const auto& row : gather(Durability::strict)) {
        co_await world_.storage().set(names_.stored_row(row_key(row.state->key, row_)),
                                      format_totals({row_epoch_, row.totals}));
        committed({row});
    }
}

}  // namespace tabacus
