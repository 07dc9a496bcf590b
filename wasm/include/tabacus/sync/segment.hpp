#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tabacus/sync/mutex.hpp"

// A segment: shared memory of a fixed size for a table of texts, beside the arena. All blocks have
// one size, so that memory cannot fragment. A text is a chain of blocks.
//
// Promises: one thread at a time is inside, that is, between enter() and leave(). If a thread is
// terminated inside, the next thread that enters repairs what it left incomplete.
// Does not provide: growth, or reading without entering. Only `version` can be read outside; it
// shows whether there is anything new to read.
//
// A repair is possible because each table has one chain that holds its whole content. The table
// changes the chain by storing one word, after it has written everything that the word refers to.
// Everything else (free blocks, buckets, totals) follows from the chain and can be rebuilt.

namespace tabacus::sync {

/// The number of a block of a segment. 0 stands for none, because the segment's head is in block 0.
using Ref = std::uint32_t;

inline constexpr std::size_t block_bytes = 64;

/// The first block of a text. JavaScript reads and writes its fields at these offsets.
struct TextHead {
    Ref next;                  // 0
    std::uint32_t units;       // 4   the length of the text, in UTF-16 units
    std::uint32_t references;  // 8   from the table, and from changes that are still kept
    std::array<char16_t, 26> text;
};
/// A further block of a text. JavaScript reads and writes its fields at these offsets.
struct TextMore {
    Ref next;  // 0
    std::array<char16_t, 30> text;
};
static_assert(sizeof(TextHead) == block_bytes && sizeof(TextMore) == block_bytes);
static_assert(offsetof(TextHead, text) == 12 && offsetof(TextMore, text) == 4);

/// A thread that has joined the segment. The page watches for its exit.
struct Member {
    std::atomic<Owner> id{0};
    std::atomic<std::uint32_t> thread{0};  // the platform's number for it; 0 if unknown
};

inline constexpr std::size_t members_max = 256;

/// The id of a member until its `thread` is written, so that a reader who sees an id can also read
/// the thread. It is no owner's id.
inline constexpr Owner joining = UINT32_MAX;

/// The head of every segment. JavaScript reads the fields at these offsets.
struct SegmentHead {
    Word version{0};                         // 0   rises with every change
    Word last_change{0};                     // 4   the number of the last change
    Word joined{0};                          // 8   rises when a thread joins; the page waits on it
    std::array<std::uint32_t, 2> id{};       // 12  a part of the names of threads' liveness locks
    Ref first{0};                            // 20  the beginning of the chain with the content
    std::uint32_t mirror{0};                 // 24  for use by the table
    std::array<Member, members_max> member;  // 28
};

/// The base of a table. `Table` provides `void repair()` and `bool make_space(std::uint32_t)`,
/// which are called inside.
template <class Table>
class Segment {
  public:
    Segment(const Segment&) = delete;
    Segment& operator=(const Segment&) = delete;

    /// Enters, once no other thread is inside. Returns false only if the caller is inside already.
    bool enter(Owner self, bool may_sleep) {
        if (mutex_.try_lock(self) != LockResult::acquired && !enter_slow(self, may_sleep))
            return false;
        turns_.fetch_add(1, std::memory_order_relaxed);
        return true;
    }
    void leave(Owner self) { mutex_.unlock(self); }
    /// Whether a thread is inside, dead or alive.
    [[nodiscard]] bool occupied() const { return mutex_.locked(); }
    /// Whether `self` is inside. The caller checks this before each change, because a thread that
    /// was presumed dead inside must not change anything.
    [[nodiscard]] bool inside(Owner self) const { return mutex_.owner() == self; }

    /// Notes that a thread has exited. If it was inside, repairs what it left incomplete.
    void report_exit(Owner exited, Owner self) {
        if (mutex_.take_over(exited, self)) {
            table().repair();
            leave(self);
        }
        for (Member& member : head_.member) {
            Owner id = exited;
            member.id.compare_exchange_strong(id, 0);
        }
    }

    /// Makes the thread a member, whose exit the page watches for. Returns false if there are
    /// members_max members already; then no exit of this thread is noticed.
    bool join(Owner id, std::uint32_t thread) {
        for (Member& member : head_.member) {
            Owner nobody = 0;
            if (!member.id.compare_exchange_strong(nobody, joining)) continue;
            member.thread.store(thread);
            member.id.store(id);
            head_.joined.fetch_add(1);
            PlatformParker::unpark_all(head_.joined);
            return true;
        }
        return false;
    }

    SegmentHead& head() { return head_; }

    /// For tests: sets the number of waits, of 25 ms each, after which the thread inside is
    /// presumed dead.
    void presume_dead_after(std::uint32_t slices) { slices_max_ = slices; }

    template <class T>
    T* at(Ref ref) {
        return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(&table()) + ref * block_bytes);
    }
    template <class T>
    const T* at(Ref ref) const {
        const auto* start = reinterpret_cast<const std::byte*>(static_cast<const Table*>(this));
        return reinterpret_cast<const T*>(start + ref * block_bytes);
    }

    // Texts. The caller must be inside.

    /// Makes a text of that length, for the caller to write its units. Returns 0 if it does not
    /// fit.
    Ref make_text(std::size_t units) {
        const std::size_t blocks = blocks_of(units);
        if (blocks > end_ || !table().make_space(static_cast<std::uint32_t>(blocks))) return 0;
        Ref chain = 0;
        for (std::size_t i = 0; i < blocks; ++i) {
            const Ref block = allocate_block();
            at<TextMore>(block)->next = chain;
            chain = block;
        }
        auto* head = at<TextHead>(chain);
        head->units = static_cast<std::uint32_t>(units);
        head->references = 1;
        return chain;
    }

    /// Makes a copy of `text`. Returns 0 if it does not fit.
    Ref make_text(std::u16string_view text) {
        const Ref made = make_text(text.size());
        if (made == 0) return 0;
        pieces(made, [&](char16_t* units, std::size_t count, std::size_t from) {
            std::memcpy(units, text.data() + from, count * sizeof(char16_t));
            return true;
        });
        return made;
    }

    void retain(Ref text) { ++at<TextHead>(text)->references; }
    void release_text(Ref text) {
        if (--at<TextHead>(text)->references == 0) free_chain(text);
    }

    [[nodiscard]] std::uint32_t units_of(Ref text) const { return at<TextHead>(text)->units; }

    /// Whether two texts are equal. Texts of one length are cut into blocks in the same way.
    [[nodiscard]] bool same(Ref one, Ref other) {
        if (units_of(one) != units_of(other)) return false;
        return pieces(one, [&, block = other](const char16_t* units, std::size_t count,
                                              std::size_t from) mutable {
            const char16_t* theirs = units_in(block, from);
            block = at<TextMore>(block)->next;
            for (std::size_t i = 0; i < count; ++i) {
                if (units[i] != theirs[i]) return false;
            }
            return true;
        });
    }

    /// Returns the FNV-1a hash of the text's units.
    [[nodiscard]] std::uint32_t hash_of(Ref text) {
        std::uint32_t hash = 2166136261U;
        pieces(text, [&hash](const char16_t* units, std::size_t count, std::size_t) {
            for (std::size_t i = 0; i < count; ++i) hash = (hash ^ units[i]) * 16777619U;
            return true;
        });
        return hash;
    }

    /// Calls `piece(units, count, from)` for each block of the text until it returns false. Returns
    /// whether every call returned true.
    template <class Piece>
    bool pieces(Ref text, Piece piece) {
        const std::size_t all = units_of(text);
        std::size_t from = 0;
        for (Ref block = text; block != 0 && from < all; block = at<TextMore>(block)->next) {
            const std::size_t most = from == 0 ? head_units : more_units;
            const std::size_t count = all - from < most ? all - from : most;
            if (!piece(units_in(block, from), count, from)) return false;
            from += count;
        }
        return true;
    }

  protected:
    static constexpr std::size_t head_units = 26;
    static constexpr std::size_t more_units = 30;

    static std::size_t blocks_of(std::size_t units) {
        return units <= head_units ? 1 : 1 + (units - head_units + more_units - 1) / more_units;
    }

    [[nodiscard]] std::uint32_t free_blocks() const { return free_count_ + (end_ - fresh_); }

    /// Returns a free block. Requires that make_space() has reserved it.
    Ref allocate_block() {
        if (free_ == 0) return fresh_++;
        const Ref block = free_;
        free_ = at<TextMore>(block)->next;
        --free_count_;
        return block;
    }
    void free_chain(Ref chain) {
        while (chain != 0) {
            const Ref next = at<TextMore>(chain)->next;
            at<TextMore>(chain)->next = free_;
            free_ = chain;
            ++free_count_;
            chain = next;
        }
    }

    void free_block(Ref block) {
        at<TextMore>(block)->next = 0;
        free_chain(block);
    }

    /// Stores one word, after all writes before the call and before all writes after it, because a
    /// thread may be terminated between any two instructions.
    template <class Link>
    static void commit(Link& word, Ref ref) {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        word = ref;
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }

    // A repair removes all marks, marks the blocks that are in use, and frees the others.

    void unmark_all() { std::memset(at<std::byte>(marks_), 0, (begin_ - marks_) * block_bytes); }
    void mark(Ref block) { marks_of(block) |= static_cast<std::uint8_t>(1U << block % 8); }
    void mark_text(Ref text) {
        at<TextHead>(text)->references = 1;
        for (Ref block = text; block != 0; block = at<TextMore>(block)->next) mark(block);
    }
    void free_unmarked() {
        free_ = free_count_ = 0;
        for (Ref block = begin_; block < fresh_; ++block) {
            if ((marks_of(block) & 1U << block % 8) != 0) continue;
            at<TextMore>(block)->next = free_;
            free_ = block;
            ++free_count_;
        }
    }

    SegmentHead head_;

  private:
    // An operation takes milliseconds at most, even on the longest text. If a thread stays inside
    // for `slices` waits of `slice_ns`, that is 5 s, it is presumed dead, even if its exit was not
    // reported. Only waits that have run their full time are counted: if the machine sleeps, that
    // makes one wait longer.
    static constexpr std::int64_t slice_ns = 25'000'000;
    static constexpr std::uint32_t slices = 200;
    static constexpr std::uint32_t spins_max = 20;

    Table& table() { return *static_cast<Table*>(this); }

    char16_t* units_in(Ref block, std::size_t from) {
        return from == 0 ? at<TextHead>(block)->text.data() : at<TextMore>(block)->text.data();
    }

    friend Table;

    /// `bytes` is the size of the segment, `own_bytes` that of the table at its beginning.
    Segment(std::uint32_t bytes, std::size_t own_bytes)
        : marks_(static_cast<Ref>((own_bytes + block_bytes - 1) / block_bytes)),
          begin_(marks_ + static_cast<Ref>(bytes / block_bytes / (8 * block_bytes)) + 1),
          fresh_(begin_),
          end_(static_cast<Ref>(bytes / block_bytes)) {}

    std::uint8_t& marks_of(Ref block) { return at<std::uint8_t>(marks_)[block / 8]; }

    [[gnu::noinline]] bool enter_slow(Owner self, bool may_sleep) {
        Owner owner = 0;
        std::uint32_t turn = 0;
        std::uint32_t waits = 0;
        for (bool slept = false;;) {
            const LockResult got =
                may_sleep ? mutex_.lock_slice(self, slice_ns, slept) : mutex_.lock_spinning(self);
            if (got == LockResult::acquired) return true;
            if (got == LockResult::would_deadlock) return false;
            if (may_sleep && got != LockResult::timed_out) continue;
            if (mutex_.owner() != owner || turns_.load() != turn) {
                owner = mutex_.owner();
                turn = turns_.load();
                waits = 0;
            }
            if (++waits < (may_sleep ? slices_max_ : spins_max)) continue;
            if (owner == 0 || !mutex_.take_over(owner, self)) continue;
            table().repair();
            return true;
        }
    }

    Mutex mutex_;
    Word turns_{0};  // rises whenever a thread enters
    std::uint32_t slices_max_ = slices;
    Ref marks_;  // the blocks behind the table with a bit for each block, for a repair
    Ref begin_;  // the first block for texts and for the table's items
    Ref fresh_;  // all blocks from this one on have never been used
    Ref end_;    // the number of blocks
    Ref free_ = 0;
    std::uint32_t free_count_ = 0;
};

}  // namespace tabacus::sync
