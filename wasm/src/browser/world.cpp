#include "browser/world.hpp"

namespace tabacus::browser {

BrowserWorld::BrowserWorld(const emscripten::val& host)
    : storage_(host["storage"]),
      database_(host["database"], operations_),
      locks_(host["locks"], operations_),
      channels_(host["channels"]),
      clock_(host["clock"], operations_),
      random_(host["clock"]) {}

}  // namespace tabacus::browser
