// The names under which JavaScript finds the queues: plain exports over numbers and addresses, as
// ../tab.cpp's.
#include <emscripten/emscripten.h>

#include "browser/core/queues_core.hpp"

using tabacus::Durability;
using tabacus::JobSpec;
using tabacus::QueueOptions;
using tabacus::browser::PromiseId;
using tabacus::browser::QueuesCore;
using tabacus::browser::room;
using tabacus::browser::Texts;
using tabacus::browser::texts;

namespace {

std::string text(std::size_t index) { return texts()[index].value_or(""); }

/// The texts in the room: payload, key, kind. Bits: by value, optional, at most once.
JobSpec spec_of(unsigned bits, int priority, double delay_ms) {
    auto said = texts();
    JobSpec spec;
    spec.payload = {std::move(said[0]).value_or(""), (bits & 1U) != 0};
    spec.key = std::move(said[1]).value_or("");
    spec.kind = std::move(said[2]).value_or("");
    spec.priority = priority;
    spec.optional = (bits & 2U) != 0;
    spec.at_most_once = (bits & 4U) != 0;
    spec.delay_ms = delay_ms;
    return spec;
}

}  // namespace

extern "C" {

EMSCRIPTEN_KEEPALIVE char* tab_room(std::size_t size) { return room(size); }

// The text in the room: the namespace. It lives as long as its instance of the module does.
EMSCRIPTEN_KEEPALIVE QueuesCore* tab_new() {
    return std::make_unique<QueuesCore>(text(0)).release();
}

EMSCRIPTEN_KEEPALIVE void tab_event(QueuesCore* core, tabacus::browser::Event event, int number) {
    core->world().happened(event, number, texts());
}

EMSCRIPTEN_KEEPALIVE void tab_capabilities(QueuesCore* core, PromiseId promise) {
    core->capabilities(promise);
}

EMSCRIPTEN_KEEPALIVE void queues_online(QueuesCore* core) { core->online(); }

EMSCRIPTEN_KEEPALIVE void queues_close(QueuesCore* core) { core->close(); }

// The text in the room: the name. Bits: lifo, pause on failure, strict, at most once.
EMSCRIPTEN_KEEPALIVE int queue_open(QueuesCore* core, unsigned bits, int concurrency, int attempts,
                                    double back_off_ms, double limit) {
    QueueOptions options;
    options.concurrency = concurrency;
    options.lifo = (bits & 1U) != 0;
    options.pause_on_failure = (bits & 2U) != 0;
    options.durability = (bits & 4U) != 0 ? Durability::strict : Durability::relaxed;
    options.attempts = attempts;
    options.back_off_ms = back_off_ms;
    options.limit = static_cast<std::int64_t>(limit);
    return core->open(text(0), options);
}

EMSCRIPTEN_KEEPALIVE void queue_enqueue(QueuesCore* core, int queue, unsigned bits, int priority,
                                        double delay_ms, PromiseId promise) {
    core->enqueue(queue, spec_of(bits, priority, delay_ms), promise);
}

// The texts in the room: kinds; none for all.
EMSCRIPTEN_KEEPALIVE void queue_handle(QueuesCore* core, int queue) {
    core->handle(queue, texts());
}

EMSCRIPTEN_KEEPALIVE void queue_stop(QueuesCore* core, int queue) { core->stop(queue); }

EMSCRIPTEN_KEEPALIVE void queue_leave(QueuesCore* core, int queue, PromiseId promise) {
    core->leave(queue, promise);
}

// As queue_enqueue: a job that the next queue_finish enqueues.
EMSCRIPTEN_KEEPALIVE void queue_next(QueuesCore* core, int, unsigned bits, int priority,
                                     double delay_ms) {
    core->next(spec_of(bits, priority, delay_ms));
}

// The text in the room: the result, or an error.
EMSCRIPTEN_KEEPALIVE void queue_finish(QueuesCore* core, int queue, int run, bool succeeded,
                                       bool by_value) {
    core->finish(queue, run, succeeded, {text(0), by_value});
}

// The text in the room: the note.
EMSCRIPTEN_KEEPALIVE void queue_progress(QueuesCore* core, int queue, int run, double fraction) {
    core->progress(queue, run, fraction, text(0));
}

EMSCRIPTEN_KEEPALIVE void queue_pause(QueuesCore* core, int queue, PromiseId promise) {
    core->pause(queue, promise);
}

EMSCRIPTEN_KEEPALIVE void queue_resume(QueuesCore* core, int queue, PromiseId promise) {
    core->resume(queue, promise);
}

EMSCRIPTEN_KEEPALIVE void queue_idle(QueuesCore* core, int queue, PromiseId promise) {
    core->idle(queue, promise);
}

EMSCRIPTEN_KEEPALIVE void queue_count(QueuesCore* core, int queue, PromiseId promise) {
    core->count(queue, promise);
}

EMSCRIPTEN_KEEPALIVE void queue_clear(QueuesCore* core, int queue, PromiseId promise) {
    core->clear(queue, promise);
}

// The text in the room: the key.
EMSCRIPTEN_KEEPALIVE void queue_cancel(QueuesCore* core, int queue, PromiseId promise) {
    core->cancel(queue, text(0), promise);
}

// The text in the room: the id.
EMSCRIPTEN_KEEPALIVE void queue_end_dead_letter(QueuesCore* core, int queue, bool again,
                                                PromiseId promise) {
    core->end_dead_letter(queue, text(0), again, promise);
}

EMSCRIPTEN_KEEPALIVE void queue_list(QueuesCore* core, int queue, QueuesCore::View view,
                                     PromiseId promise) {
    core->list(queue, view, promise);
}
}
