// The stacks of modelled threads, and the switches between them.
//
// POSIX ucontext makes two system calls for each switch, to save and restore the mask of signals.
// They take longer than the rest of a step. So a stack is only begun by ucontext. It is left and
// continued by setjmp() and longjmp(), and its part that is in use can be copied. Sanitizers follow
// ucontext alone. With them, and on other processors, ucontext makes all switches.
#pragma once

#include <setjmp.h>  // NOLINT(modernize-deprecated-headers): _setjmp() is of POSIX
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TABACUS_UCONTEXT_ALONE 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    (!defined(__x86_64__) && !defined(__aarch64__))
#define TABACUS_UCONTEXT_ALONE 1
#endif

namespace tabacus::lab {

#ifdef TABACUS_UCONTEXT_ALONE
inline constexpr bool stacks_copy = false;
#else
inline constexpr bool stacks_copy = true;
#endif

/// The place at which a stack was left: its registers.
struct Continuation {
#ifdef TABACUS_UCONTEXT_ALONE
    ucontext_t registers{};
#else
    jmp_buf registers{};
#endif
    std::byte* pointer = nullptr;  // the stack pointer, if stacks can be copied

    /// Leaves this stack at `from`, and continues at `to`.
    [[gnu::noinline]] static void change(Continuation& from, Continuation& to) {
#ifdef TABACUS_UCONTEXT_ALONE
        swapcontext(&from.registers, &to.registers);
#else
#ifdef __x86_64__
        asm volatile("mov %%rsp, %0" : "=r"(from.pointer));
#else
        asm volatile("mov %0, sp" : "=r"(from.pointer));
#endif
        if (_setjmp(from.registers) == 0) _longjmp(to.registers, 1);
#endif
    }
};

class ThreadStack {
  public:
    /// Prepares `place`, at which the stack begins with a call of `body`, which never returns.
    void begin(Continuation& place, void (*body)()) {
#ifdef TABACUS_UCONTEXT_ALONE
        make(place.registers, body);
#else
        ucontext_t start{};
        Continuation here;
        beginning = {&place, &here, body};
        make(start, &ThreadStack::enter);
        if (_setjmp(here.registers) == 0) setcontext(&start);
#endif
    }
    /// Makes the contents the same for each stack that is begun.
    void clear() { bytes_->fill(std::byte{0}); }
    /// Returns the part in use of a stack that was left at `place`.
    [[nodiscard]] std::span<std::byte> used(const Continuation& place) const {
        return {place.pointer, bytes_->data() + bytes_->size()};
    }

    /// Clears what returned calls have left below the part in use, because later calls may begin
    /// with it in memory that they never read.
    void clear_below(const Continuation& place) {
        const auto below = static_cast<std::size_t>(place.pointer - bytes_->data());
        const std::size_t size = std::min(below, reach);
        std::fill_n(place.pointer - size, size, std::byte{0});
    }

  private:
    /// The calls of one step reach no further below the place where the stack is left.
    static constexpr std::size_t reach = 1024;

    struct Beginning {
        Continuation* place;
        Continuation* caller;
        void (*body)();
    };
    static inline thread_local Beginning beginning{};

    void make(ucontext_t& context, void (*function)()) {
        getcontext(&context);
        context.uc_stack.ss_sp = bytes_->data();
        context.uc_stack.ss_size = bytes_->size();
        context.uc_link = nullptr;
        makecontext(&context, function, 0);
    }
    [[maybe_unused]] static void enter() {
        auto* const body = beginning.body;
        Continuation::change(*beginning.place, *beginning.caller);
        body();
    }

    /// The calls of a primitive are only a few frames deep.
    using Bytes = std::array<std::byte, std::size_t{64} * 1024>;
    std::unique_ptr<Bytes> bytes_ = std::make_unique<Bytes>();
};

}  // namespace tabacus::lab
