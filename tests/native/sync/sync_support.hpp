#pragma once

#include <cstdint>
#include <latch>
#include <thread>
#include <vector>

namespace tabacus::sync::test {

/// Runs `work(index)` on `count` threads, which start together, and waits for all. Catch2's
/// assertions are not thread-safe, so `work` counts what goes wrong, and the test checks the count.
template <class Work>
void on_threads(std::uint32_t count, Work work) {
    std::latch start(count);
    std::vector<std::thread> threads;
    threads.reserve(count);
    for (std::uint32_t index = 0; index < count; ++index) threads.emplace_back(work, index);
    for (std::thread& thread : threads) thread.join();
}

}  // namespace tabacus::sync::test
