#pragma once

#include <cstdlib>
#include <system_error>

#include "tabacus/sync/arena.hpp"

namespace tabacus {

/// @throws std::system_error not_enough_memory. Without exceptions it aborts
[[noreturn]] inline void throw_no_room(const char* what) {
#ifdef __cpp_exceptions
    throw std::system_error(std::make_error_code(std::errc::not_enough_memory), what);
#else
    static_cast<void>(what);
    std::abort();
#endif
}

/// The table in the room behind that door. Blocks until the page has made it: its main thread must
/// run.
///
/// @throws std::system_error not_enough_memory if there is no memory for it, or the page has closed
///   the memory before, or could not load what makes it. Without exceptions it aborts
template <class Table>
Table& room_of(sync::Arena& arena, sync::RoomDoor& door) {
    const sync::Offset room = arena.room_behind(door);
    if (room == 0) throw_no_room("room");
    return *arena.at<Table>(room);
}

}  // namespace tabacus
