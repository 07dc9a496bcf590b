#include "browser/browser_world.hpp"

namespace tabacus::browser {

void BrowserWorld::dispatch(Event event, int number, Texts texts) {
    switch (event) {
        case Event::settled:
            return operations_.settled(number, std::move(texts));
        case Event::failed:
            return operations_.failed(number, texts);
        case Event::storage_changed:
            return storage_.emit({texts[0], texts[1], texts[2]});
        case Event::database_created:
            return database_.emit({DatabaseEvent::Kind::created, texts[0].value_or("")});
        case Event::database_closed:
            return database_.emit({DatabaseEvent::Kind::closed, {}});
        case Event::lock_lost:
            return locks_.lost(number);
        case Event::message:
            return channels_.emit({number, texts[0].value_or("")});
        case Event::lifecycle:
            return lifecycle_.emit(static_cast<LifecycleEvent>(number));
    }
}

}  // namespace tabacus::browser
