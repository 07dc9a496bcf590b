// C++ threads that use the storage and the locks of a page. tests/node/threads-storers.test.js
// starts them.
#include <emscripten/emscripten.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>

#include "sync/main_arena.hpp"
#include "tabacus/threads/shared_lock.hpp"
#include "tabacus/threads/shared_storage.hpp"

namespace {

using tabacus::SharedLock;
using tabacus::SharedStorage;
using tabacus::sync::main_arena;

std::u16string text_of(std::uint32_t number) {
    const auto digits = std::to_string(number);
    return {digits.begin(), digits.end()};
}

std::uint32_t number_of(std::u16string_view digits) {
    std::uint32_t number = 0;
    for (const char16_t digit : digits) number = number * 10 + (digit - u'0');
    return number;
}

/// Increments the item `sum` `times` times. The lock makes each read and write one step.
void add(std::uint32_t times) {
    SharedStorage storage(main_arena());
    SharedLock lock(main_arena(), u"sum");
    for (std::uint32_t i = 0; i < times; ++i) {
        const std::scoped_lock held(lock);
        storage.set(u"sum", text_of(number_of(storage.get(u"sum").value_or(u"0")) + 1));
    }
}

/// Writes the old and the new value of each change to the item `echo`, until an item `stop`
/// changes.
void echo() {
    SharedStorage storage(main_arena());
    storage.set(u"echo", u"listens");
    while (const auto change = storage.next_change(std::chrono::hours(1))) {
        if (change->key == u"stop") break;
        const auto old_value = change->old_value.value_or(u"nothing");
        storage.set(u"echo", old_value + u" to " + change->new_value.value_or(u"nothing"));
    }
    storage.remove(u"echo");
}

/// Copies the item `sum` to `read`, under the lock in shared mode, which another thread may hold.
void read_sum() {
    SharedStorage storage(main_arena());
    SharedLock lock(main_arena(), u"sum");
    const std::shared_lock held(lock);
    storage.set(u"read", storage.get(u"sum").value_or(u"nothing"));
}

}  // namespace

extern "C" {

EMSCRIPTEN_KEEPALIVE void start_adding(std::uint32_t times) { std::thread(add, times).detach(); }
EMSCRIPTEN_KEEPALIVE void start_echo() { std::thread(echo).detach(); }
EMSCRIPTEN_KEEPALIVE void start_reading() { std::thread(read_sum).detach(); }
}
