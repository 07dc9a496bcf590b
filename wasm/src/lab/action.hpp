// Action: a callable like std::function<void()> that can be moved but not copied, and that stores
// small callables in itself.
//
// A simulated origin makes a few of them per step. The allocations of std::function would take half
// of a step's time.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace tabacus::lab {

// The buffer holds an object only while `table_` is set.
// NOLINTBEGIN(cppcoreguidelines-pro-type-member-init)
class Action {
  public:
    Action() = default;
    template <typename Callable>
        requires(!std::is_same_v<std::remove_cvref_t<Callable>, Action>)
    Action(Callable&& callable) {  // NOLINT(google-explicit-constructor): like std::function
        using Stored = std::remove_cvref_t<Callable>;
        if constexpr (fits<Stored>) {
            ::new (static_cast<void*>(buffer_)) Stored(std::forward<Callable>(callable));
            table_ = &inline_table<Stored>;
        } else {
            using Pointer = std::unique_ptr<Stored>;
            ::new (static_cast<void*>(buffer_))
                Pointer(std::make_unique<Stored>(std::forward<Callable>(callable)));
            table_ = &heap_table<Stored>;
        }
    }
    Action(Action&& other) noexcept { take(other); }
    Action& operator=(Action&& other) noexcept {
        if (this != &other) {
            reset();
            take(other);
        }
        return *this;
    }
    Action(const Action&) = delete;
    Action& operator=(const Action&) = delete;
    ~Action() { reset(); }

    void operator()() { table_->call(buffer_); }
    explicit operator bool() const { return table_ != nullptr; }

  private:
    // The size of two shared pointers, a string and a word, which is enough for most callables that
    // the laboratory posts.
    static constexpr std::size_t buffer_bytes = 72;

    struct Table {
        void (*call)(void*);
        void (*move)(void*, void*) noexcept;
        void (*destroy)(void*) noexcept;
    };
    template <typename T>
    static constexpr bool fits =
        sizeof(T) <= buffer_bytes && alignof(T) <= alignof(std::max_align_t) &&
        std::is_nothrow_move_constructible_v<T>;
    template <typename T>
    static void relocate(void* from, void* to) noexcept {
        ::new (to) T(std::move(*static_cast<T*>(from)));
        static_cast<T*>(from)->~T();
    }
    template <typename T>
    static void destroy(void* buffer) noexcept {
        static_cast<T*>(buffer)->~T();
    }
    template <typename T>
    static constexpr Table inline_table{[](void* buffer) { (*static_cast<T*>(buffer))(); },
                                        relocate<T>, destroy<T>};
    template <typename T>
    static constexpr Table heap_table{
        [](void* buffer) { (**static_cast<std::unique_ptr<T>*>(buffer))(); },
        relocate<std::unique_ptr<T>>, destroy<std::unique_ptr<T>>};

    void take(Action& other) noexcept {
        table_ = std::exchange(other.table_, nullptr);
        if (table_ != nullptr) table_->move(other.buffer_, buffer_);
    }
    void reset() noexcept {
        if (const auto* table = std::exchange(table_, nullptr)) table->destroy(buffer_);
    }

    const Table* table_ = nullptr;
    alignas(
        std::max_align_t) std::byte buffer_[buffer_bytes];  // NOLINT: raw memory for any callable
};
// NOLINTEND(cppcoreguidelines-pro-type-member-init)

}  // namespace tabacus::lab
