#pragma once

#include <cstdlib>
#include <system_error>

#include "tabacus/sync/arena.hpp"

namespace tabacus {

/// Throws std::system_error not_enough_memory. Where exceptions are off, aborts the program.
[[noreturn]] inline void throw_out_of_memory(const char* what) {
#ifdef __cpp_exceptions
    throw std::system_error(std::make_error_code(std::errc::not_enough_memory), what);
#else
    static_cast<void>(what);
    std::abort();
#endif
}

/// Returns the table in the segment of that slot. Blocks until the page has made the segment.
/// Requires that the page's main thread runs.
///
/// @throws std::system_error not_enough_memory if there is no memory for the segment, if the page
///   has closed the memory, or if it could not load store.wasm. Where exceptions are off, aborts
///   the program instead
template <class Table>
Table& segment_of(sync::Arena& arena, sync::SegmentSlot& slot) {
    const sync::Offset segment = arena.open_segment(slot);
    if (segment == 0) throw_out_of_memory("tabacus shared segment");
    return *arena.at<Table>(segment);
}

}  // namespace tabacus
