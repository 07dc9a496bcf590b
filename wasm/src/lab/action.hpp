// Action: a std::function<void()> that moves and does not copy, and keeps what it captures in
// itself.
//
// A simulated origin makes a few of them per step; the allocations of std::function were the half
// of a step's time.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace tabacus::lab {

// The room holds nothing until there is a table that says what.
// NOLINTBEGIN(cppcoreguidelines-pro-type-member-init)
class Action {
  public:
    Action() = default;
    template <typename Callable>
        requires(!std::is_same_v<std::remove_cvref_t<Callable>, Action>)
    Action(Callable&& callable) {  // NOLINT(google-explicit-constructor): as std::function
        using Stored = std::remove_cvref_t<Callable>;
        if constexpr (fits<Stored>) {
            ::new (static_cast<void*>(room_)) Stored(std::forward<Callable>(callable));
            table_ = &inline_table<Stored>;
        } else {
            using Pointer = std::unique_ptr<Stored>;
            ::new (static_cast<void*>(room_))
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

    void operator()() { table_->call(room_); }
    explicit operator bool() const { return table_ != nullptr; }

  private:
    // Two shared pointers, a string and a word: most of what the laboratory posts.
    static constexpr std::size_t room_bytes = 72;

    struct Table {
        void (*call)(void*);
        void (*move)(void*, void*) noexcept;
        void (*destroy)(void*) noexcept;
    };
    template <typename T>
    static constexpr bool fits =
        sizeof(T) <= room_bytes && alignof(T) <= alignof(std::max_align_t) &&
        std::is_nothrow_move_constructible_v<T>;
    template <typename T>
    static void relocate(void* from, void* to) noexcept {
        ::new (to) T(std::move(*static_cast<T*>(from)));
        static_cast<T*>(from)->~T();
    }
    template <typename T>
    static void destroy(void* room) noexcept {
        static_cast<T*>(room)->~T();
    }
    template <typename T>
    static constexpr Table inline_table{[](void* room) { (*static_cast<T*>(room))(); }, relocate<T>,
                                        destroy<T>};
    template <typename T>
    static constexpr Table heap_table{
        [](void* room) { (**static_cast<std::unique_ptr<T>*>(room))(); },
        relocate<std::unique_ptr<T>>, destroy<std::unique_ptr<T>>};

    void take(Action& other) noexcept {
        table_ = std::exchange(other.table_, nullptr);
        if (table_ != nullptr) table_->move(other.room_, room_);
    }
    void reset() noexcept {
        if (const auto* table = std::exchange(table_, nullptr)) table->destroy(room_);
    }

    const Table* table_ = nullptr;
    alignas(std::max_align_t) std::byte room_[room_bytes];  // NOLINT: raw room for any callable
};
// NOLINTEND(cppcoreguidelines-pro-type-member-init)

}  // namespace tabacus::lab
