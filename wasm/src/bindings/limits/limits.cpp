// The names under which JavaScript finds sequences, budgets and rate limits: plain exports over
// numbers and addresses, as ../tab.cpp's.
#include <emscripten/emscripten.h>

#include "browser/core/limits_core.hpp"

using tabacus::Budget;
using tabacus::RateLimit;
using tabacus::Sequence;
using tabacus::browser::LimitsCore;
using tabacus::browser::PromiseId;
using tabacus::browser::room;
using tabacus::browser::texts;

namespace {

std::string text(std::size_t index) { return texts()[index].value_or(""); }

}  // namespace

extern "C" {

EMSCRIPTEN_KEEPALIVE char* tab_room(std::size_t size) { return room(size); }

// The text in the room: the namespace. It lives as long as its instance of the module does.
EMSCRIPTEN_KEEPALIVE LimitsCore* tab_new() {
    return std::make_unique<LimitsCore>(text(0)).release();
}

EMSCRIPTEN_KEEPALIVE void tab_event(LimitsCore* core, tabacus::browser::Event event, int number) {
    core->world().happened(event, number, texts());
}

EMSCRIPTEN_KEEPALIVE void tab_close(LimitsCore* core, PromiseId promise) { core->close(promise); }

EMSCRIPTEN_KEEPALIVE bool limits_durable(LimitsCore* core) { return core->limits().durable(); }

// The text in the room of the next three: the name.
EMSCRIPTEN_KEEPALIVE Sequence* sequence_new(LimitsCore* core, double block, bool gapless) {
    return &core->limits().sequence(
        text(0), {.block = static_cast<std::int64_t>(block), .gapless = gapless});
}

EMSCRIPTEN_KEEPALIVE Budget* budget_new(LimitsCore* core, double limit) {
    return &core->limits().budget(text(0), static_cast<std::int64_t>(limit));
}

EMSCRIPTEN_KEEPALIVE RateLimit* rate_new(LimitsCore* core, double limit, double interval_ms) {
    return &core->limits().rate_limit(text(0), static_cast<std::int64_t>(limit),
                                      static_cast<std::int64_t>(interval_ms));
}

// 0: reserve() gives it.
EMSCRIPTEN_KEEPALIVE double sequence_next(Sequence* sequence) {
    return static_cast<double>(sequence->next_now());
}

EMSCRIPTEN_KEEPALIVE void sequence_reserve(LimitsCore* core, Sequence* sequence, double count,
                                           PromiseId promise) {
    core->reserve(*sequence, count, promise);
}

// False: budget_ask() takes them, if there are as many.
EMSCRIPTEN_KEEPALIVE bool budget_take(Budget* budget, double n) {
    return budget->take_now(static_cast<std::int64_t>(n));
}

EMSCRIPTEN_KEEPALIVE void budget_ask(LimitsCore* core, Budget* budget, double n,
                                     PromiseId promise) {
    core->take(*budget, n, promise);
}

EMSCRIPTEN_KEEPALIVE void budget_give(LimitsCore* core, Budget* budget, double n,
                                      PromiseId promise) {
    core->give(*budget, n, promise);
}

EMSCRIPTEN_KEEPALIVE double budget_available(const Budget* budget) {
    return static_cast<double>(budget->available());
}

EMSCRIPTEN_KEEPALIVE void budget_look(LimitsCore* core, Budget* budget, PromiseId promise) {
    core->look(*budget, promise);
}

EMSCRIPTEN_KEEPALIVE void rate_take(LimitsCore* core, RateLimit* rate, double timeout_ms,
                                    int request, PromiseId promise) {
    core->pass(*rate, timeout_ms, request, promise);
}

EMSCRIPTEN_KEEPALIVE void rate_try(LimitsCore* core, RateLimit* rate, PromiseId promise) {
    core->try_pass(*rate, promise);
}

// The text in the room: the counter's name; of the next also node and record in turn.
EMSCRIPTEN_KEEPALIVE void counter_state(LimitsCore* core, PromiseId promise) {
    core->state(text(0), promise);
}

EMSCRIPTEN_KEEPALIVE void counter_merge(LimitsCore* core, PromiseId promise) {
    core->merge(texts(), promise);
}

EMSCRIPTEN_KEEPALIVE void rate_abort(LimitsCore* core, int request) { core->abort(request); }
}
