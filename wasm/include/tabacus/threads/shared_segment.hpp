#pragma once

#include <cstdlib>
#include <system_error>

#include "tabacus/sync/arena.hpp"

namespace tabacus {

/// @throws std::system_error not_enough_memory. Without exceptions it aborts
[[noreturn]] inline void throw_out_of_memory(const char* what) {
#ifdef __cpp_exceptions
    throw std::system_error(std::make_error_code(std::errc::not_enough_memory), what);
#else
    static_cast<void>(what);
    std::abort();
#endif
}

/// The table in the segment of that slot. Blocks until the page has made it: its main thread must
/// run.
///
/// @throws std::system_error not_enough_memory if there is no memory for it, or the page has closed
///   the memory before, or could not load what makes it. Without exceptions it aborts
template <class Table>
Table& segment_of(sync::Arena& arena, sync::SegmentSlot& slot) {
    const sync::Offset segment = arena.open_segment(slot);
    if (segment == 0) throw_out_of_memory("tabacus shared segment");
    return *arena.at<Table>(segment);
}

}  // namespace tabacus
