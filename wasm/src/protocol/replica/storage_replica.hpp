// StorageReplica: a replica where there is no IndexedDB. Its rows are in localStorage.
//
// Every tab has a row of its own, which no other tab ever writes, because a tab may read a stale
// copy of localStorage (docs/decisions/0001). So a StorageReplica adopts no slot, and its writes
// need no fence.
//
// Its methods are in a piece of the program that is loaded only where they are needed (`storage` in
// bridge/exports.js). Other pieces call them through the virtual table.
#pragma once

#include <string>
#include <utility>

#include "replica.hpp"

namespace tabacus {

class StorageReplica final : public Replica {
  public:
    StorageReplica(World& world, const Names& names, NoticeHandler on_notice, std::string data_loss)
        : Replica(world, names, Medium::storage, std::move(on_notice), std::move(data_loss)) {}

    Task<bool> load_rows(const std::list<ReadRequest>& requests) override;
    Task<void> commit_rows(std::size_t most) override;
};

}  // namespace tabacus
