#include "page_phase.hpp"

#include "replica.hpp"

namespace tabacus {
namespace {

void on_lifecycle(Replica& replica, LifecycleEvent event) {
    if (replica.closed()) return;
    switch (event) {
        case LifecycleEvent::hidden:
        case LifecycleEvent::frozen:
            commit_before_sleep(replica);
            break;
        case LifecycleEvent::page_hide:
            commit_before_sleep(replica);
            replica.phase.suspend();
            release(replica.slot, replica.news);
            replica.world.database().close();
            break;
        case LifecycleEvent::page_show:
            replica.phase.resume();
            if (replica.news.listening()) listen(replica);
            reload_all(replica);
            if (replica.counters.dirty()) replica.schedule_turn();
            break;
        case LifecycleEvent::visible:
        case LifecycleEvent::resumed:
            if (replica.active()) reload_all(replica);
            break;
    }
}

void on_database(Replica& replica, const DatabaseEvent& event) {
    if (event.kind == DatabaseEvent::Kind::created) {
        replica.generation.on_created(event.data_loss);
        return;
    }
    if (!replica.active() || replica.medium != Medium::database) return;
    // The database may be another one by now. Adopting a slot again reports that, and recovers
    // rows.
    replica.slot.lose();
    reload_all(replica);
}

}  // namespace

void PagePhase::follow(Replica& replica) {
    lifecycle_ = replica.world.lifecycle().on_event(
        [&replica](LifecycleEvent event) { on_lifecycle(replica, event); });
    database_ = replica.world.database().on_event(
        [&replica](const DatabaseEvent& event) { on_database(replica, event); });
}

void release(ReplicaSlot& slot, ReplicaNews& news) {
    slot.lose();
    slot.unlock();
    news.close_channel();
}

}  // namespace tabacus
