// The names under which JavaScript finds the locks: plain exports over numbers and addresses, as
// ../tab.cpp's. NaN stands for an option that was not given.
#include <cmath>

#include "exports.hpp"

using tabacus::LockMode;
using tabacus::LockOptions;

namespace {

std::optional<double> given(double number) {
    return std::isnan(number) ? std::nullopt : std::optional(number);
}

}  // namespace

extern "C" {

EMSCRIPTEN_KEEPALIVE void locks_capabilities(Core* core, PromiseId promise) {
    core->locks().capabilities(promise);
}

// Packed texts: label, names. Bits: shared, if available, steal.
EMSCRIPTEN_KEEPALIVE void lock_acquire(Core* core, unsigned bits, double timeout_ms,
                                       double max_hold_ms, int within, int request,
                                       PromiseId promise) {
    LockOptions options;
    options.mode = (bits & 1U) != 0 ? LockMode::shared : LockMode::exclusive;
    options.if_available = (bits & 2U) != 0;
    options.steal = (bits & 4U) != 0;
    options.timeout_ms = given(timeout_ms);
    options.max_hold_ms = given(max_hold_ms);
    core->locks().acquire(texts(), std::move(options), within, request, promise);
}

// As lock_acquire; the texts: label, name.
EMSCRIPTEN_KEEPALIVE void semaphore_acquire(Core* core, int permits, unsigned bits,
                                            double timeout_ms, double max_hold_ms, int within,
                                            int request, PromiseId promise) {
    LockOptions options;
    options.if_available = (bits & 2U) != 0;
    options.timeout_ms = given(timeout_ms);
    options.max_hold_ms = given(max_hold_ms);
    core->locks().acquire_permit(texts(), permits, std::move(options), within, request, promise);
}

// Packed text: the key.
EMSCRIPTEN_KEEPALIVE void once_enter(Core* core, double timeout_ms, double max_hold_ms,
                                     double ttl_ms, double called_ms, int request,
                                     PromiseId promise) {
    LockOptions options;
    options.timeout_ms = given(timeout_ms);
    options.max_hold_ms = given(max_hold_ms);
    core->locks().enter(text_at(0), std::move(options), {ttl_ms, called_ms}, request, promise);
}

// Packed texts: the key, the outcome.
EMSCRIPTEN_KEEPALIVE void once_settle(Core* core, int held, bool succeeded, PromiseId promise) {
    core->locks().settle_once(text_at(0), held, succeeded, text_at(1), promise);
}

EMSCRIPTEN_KEEPALIVE void lock_abort(Core* core, int request) { core->locks().abort(request); }

EMSCRIPTEN_KEEPALIVE double lock_token(Core* core, int held) { return core->locks().token(held); }

EMSCRIPTEN_KEEPALIVE void lock_check(Core* core, int held) { core->locks().check_max_hold(held); }

EMSCRIPTEN_KEEPALIVE void lock_release(Core* core, int held) { core->locks().release(held); }

// Packed text: the name.
EMSCRIPTEN_KEEPALIVE void lock_query(Core* core, PromiseId promise) {
    core->locks().query(text_at(0), promise);
}

EMSCRIPTEN_KEEPALIVE void lock_names(Core* core, PromiseId promise) {
    core->locks().names(promise);
}

// Packed texts: name, request, and the key if there is one.
EMSCRIPTEN_KEEPALIVE void leader_call(Core* core, double timeout_ms, int request,
                                      PromiseId promise) {
    core->locks().call_leader(texts(), timeout_ms, request, promise);
}

// Packed text: the name, here and below.
EMSCRIPTEN_KEEPALIVE void leader_begin(Core* core, int term, PromiseId promise) {
    core->locks().begin_term(text_at(0), term, promise);
}

EMSCRIPTEN_KEEPALIVE void leader_next(Core* core, int term, PromiseId promise) {
    core->locks().next_call(text_at(0), term, promise);
}

// Packed texts: name, id.
EMSCRIPTEN_KEEPALIVE void leader_answering(Core* core, int term, PromiseId promise) {
    core->locks().begin_answer(text_at(0), text_at(1), term, promise);
}

// Packed texts: name, id, answer, and those of fenced_commit.
EMSCRIPTEN_KEEPALIVE void leader_answer(Core* core, int transaction, bool succeeded,
                                        PromiseId promise) {
    core->locks().answer(transaction, texts(), succeeded, promise);
}

EMSCRIPTEN_KEEPALIVE void lock_wait(Core* core, double timeout_ms, int request, PromiseId promise) {
    core->locks().wait_for_unlock(text_at(0), timeout_ms, request, promise);
}

EMSCRIPTEN_KEEPALIVE void lock_watch(Core* core, int watch) {
    core->locks().watch(text_at(0), watch);
}

EMSCRIPTEN_KEEPALIVE void lock_unwatch(Core* core, int watch) { core->locks().unwatch(watch); }

EMSCRIPTEN_KEEPALIVE void fenced_begin(Core* core, int held, PromiseId promise) {
    core->locks().begin(held, promise);
}

// Packed texts: store, key or prefix.
EMSCRIPTEN_KEEPALIVE void fenced_get(Core* core, int transaction, PromiseId promise) {
    core->locks().get(transaction, text_at(0), text_at(1), promise);
}

EMSCRIPTEN_KEEPALIVE void fenced_list(Core* core, int transaction, PromiseId promise) {
    core->locks().list(transaction, text_at(0), text_at(1), promise);
}

// Packed texts: store, key, value or null, …
EMSCRIPTEN_KEEPALIVE void fenced_commit(Core* core, int transaction, PromiseId promise) {
    core->locks().commit(transaction, texts(), promise);
}

EMSCRIPTEN_KEEPALIVE void fenced_end(Core* core, int transaction) {
    core->locks().end(transaction);
}
}
