#pragma once

#include <cstdint>
#include <new>

#include "tabacus/sync/shared_lock_table.hpp"
#include "tabacus/sync/storage_table.hpp"

// The functions of store.wasm that JavaScript calls, for the storage and the locks that threads
// share. Like attach.wasm (attach/attach_abi.hpp), the module is freestanding. The page and every
// thread that uses the storage or the locks have instances of their own. A thread that only counts
// does not load it.
//
// A segment is passed as its address, a text or an item as the number of its block. All operations
// on a storage take place between storage_enter and storage_leave. There JavaScript also reads and
// writes texts itself (js/threads/segment/texts.js).

#define TABACUS_STORE(type, name) extern "C" __attribute__((export_name(#name))) type name

using tabacus::sync::StorageTable;

TABACUS_STORE(std::uint32_t, storage_segment_bytes)(std::uint32_t quota_bytes) {
    return StorageTable::segment_bytes(quota_bytes);
}

TABACUS_STORE(StorageTable*, storage_make)
(void* segment, std::uint32_t bytes, std::uint32_t quota_bytes, std::uint32_t id0,
 std::uint32_t id1) {
    auto* made = new (segment) StorageTable(bytes, quota_bytes);
    made->head().id = {id0, id1};
    return made;
}

TABACUS_STORE(std::uint32_t, storage_join)
(StorageTable* storage, tabacus::sync::Owner self, std::uint32_t thread) {
    return storage->join(self, thread) ? 1 : 0;
}

TABACUS_STORE(void, storage_exit)
(StorageTable* storage, tabacus::sync::Owner exited, tabacus::sync::Owner self) {
    storage->report_exit(exited, self);
}

TABACUS_STORE(std::uint32_t, storage_enter)
(StorageTable* storage, tabacus::sync::Owner self, std::uint32_t may_sleep) {
    return storage->enter(self, may_sleep != 0) ? 1 : 0;
}

TABACUS_STORE(void, storage_leave)(StorageTable* storage, tabacus::sync::Owner self) {
    storage->leave(self);
}

TABACUS_STORE(std::uint32_t, storage_occupied)(StorageTable* storage) {
    return storage->occupied() ? 1 : 0;
}

// The caller of all functions below must be inside. It checks with storage_inside() that it still
// is, because a thread that was presumed dead is not.

TABACUS_STORE(std::uint32_t, storage_inside)(StorageTable* storage, tabacus::sync::Owner self) {
    return storage->inside(self) ? 1 : 0;
}

TABACUS_STORE(std::uint32_t, storage_text)(StorageTable* storage, std::uint32_t units) {
    return storage->make_text(units);
}

TABACUS_STORE(void, storage_free)(StorageTable* storage, std::uint32_t text) {
    storage->release_text(text);
}

TABACUS_STORE(std::uint32_t, storage_find)(StorageTable* storage, std::uint32_t key) {
    return storage->find(key);
}

TABACUS_STORE(tabacus::sync::Stored, storage_set)
(StorageTable* storage, tabacus::sync::Owner writer, std::uint32_t key, std::uint32_t value) {
    return storage->set(writer, key, value);
}

TABACUS_STORE(tabacus::sync::Stored, storage_remove)
(StorageTable* storage, tabacus::sync::Owner writer, std::uint32_t key) {
    return storage->remove(writer, key);
}

TABACUS_STORE(tabacus::sync::Stored, storage_clear)
(StorageTable* storage, tabacus::sync::Owner writer) { return storage->clear(writer); }

TABACUS_STORE(void, storage_listen)(StorageTable* storage) { storage->listen(); }

// Returns the block of the change with that number, or 0.
TABACUS_STORE(std::uint32_t, storage_change)(StorageTable* storage, std::uint32_t number) {
    return storage->change(number);
}

TABACUS_STORE(std::uint32_t, storage_count)(StorageTable* storage) { return storage->count(); }

TABACUS_STORE(std::uint32_t, storage_quota)(StorageTable* storage) {
    return storage->quota_bytes();
}

// Locks.

using tabacus::sync::SharedLockTable;

TABACUS_STORE(std::uint32_t, locks_segment_bytes)() { return SharedLockTable::segment_bytes; }

TABACUS_STORE(SharedLockTable*, locks_make)(void* segment, std::uint32_t id0, std::uint32_t id1) {
    auto* made = new (segment) SharedLockTable(SharedLockTable::segment_bytes);
    made->head().id = {id0, id1};
    return made;
}

TABACUS_STORE(std::uint32_t, locks_join)
(SharedLockTable* locks, tabacus::sync::Owner self, std::uint32_t thread) {
    return locks->join(self, thread) ? 1 : 0;
}

TABACUS_STORE(void, locks_exit)
(SharedLockTable* locks, tabacus::sync::Owner exited, tabacus::sync::Owner self,
 std::uint32_t may_sleep) {
    locks->report_exit(exited, self, may_sleep != 0);
}

TABACUS_STORE(std::uint32_t, locks_enter)
(SharedLockTable* locks, tabacus::sync::Owner self, std::uint32_t may_sleep) {
    return locks->enter(self, may_sleep != 0) ? 1 : 0;
}

TABACUS_STORE(void, locks_leave)(SharedLockTable* locks, tabacus::sync::Owner self) {
    locks->leave(self);
}

TABACUS_STORE(std::uint32_t, locks_occupied)(SharedLockTable* locks) {
    return locks->occupied() ? 1 : 0;
}

// The caller of all functions below must be inside.

TABACUS_STORE(std::uint32_t, locks_inside)(SharedLockTable* locks, tabacus::sync::Owner self) {
    return locks->inside(self) ? 1 : 0;
}

TABACUS_STORE(std::uint32_t, locks_text)(SharedLockTable* locks, std::uint32_t units) {
    return locks->make_text(units);
}

// Returns the request's block; 0 if the lock is not available, 2^32 − 1 if there is no memory.
TABACUS_STORE(std::uint32_t, locks_request)
(SharedLockTable* locks, tabacus::sync::Owner client, std::uint32_t name,
 tabacus::sync::LockMode mode, tabacus::sync::LockHow how) {
    return locks->request(client, name, mode, how);
}

TABACUS_STORE(void, locks_release)(SharedLockTable* locks, std::uint32_t request) {
    locks->release(request);
}

TABACUS_STORE(std::uint32_t, locks_abort)(SharedLockTable* locks, std::uint32_t request) {
    return locks->abort(request) ? 1 : 0;
}
