// Shared: a shared pointer for one thread. All types share one copy of its code.
#pragma once

#include <concepts>
#include <memory>
#include <utility>

namespace tabacus {

/// The base of what a Shared points to. It counts the pointers.
class Counted {
  public:
    Counted() = default;
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    Counted(Counted&&) = delete;
    Counted& operator=(Counted&&) = delete;
    virtual ~Counted() = default;

  private:
    friend class AnyShared;
    int holders_ = 0;
};

/// A shared pointer to a counted object of any type. The last pointer destroys the object.
class AnyShared {
  public:
    AnyShared() = default;
    explicit AnyShared(std::unique_ptr<Counted> counted) noexcept : counted_(counted.release()) {
        counted_->holders_ = 1;
    }
    // Copies and destructions are never inlined, because a program has hundreds of them.
    [[gnu::noinline]] AnyShared(const AnyShared& other) noexcept : counted_(other.counted_) {
        if (counted_) ++counted_->holders_;
    }
    AnyShared(AnyShared&& other) noexcept : counted_(std::exchange(other.counted_, nullptr)) {}
    AnyShared& operator=(AnyShared other) noexcept {
        std::swap(counted_, other.counted_);
        return *this;
    }
    [[gnu::noinline]] ~AnyShared() {
        if (!counted_ || --counted_->holders_ > 0) return;
        const std::unique_ptr<Counted> last(counted_);
    }
    explicit operator bool() const noexcept { return counted_ != nullptr; }

  protected:
    [[nodiscard]] Counted* counted() const noexcept { return counted_; }

  private:
    Counted* counted_ = nullptr;
};

template <typename T>
class Shared : public AnyShared {
  public:
    Shared() = default;
    explicit Shared(std::unique_ptr<T> object) noexcept : AnyShared(std::move(object)) {}
    template <std::derived_from<T> Derived>
    Shared(Shared<Derived> other) noexcept  // NOLINT(google-explicit-constructor): as a pointer
        : AnyShared(std::move(other)) {}

    T* operator->() const noexcept { return static_cast<T*>(counted()); }
    T& operator*() const noexcept { return *static_cast<T*>(counted()); }
};

}  // namespace tabacus
