// The names under which JavaScript finds a tab's core.
#include <emscripten/bind.h>

#include "browser/core.hpp"

EMSCRIPTEN_BINDINGS(tabacus_tab) {
    using emscripten::class_;
    using tabacus::browser::CounterCore;
    using tabacus::browser::TabCore;

    class_<CounterCore>("CounterCore")
        .function("increment", &CounterCore::increment)
        .function("add", &CounterCore::add)
        .function("read", &CounterCore::read)
        .function("flush", &CounterCore::flush)
        .function("value", &CounterCore::value)
        .function("onChange", &CounterCore::on_change)
        .function("guarantee", &CounterCore::guarantee);

    class_<TabCore>("TabCore")
        .constructor<const emscripten::val&, const std::string&, emscripten::val>()
        .function("open", &TabCore::open)
        .function("close", &TabCore::close)
        .function("capabilities", &TabCore::capabilities)
        .function("counter", &TabCore::counter)
        .function("settle", &TabCore::settle)
        .function("storageChanged", &TabCore::storage_changed)
        .function("databaseCreated", &TabCore::database_created)
        .function("databaseClosed", &TabCore::database_closed)
        .function("lockLost", &TabCore::lock_lost)
        .function("message", &TabCore::message)
        .function("lifecycle", &TabCore::lifecycle);
}
