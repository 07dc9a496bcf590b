// The names under which JavaScript finds the locks: plain exports over numbers and addresses, as
// ../tab.cpp's. NaN stands for what was not said.
#include <emscripten/emscripten.h>

#include <cmath>

#include "browser/core/locks_core.hpp"

using tabacus::LockMode;
using tabacus::LockOptions;
using tabacus::browser::LocksCore;
using tabacus::browser::PromiseId;
using tabacus::browser::room;
using tabacus::browser::texts;

namespace {

std::optional<double> said(double number) {
    return std::isnan(number) ? std::nullopt : std::optional(number);
}

std::string text(std::size_t index) { return texts()[index].value_or(""); }

}  // namespace

extern "C" {

EMSCRIPTEN_KEEPALIVE char* tab_room(std::size_t size) { return room(size); }

// The text in the room: the namespace. It lives as long as its instance of the module does.
EMSCRIPTEN_KEEPALIVE LocksCore* tab_new() { return std::make_unique<LocksCore>(text(0)).release(); }

EMSCRIPTEN_KEEPALIVE void tab_event(LocksCore* core, tabacus::browser::Event event, int number) {
    core->world().happened(event, number, texts());
}

EMSCRIPTEN_KEEPALIVE void tab_capabilities(LocksCore* core, PromiseId promise) {
    core->capabilities(promise);
}

EMSCRIPTEN_KEEPALIVE void locks_close(LocksCore* core) { core->close(); }

// The texts in the room: label, names. Bits: shared, if available, steal.
EMSCRIPTEN_KEEPALIVE void lock_acquire(LocksCore* core, unsigned bits, double timeout_ms,
                                       double max_hold_ms, int within, int request,
                                       PromiseId promise) {
    LockOptions options;
    options.mode = (bits & 1U) != 0 ? LockMode::shared : LockMode::exclusive;
    options.if_available = (bits & 2U) != 0;
    options.steal = (bits & 4U) != 0;
    options.timeout_ms = said(timeout_ms);
    options.max_hold_ms = said(max_hold_ms);
    core->acquire(texts(), std::move(options), within, request, promise);
}

// As lock_acquire; the texts: label, name.
EMSCRIPTEN_KEEPALIVE void semaphore_acquire(LocksCore* core, int permits, unsigned bits,
                                            double timeout_ms, double max_hold_ms, int within,
                                            int request, PromiseId promise) {
    LockOptions options;
    options.if_available = (bits & 2U) != 0;
    options.timeout_ms = said(timeout_ms);
    options.max_hold_ms = said(max_hold_ms);
    core->acquire_permit(texts(), permits, std::move(options), within, request, promise);
}

// The text in the room: the key.
EMSCRIPTEN_KEEPALIVE void once_enter(LocksCore* core, double timeout_ms, double max_hold_ms,
                                     double ttl_ms, double called_ms, int request,
                                     PromiseId promise) {
    LockOptions options;
    options.timeout_ms = said(timeout_ms);
    options.max_hold_ms = said(max_hold_ms);
    core->enter(text(0), std::move(options), {ttl_ms, called_ms}, request, promise);
}

// The texts in the room: the key, the outcome.
EMSCRIPTEN_KEEPALIVE void once_settle(LocksCore* core, int held, bool succeeded,
                                      PromiseId promise) {
    core->settle_once(text(0), held, succeeded, text(1), promise);
}

EMSCRIPTEN_KEEPALIVE void lock_abort(LocksCore* core, int request) { core->abort(request); }

EMSCRIPTEN_KEEPALIVE double lock_token(LocksCore* core, int held) { return core->token(held); }

EMSCRIPTEN_KEEPALIVE void lock_look(const LocksCore* core, int held) { core->look(held); }

EMSCRIPTEN_KEEPALIVE void lock_release(LocksCore* core, int held) { core->release(held); }

// The text in the room: the name.
EMSCRIPTEN_KEEPALIVE void lock_query(LocksCore* core, PromiseId promise) {
    core->query(text(0), promise);
}

EMSCRIPTEN_KEEPALIVE void lock_names(LocksCore* core, PromiseId promise) { core->names(promise); }

// The texts in the room: name, request, and the key if there is one.
EMSCRIPTEN_KEEPALIVE void leader_call(LocksCore* core, double timeout_ms, int request,
                                      PromiseId promise) {
    core->call_leader(texts(), timeout_ms, request, promise);
}

// The text in the room: the name, here and below.
EMSCRIPTEN_KEEPALIVE void leader_begin(LocksCore* core, int term, PromiseId promise) {
    core->take_office(text(0), term, promise);
}

EMSCRIPTEN_KEEPALIVE void leader_next(LocksCore* core, int term, PromiseId promise) {
    core->next_call(text(0), term, promise);
}

// The texts in the room: name, id.
EMSCRIPTEN_KEEPALIVE void leader_answering(LocksCore* core, int term, PromiseId promise) {
    core->begin_answer(text(0), text(1), term, promise);
}

// The texts in the room: name, id, answer, and those of fenced_commit.
EMSCRIPTEN_KEEPALIVE void leader_answer(LocksCore* core, int transaction, bool succeeded,
                                        PromiseId promise) {
    core->answer(transaction, texts(), succeeded, promise);
}

EMSCRIPTEN_KEEPALIVE void lock_wait(LocksCore* core, double timeout_ms, int request,
                                    PromiseId promise) {
    core->wait_for_unlock(text(0), timeout_ms, request, promise);
}

EMSCRIPTEN_KEEPALIVE void lock_watch(LocksCore* core, int watch) { core->watch(text(0), watch); }

EMSCRIPTEN_KEEPALIVE void lock_unwatch(LocksCore* core, int watch) { core->unwatch(watch); }

EMSCRIPTEN_KEEPALIVE void fenced_begin(LocksCore* core, int held, PromiseId promise) {
    core->begin(held, promise);
}

// The texts in the room: store, key or prefix.
EMSCRIPTEN_KEEPALIVE void fenced_get(LocksCore* core, int transaction, PromiseId promise) {
    core->get(transaction, text(0), text(1), promise);
}

EMSCRIPTEN_KEEPALIVE void fenced_list(LocksCore* core, int transaction, PromiseId promise) {
    core->list(transaction, text(0), text(1), promise);
}

// The texts in the room: store, key, value or null, …
EMSCRIPTEN_KEEPALIVE void fenced_commit(LocksCore* core, int transaction, PromiseId promise) {
    core->commit(transaction, texts(), promise);
}

EMSCRIPTEN_KEEPALIVE void fenced_end(LocksCore* core, int transaction) { core->end(transaction); }
}
