#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tabacus/sync/arena.hpp"
#include "tabacus/sync/storage_table.hpp"
#include "tabacus/threads/deadline.hpp"
#include "tabacus/threads/shared_segment.hpp"

namespace tabacus {

/// The storage that the threads of a page share, for C++ threads. It has the same items as
/// `shared.storage()` in JavaScript, and as localStorage if the page has one.
///
/// Every thread reads a value as soon as it is set. The page writes the changes to localStorage in
/// a later turn of its event loop, in their order. Texts are UTF-16 and may contain lone
/// surrogates.
///
/// One thread at a time may use an object. Each thread can have an object of its own.
class SharedStorage {
  public:
    /// Blocks until the page has made the storage. Requires that the page's main thread runs.
    ///
    /// @throws std::system_error as segment_of() does
    explicit SharedStorage(sync::Arena& arena)
        : SharedStorage(segment_of<sync::StorageTable>(arena, arena.storage_slot),
                        arena.take_id()) {}

    /// @param self an id that no other user of that storage has
    SharedStorage(sync::StorageTable& table, sync::Owner self) : table_(table), self_(self) {
        inside([&] {
            table_.listen();
            last_read_ = table_.head().last_change.load();
            return true;
        });
    }

    /// Returns the value of the key; nothing if there is no such item.
    [[nodiscard]] std::optional<std::u16string> get(std::u16string_view key) {
        return inside([&]() -> std::optional<std::u16string> {
            const sync::Ref name = table_.make_text(key);
            if (name == 0) return std::nullopt;  // the key is longer than every stored key
            const sync::Ref item = table_.find(name);
            table_.release_text(name);
            if (item == 0) return std::nullopt;
            return read(table_.at<sync::StorageItem>(item)->value);
        });
    }

    /// Sets the value of the key. Returns false if it does not fit; then the old value stays.
    bool set(std::u16string_view key, std::u16string_view value) {
        return inside([&] {
            const sync::Ref name = table_.make_text(key);
            if (name == 0) return false;
            if (const sync::Ref text = table_.make_text(value)) {
                return table_.set(self_, name, text) != sync::Stored::full;
            }
            table_.release_text(name);
            return false;
        });
    }

    /// Removes the item with that key. Returns false if there is no such item.
    bool remove(std::u16string_view key) {
        return inside([&] {
            const sync::Ref name = table_.make_text(key);
            return name != 0 && table_.remove(self_, name) == sync::Stored::changed;
        });
    }

    /// Removes all items.
    void clear() {
        inside([&] { return table_.clear(self_); });
    }

    struct Item {
        std::u16string key;
        std::u16string value;
        bool operator==(const Item&) const = default;
    };

    /// Returns all items as they are at one moment, in the order in which their keys were added.
    [[nodiscard]] std::vector<Item> items() {
        return inside([&] {
            std::vector<Item> all;
            for (sync::Ref at = table_.first(); at != 0;) {
                const auto& item = *table_.at<sync::StorageItem>(at);
                all.push_back({read(item.key), read(item.value)});
                at = item.next;
            }
            return all;
        });
    }

    /// A change by another thread or another tab, with the attributes of a StorageEvent. It has no
    /// key if all items were removed, or if changes were missed, so that anything may have changed.
    struct Change {
        std::optional<std::u16string> key;
        std::optional<std::u16string> old_value;
        std::optional<std::u16string> new_value;
        bool operator==(const Change&) const = default;
    };

    /// Returns the next change since this object was made that it has not returned yet. Waits for
    /// it for at most `timeout`, then returns nothing.
    std::optional<Change> next_change(std::chrono::nanoseconds timeout) {
        const std::int64_t deadline_ns = deadline_after(timeout);
        for (;;) {
            if (auto change = inside([&] { return unread_change(); })) return change;
            const std::int64_t rest_ns = deadline_ns - steady_now_ns();
            if (rest_ns <= 0) return std::nullopt;
            sync::PlatformParker::park(table_.head().last_change, last_read_, rest_ns);
        }
    }

  private:
    std::optional<Change> unread_change() {
        while (last_read_ != table_.head().last_change) {
            const sync::Ref known = table_.change(++last_read_);
            if (known == 0) {
                last_read_ = table_.head().last_change;
                return Change{};
            }
            const auto& change = *table_.at<sync::StorageChange>(known);
            if (change.writer == self_) continue;
            return Change{read_if(change.key), read_if(change.old_value),
                          read_if(change.new_value)};
        }
        return std::nullopt;
    }

    [[nodiscard]] std::optional<std::u16string> read_if(sync::Ref text) {
        return text == 0 ? std::nullopt : std::optional(read(text));
    }

    [[nodiscard]] std::u16string read(sync::Ref text) {
        std::u16string whole;
        whole.reserve(table_.units_of(text));
        table_.pieces(text, [&whole](const char16_t* units, std::size_t count, std::size_t) {
            whole.append(units, count);
            return true;
        });
        return whole;
    }

    template <class Work>
    std::invoke_result_t<Work> inside(Work work) {
        table_.enter(self_, true);
        auto result = work();
        table_.leave(self_);
        return result;
    }

    sync::StorageTable& table_;
    sync::Owner self_;
    std::uint32_t last_read_ = 0;
};

}  // namespace tabacus
