#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "tabacus/sync/segment.hpp"

// Web Storage (HTML 12.2) in a segment: the items, in the order in which their keys were added, and
// the changes that threads are notified of.
//
// Promises: once a thread has set a value, every thread reads it. A value that does not fit leaves
// the old value. Every item can be found and removed, even if the segment is full. All threads see
// the changes in one order.
// Does not provide: unlimited storage of changes. A listener learns that it has missed changes if
// it is `changes_max` behind, if their blocks were needed, or if the work of a terminated thread
// was repaired.
//
//   chain     first -> item -> item, through `next`; the value of an item is one word
//   rebuilt   buckets, `before`, `last`, count, bytes and free blocks; the changes are dropped

namespace tabacus::sync {

/// A key and its value. JavaScript reads the fields at the given offsets.
struct StorageItem {
    std::atomic<Ref> next{0};   // 0
    std::atomic<Ref> value{0};  // 4
    Ref key = 0;                // 8
    Ref before = 0;
    Ref same_bucket = 0;
    std::uint32_t hash = 0;
};
static_assert(sizeof(StorageItem) <= block_bytes);

/// A change, with the attributes of a StorageEvent; 0 stands for null.
struct StorageChange {
    Owner writer = 0;   // 0
    Ref key = 0;        // 4
    Ref old_value = 0;  // 8
    Ref new_value = 0;  // 12
};
static_assert(sizeof(StorageChange) <= block_bytes);

enum class Stored : std::uint32_t { changed = 0, unchanged = 1, full = 2 };

class StorageTable : public Segment<StorageTable> {
  public:
    static constexpr std::uint32_t changes_max = 4096;

    /// The writer of changes that the page received from other tabs.
    static constexpr Owner other_tabs = 0;

    /// Returns the size of a segment for that quota, in bytes. A text fills up to fifteen
    /// sixteenths of its blocks, and an item needs a block of its own.
    static constexpr std::uint32_t segment_bytes(std::uint32_t quota_bytes);

    /// `bytes` is the size of the segment. `quota_bytes` is the limit for all keys and values
    /// together, at two bytes for each UTF-16 unit.
    StorageTable(std::uint32_t bytes, std::uint32_t quota_bytes)
        : Segment(bytes, sizeof(StorageTable)), quota_bytes_(quota_bytes) {}

    // The caller of all functions below must be inside.

    /// Returns the item with that key, or 0.
    Ref find(Ref key) { return find(key, hash_of(key)); }

    /// Sets the value of a key. Takes over the caller's references to both texts. Changes nothing
    /// if it returns `full`.
    Stored set(Owner writer, Ref key, Ref value) {
        const std::uint32_t hash = hash_of(key);
        const Ref item = find(key, hash);
        return item == 0 ? insert(writer, key, value, hash) : replace(writer, item, key, value);
    }

    /// Removes the item with that key. Takes over the caller's reference to the key. Returns
    /// `unchanged` if there is no such item.
    Stored remove(Owner writer, Ref key) {
        const Ref item = find(key);
        release_text(key);
        if (item == 0) return Stored::unchanged;
        unlink(item);
        auto* gone = at<StorageItem>(item);
        bytes_ -= 2 * (units_of(gone->key) + units_of(gone->value));
        --count_;
        publish(writer, gone->key, gone->value, 0);
        free_block(item);
        return Stored::changed;
    }

    /// Removes all items. Returns `unchanged` if there are none.
    Stored clear(Owner writer) {
        if (head_.first == 0) return Stored::unchanged;
        Ref item = head_.first;
        commit(head_.first, 0);
        last_ = 0;
        count_ = bytes_ = longest_ = 0;
        buckets_.fill(0);
        while (item != 0) {
            auto* gone = at<StorageItem>(item);
            const Ref next = gone->next;
            release_text(gone->key);
            release_text(gone->value);
            free_block(item);
            item = next;
        }
        publish(writer, 0, 0, 0);
        return Stored::changed;
    }

    [[nodiscard]] Ref first() const { return head_.first; }
    [[nodiscard]] std::uint32_t count() const { return count_; }
    [[nodiscard]] std::uint32_t bytes() const { return bytes_; }
    [[nodiscard]] std::uint32_t quota_bytes() const { return quota_bytes_; }

    /// Begins to keep changes.
    void listen() { listeners_ = true; }

    /// Returns the change with that number; 0 if it is not kept.
    Ref change(std::uint32_t number) {
        const std::uint32_t last = head_.last_change.load();
        // Numbers wrap around, and so do these differences.
        if (last - number >= kept_) return 0;
        return changes_[number % changes_max];
    }

    /// Makes sure that `count` blocks are free. If necessary, drops changes that a listener may not
    /// have read yet. Returns false if there are too few blocks.
    bool make_space(std::uint32_t count) {
        while (free_blocks() < count && kept_ > 0) forget_oldest();
        return free_blocks() >= count;
    }

    void repair() {
        kept_ = 0;
        buckets_.fill(0);
        last_ = 0;
        count_ = bytes_ = longest_ = 0;
        unmark_all();
        for (Ref item = head_.first; item != 0; item = at<StorageItem>(item)->next)
            recover_item(item);
        free_unmarked();
        head_.version.fetch_add(1);
        announce();
    }

  private:
    static constexpr std::size_t buckets_max = 1024;

    Ref find(Ref key, std::uint32_t hash) {
        Ref item = buckets_[hash % buckets_max];
        while (item != 0) {
            auto* candidate = at<StorageItem>(item);
            if (candidate->hash == hash && same(candidate->key, key)) return item;
            item = candidate->same_bucket;
        }
        return 0;
    }

    Stored insert(Owner writer, Ref key, Ref value, std::uint32_t hash) {
        const std::uint64_t more = 2ULL * units_of(key) + 2ULL * units_of(value);
        if (bytes_ + more > quota_bytes_ || !leaves_reserve(1, units_of(key), 0)) {
            release_text(key);
            release_text(value);
            return Stored::full;
        }
        const Ref item = allocate_block();
        auto* made = new (at<std::byte>(item)) StorageItem;
        made->key = key;
        made->value = value;
        made->hash = hash;
        if (last_ == 0) {
            commit(head_.first, item);
        } else {
            commit(at<StorageItem>(last_)->next, item);
        }
        index_item(item);
        retain(key);
        retain(value);
        publish(writer, key, 0, value);
        return Stored::changed;
    }

    Stored replace(Owner writer, Ref item, Ref key, Ref value) {
        release_text(key);
        auto* known = at<StorageItem>(item);
        const Ref old_value = known->value;
        const std::uint32_t less = 2 * units_of(old_value);
        const std::uint64_t more = 2ULL * units_of(value);
        const bool equal = same(old_value, value);
        if (equal || bytes_ - less + more > quota_bytes_) {
            release_text(value);
            return equal ? Stored::unchanged : Stored::full;
        }
        if (!leaves_reserve(0, 0, units_of(old_value))) {
            release_text(value);
            return Stored::full;
        }
        commit(known->value, value);
        bytes_ = static_cast<std::uint32_t>(bytes_ - less + more);
        retain(known->key);
        retain(value);
        publish(writer, known->key, old_value, value);
        return Stored::changed;
    }

    /// Updates everything that follows from the chain for its last item.
    void index_item(Ref item) {
        auto* indexed = at<StorageItem>(item);
        indexed->before = last_;
        last_ = item;
        Ref& bucket = buckets_[indexed->hash % buckets_max];
        indexed->same_bucket = bucket;
        bucket = item;
        ++count_;
        bytes_ += 2 * (units_of(indexed->key) + units_of(indexed->value));
        longest_ = std::max(longest_, units_of(indexed->key));
    }

    /// Whether a copy of the longest key still fits after a change, because every lookup makes a
    /// copy of its key. The change allocates `count` blocks, adds a key of `units` units and
    /// releases a text of `freed` units.
    bool leaves_reserve(std::uint32_t count, std::uint32_t units, std::uint32_t freed) {
        const auto enough = [&] {
            const std::size_t reserve = count + blocks_of(std::max(longest_, units));
            const std::size_t back = freed == 0 ? 0 : blocks_of(freed);
            return reserve <= back || make_space(static_cast<std::uint32_t>(reserve - back));
        };
        if (enough()) return true;
        // `longest_` may be too large, because the longest key may have been removed.
        longest_ = 0;
        for (Ref item = head_.first; item != 0; item = at<StorageItem>(item)->next) {
            longest_ = std::max(longest_, units_of(at<StorageItem>(item)->key));
        }
        return enough();
    }

    void recover_item(Ref item) {
        mark(item);
        mark_text(at<StorageItem>(item)->key);
        mark_text(at<StorageItem>(item)->value);
        index_item(item);
    }

    void unlink(Ref item) {
        const auto* gone = at<StorageItem>(item);
        const Ref next = gone->next;
        if (gone->before == 0) {
            commit(head_.first, next);
        } else {
            commit(at<StorageItem>(gone->before)->next, next);
        }
        if (next == 0) {
            last_ = gone->before;
        } else {
            at<StorageItem>(next)->before = gone->before;
        }
        Ref* link = &buckets_[gone->hash % buckets_max];
        while (*link != item) link = &at<StorageItem>(*link)->same_bucket;
        *link = gone->same_bucket;
    }

    /// Keeps the change and notifies listeners. Takes over one reference to each of the texts.
    void publish(Owner writer, Ref key, Ref old_value, Ref new_value) {
        head_.version.fetch_add(1);
        const StorageChange change{
            .writer = writer, .key = key, .old_value = old_value, .new_value = new_value};
        if (!listeners_ || !make_space(1)) {
            // make_space() has dropped all kept changes, so listeners miss all changes up to this.
            drop(change);
        } else {
            if (kept_ == changes_max) forget_oldest();
            const Ref block = allocate_block();
            new (at<std::byte>(block)) StorageChange(change);
            changes_[(head_.last_change.load() + 1) % changes_max] = block;
            ++kept_;
        }
        announce();
    }

    void announce() {
        head_.last_change.fetch_add(1);
        if (listeners_) PlatformParker::unpark_all(head_.last_change);
    }

    void drop(const StorageChange& change) {
        if (change.key != 0) release_text(change.key);
        if (change.old_value != 0) release_text(change.old_value);
        if (change.new_value != 0) release_text(change.new_value);
    }

    void forget_oldest() {
        const std::uint32_t number = head_.last_change.load() - kept_ + 1;
        const Ref block = changes_[number % changes_max];
        --kept_;
        drop(*at<StorageChange>(block));
        free_block(block);
    }

    Ref last_ = 0;
    std::uint32_t count_ = 0;
    std::uint32_t bytes_ = 0;
    std::uint32_t longest_ = 0;  // no key has more units than this
    std::uint32_t quota_bytes_;
    std::uint32_t kept_ = 0;  // the number of latest changes that are in `changes_`
    bool listeners_ = false;
    std::array<Ref, buckets_max> buckets_{};
    std::array<Ref, changes_max> changes_{};
};

constexpr std::uint32_t StorageTable::segment_bytes(std::uint32_t quota_bytes) {
    return static_cast<std::uint32_t>(sizeof(StorageTable)) + quota_bytes + quota_bytes / 4 +
           (1U << 16);
}

}  // namespace tabacus::sync
