#pragma once

#include <cstdint>
#include <new>

#include "tabacus/sync/shared_lock_table.hpp"
#include "tabacus/sync/storage_table.hpp"

// What JavaScript calls in store.wasm: the storage and the locks that threads share, for who asks
// for them. Like attach.wasm (attach/attach_abi.hpp) it is freestanding, and every thread has an instance,
// the page too: who only counts loads none of it.
//
// A room is its address, a text or an item a block's number. Everything on a storage happens
// between room_enter and room_leave, in which JavaScript reads and writes texts by itself
// (js/threads/segment/texts.js).

#define TABACUS_STORE(type, name) extern "C" __attribute__((export_name(#name))) type name

using tabacus::sync::StorageTable;

TABACUS_STORE(std::uint32_t, storage_room_bytes)(std::uint32_t quota_bytes) {
    return StorageTable::room_bytes(quota_bytes);
}

TABACUS_STORE(StorageTable*, storage_make)
(void* room, std::uint32_t bytes, std::uint32_t quota_bytes, std::uint32_t life0,
 std::uint32_t life1) {
    auto* made = new (room) StorageTable(bytes, quota_bytes);
    made->head().life = {life0, life1};
    return made;
}

TABACUS_STORE(std::uint32_t, storage_join)
(StorageTable* storage, tabacus::sync::Owner self, std::uint32_t thread) {
    return storage->join(self, thread) ? 1 : 0;
}

TABACUS_STORE(void, storage_bury)
(StorageTable* storage, tabacus::sync::Owner dead, tabacus::sync::Owner self) {
    storage->bury(dead, self);
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

// All below: inside. Who is not any more, since it was taken for dead, is refused.

TABACUS_STORE(std::uint32_t, storage_inside)(StorageTable* storage, tabacus::sync::Owner self) {
    return storage->inside(self) ? 1 : 0;
}

TABACUS_STORE(std::uint32_t, storage_text)(StorageTable* storage, std::uint32_t units) {
    return storage->make_text(units);
}

TABACUS_STORE(void, storage_give)(StorageTable* storage, std::uint32_t text) {
    storage->give_text(text);
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

// The block of that change, or 0.
TABACUS_STORE(std::uint32_t, storage_change)(StorageTable* storage, std::uint32_t number) {
    return storage->change(number);
}

TABACUS_STORE(std::uint32_t, storage_count)(StorageTable* storage) { return storage->count(); }

TABACUS_STORE(std::uint32_t, storage_quota)(StorageTable* storage) {
    return storage->quota_bytes();
}

// Locks.

using tabacus::sync::LockTable;

TABACUS_STORE(std::uint32_t, locks_room_bytes)() { return LockTable::room_bytes; }

TABACUS_STORE(LockTable*, locks_make)(void* room, std::uint32_t life0, std::uint32_t life1) {
    auto* made = new (room) LockTable(LockTable::room_bytes);
    made->head().life = {life0, life1};
    return made;
}

TABACUS_STORE(std::uint32_t, locks_join)
(LockTable* locks, tabacus::sync::Owner self, std::uint32_t thread) {
    return locks->join(self, thread) ? 1 : 0;
}

TABACUS_STORE(void, locks_bury)
(LockTable* locks, tabacus::sync::Owner dead, tabacus::sync::Owner self, std::uint32_t may_sleep) {
    locks->bury(dead, self, may_sleep != 0);
}

TABACUS_STORE(std::uint32_t, locks_enter)
(LockTable* locks, tabacus::sync::Owner self, std::uint32_t may_sleep) {
    return locks->enter(self, may_sleep != 0) ? 1 : 0;
}

TABACUS_STORE(void, locks_leave)(LockTable* locks, tabacus::sync::Owner self) {
    locks->leave(self);
}

TABACUS_STORE(std::uint32_t, locks_occupied)(LockTable* locks) { return locks->occupied() ? 1 : 0; }

// All below: inside.

TABACUS_STORE(std::uint32_t, locks_inside)(LockTable* locks, tabacus::sync::Owner self) {
    return locks->inside(self) ? 1 : 0;
}

TABACUS_STORE(std::uint32_t, locks_text)(LockTable* locks, std::uint32_t units) {
    return locks->make_text(units);
}

// The request's block; 0 if it is not available, the highest number if there is no room.
TABACUS_STORE(std::uint32_t, locks_request)
(LockTable* locks, tabacus::sync::Owner client, std::uint32_t name, tabacus::sync::LockMode mode,
 tabacus::sync::LockHow how) {
    return locks->request(client, name, mode, how);
}

TABACUS_STORE(void, locks_release)(LockTable* locks, std::uint32_t request) {
    locks->release(request);
}

TABACUS_STORE(std::uint32_t, locks_abort)(LockTable* locks, std::uint32_t request) {
    return locks->abort(request) ? 1 : 0;
}
