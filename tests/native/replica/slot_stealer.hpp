// Stealer: another script that steals the locks of slots.
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <utility>

#include "lab/lab_tab.hpp"
#include "tabacus/common/task.hpp"

namespace tabacus::test {

/// A script of the page that steals a lock, holds it for 2 ms and releases it.
class Stealer {
  public:
    explicit Stealer(lab::LabTab& tab) : tab_(tab) {}

    void steal(const std::string& name) {
        run_in(scope_, take(name), [] {}, [](const std::exception_ptr&) {});
    }

  private:
    Task<void> take(std::string name) {
        const auto held = co_await tab_.locks().request({.name = name, .steal = true});
        co_await tab_.clock().sleep(2);
    }
    lab::LabTab& tab_;
    Scope scope_;
};

/// Returns the name of a slot's lock in the namespace of the tests.
inline std::string slot_lock(std::size_t slot) {
    return "tabacus/test/slot/" + std::to_string(slot);
}

}  // namespace tabacus::test
