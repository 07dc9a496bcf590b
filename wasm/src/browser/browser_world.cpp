#include "browser/browser_world.hpp"

namespace tabacus::browser {

void BrowserWorld::dispatch(HostEvent event, int number, Texts texts) {
    switch (event) {
        case HostEvent::settled:
            return operations_.settled(number, std::move(texts));
        case HostEvent::failed:
            return operations_.failed(number, texts);
        case HostEvent::storage_changed:
            return storage_.emit({texts[0], texts[1], texts[2]});
        case HostEvent::database_created:
            return database_.emit({DatabaseEvent::Kind::created, texts[0].value_or("")});
        case HostEvent::database_closed:
            return database_.emit({DatabaseEvent::Kind::closed, {}});
        case HostEvent::lock_lost:
            return locks_.lost(number);
        case HostEvent::message:
            return channels_.emit({number, texts[0].value_or("")});
        case HostEvent::lifecycle:
            return lifecycle_.emit(static_cast<LifecycleEvent>(number));
    }
}

}  // namespace tabacus::browser
