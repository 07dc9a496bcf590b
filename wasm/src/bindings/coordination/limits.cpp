// The names under which JavaScript finds sequences, budgets and rate limits: plain exports over
// numbers and addresses, as ../tab.cpp's.
#include "exports.hpp"

using tabacus::Budget;
using tabacus::RateLimit;
using tabacus::Sequence;

extern "C" {

EMSCRIPTEN_KEEPALIVE void limits_close(Core* core, PromiseId promise) {
    core->limits().close(promise);
}

EMSCRIPTEN_KEEPALIVE bool limits_durable(Core* core) { return core->limits().limits().durable(); }

// Packed text of the next three: the name.
EMSCRIPTEN_KEEPALIVE Sequence* sequence_new(Core* core, double block, bool gapless) {
    return &core->limits().limits().sequence(
        text_at(0), {.block = static_cast<std::int64_t>(block), .gapless = gapless});
}

EMSCRIPTEN_KEEPALIVE Budget* budget_new(Core* core, double limit) {
    return &core->limits().limits().budget(text_at(0), static_cast<std::int64_t>(limit));
}

EMSCRIPTEN_KEEPALIVE RateLimit* rate_new(Core* core, double limit, double interval_ms) {
    return &core->limits().limits().rate_limit(text_at(0), static_cast<std::int64_t>(limit),
                                               static_cast<std::int64_t>(interval_ms));
}

// 0: reserve() gives it.
EMSCRIPTEN_KEEPALIVE double sequence_next(Sequence* sequence) {
    return static_cast<double>(sequence->next_now());
}

EMSCRIPTEN_KEEPALIVE void sequence_reserve(Core* core, Sequence* sequence, double count,
                                           PromiseId promise) {
    core->limits().reserve(*sequence, count, promise);
}

// False: budget_ask() takes them, if there are as many.
EMSCRIPTEN_KEEPALIVE bool budget_take(Budget* budget, double n) {
    return budget->take_now(static_cast<std::int64_t>(n));
}

EMSCRIPTEN_KEEPALIVE void budget_ask(Core* core, Budget* budget, double n, PromiseId promise) {
    core->limits().take(*budget, n, promise);
}

EMSCRIPTEN_KEEPALIVE void budget_give(Core* core, Budget* budget, double n, PromiseId promise) {
    core->limits().give(*budget, n, promise);
}

EMSCRIPTEN_KEEPALIVE double budget_available(const Budget* budget) {
    return static_cast<double>(budget->available());
}

EMSCRIPTEN_KEEPALIVE void budget_refresh(Core* core, Budget* budget, PromiseId promise) {
    core->limits().refresh(*budget, promise);
}

EMSCRIPTEN_KEEPALIVE void rate_take(Core* core, RateLimit* rate, double timeout_ms, int request,
                                    PromiseId promise) {
    core->limits().pass(*rate, timeout_ms, request, promise);
}

EMSCRIPTEN_KEEPALIVE void rate_try(Core* core, RateLimit* rate, PromiseId promise) {
    core->limits().try_pass(*rate, promise);
}

// Packed text: the counter's name; of the next also node and record in turn.
EMSCRIPTEN_KEEPALIVE void counter_state(Core* core, PromiseId promise) {
    core->limits().state(text_at(0), promise);
}

EMSCRIPTEN_KEEPALIVE void counter_merge(Core* core, PromiseId promise) {
    core->limits().merge(texts(), promise);
}

EMSCRIPTEN_KEEPALIVE void rate_abort(Core* core, int request) { core->limits().abort(request); }
}
