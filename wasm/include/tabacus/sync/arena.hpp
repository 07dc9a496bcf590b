#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>
#include <type_traits>

#include "tabacus/sync/atomic_counter.hpp"
#include "tabacus/sync/barrier.hpp"
#include "tabacus/sync/call_once.hpp"
#include "tabacus/sync/condition.hpp"
#include "tabacus/sync/counting_semaphore.hpp"
#include "tabacus/sync/mutex.hpp"
#include "tabacus/sync/mutexed_counter.hpp"
#include "tabacus/sync/rw_lock.hpp"
#include "tabacus/sync/striped_counter.hpp"
#include "tabacus/sync/tab_cells.hpp"
#include "tabacus/sync/tab_request.hpp"
#include "tabacus/sync/thread_id.hpp"
#include "tabacus/sync/unsynchronised_counter.hpp"

// Arena: a fixed piece of shared memory with counters and mutexes, which every module instance that
// maps the memory finds by name. Everything in it is addressed by offsets from its root. Only this
// file defines the layout, so that two modules that are built from this file agree; `magic` and
// `version` show whether another version has laid out the memory.
//
//   root   Arena: magic, version, the registry's mutex, the ids, the beginning of free memory
//   then   entries (name and kind), objects, and requests and cells for the tab, each on cache lines
//          of its own; they are never moved
//   last   agents, in a part of their own, so that names cannot take up the space of threads
//
// Objects live as long as the memory. An agent's block is free again once the agent leaves, or once
// its death is reported.
//
// A thread may die at any instruction. report_death() is the one way by which its death reaches the
// primitives: whoever learns of it (the page, the destructor of a C++ thread) calls it, and it calls
// owner_died() of each object. The arena itself is repaired by the next thread that acquires the
// registry's mutex.

namespace tabacus::sync {

/// The kind of object that a name stands for. `any` is for a lookup that makes no object.
enum class Kind : std::uint32_t {
    any = 0,
    atomic = 1,
    mutexed = 2,
    striped = 3,
    unsynchronised = 4,
    mutex = 5,
    rw_lock = 6,
    semaphore = 7,
    barrier = 8,
    condition = 9,
    once = 10,
};

/// An offset from the root, in bytes. 0 stands for none, because the Arena itself is at the root.
using Offset = std::uint32_t;

/// The longest name, in UTF-16 units as in JavaScript. Names are equal if all their units are.
inline constexpr std::size_t name_units_max = 128;

/// One thread's block in the arena: its id, its results and its stack. JavaScript reads and writes
/// the first fields, at these offsets.
///
/// A thread takes the block by its claim, a number by which the page can tell whether the thread
/// still runs. So a block is never taken without a sign of whose it is:
///
///   claim   id    meaning                                 transitions
///   0       0     free                                    any thread: stores its claim
///   c       0     a thread enters, or leaves, or has      it: stores its id, or 0 as the claim;
///                 died as it did so                       report_exit(): 0 as the claim
///   c       i     a thread's                              report_death(), report_exit(): 0 as the
///                                                         id, and then as the claim
///   0       i     impossible: the claim comes first, and goes last
struct alignas(line_bytes) Agent {
    std::atomic<Owner> id;                      // 0   the owner of what this agent locks
    std::uint32_t may_sleep;                    // 4   0 on a page's main thread
    std::uint32_t outcome;                      // 8   Outcome of the last exact add
    std::atomic<std::uint32_t> claim;           // 12  the number of the thread, for the page
    std::array<char16_t, name_units_max> name;  // 16  the name that `open` looks up
    // The functions that use this stack need a few words. Its size makes an agent one page of 4
    // KiB.
    std::array<std::byte, 3712> stack;
};
static_assert(offsetof(Agent, id) == 0 && offsetof(Agent, may_sleep) == 4);
static_assert(offsetof(Agent, outcome) == 8 && offsetof(Agent, claim) == 12);
static_assert(offsetof(Agent, name) == 16);
static_assert(sizeof(Agent) == 4096, "one page");

/// A name and its object. JavaScript reads `kind` and `object`, at these offsets.
struct alignas(line_bytes) Entry {
    Kind kind;      // 0
    Offset object;  // 4
    Offset next;
    std::uint32_t name_units;
    std::array<char16_t, name_units_max> name;
};
static_assert(offsetof(Entry, kind) == 0 && offsetof(Entry, object) == 4);

/// The place of a segment (segment.hpp). The page makes the segment when the first thread asks for
/// it. JavaScript reads and writes the fields at these offsets.
struct SegmentSlot {
    Word wanted{0};   // 0  1 once a thread has asked for the segment
    Word segment{0};  // 4  its offset from the root; 0 until it is made, or one of these:
    static constexpr std::uint32_t no_memory = UINT32_MAX;      // the page has no memory for it
    static constexpr std::uint32_t no_page = UINT32_MAX - 1;    // the page is closed
    static constexpr std::uint32_t no_module = UINT32_MAX - 2;  // store.wasm could not be loaded

    std::uint32_t quota_bytes =
        0;  // 8  the quota that the first thread asked for; with 0 the page chooses one
};
static_assert(sizeof(SegmentSlot) == 12);

enum class Opened : std::uint32_t {
    found = 0,  // the entry's kind may differ from the kind that was asked for: the caller compares
    full = 1,
    busy = 2,  // the registry is locked and the caller may not sleep
};

struct OpenResult {
    Opened outcome;
    Offset entry;
};

class alignas(line_bytes) Arena {
  public:
    static constexpr std::uint32_t magic_number = 0x7ABAC005;
    static constexpr std::uint32_t version_number = 7;

    const std::uint32_t magic = magic_number;      // 0
    const std::uint32_t version = version_number;  // 4

    SegmentSlot storage_slot;  // 8   of the storage's segment (storage_table.hpp)
    SegmentSlot locks_slot;    // 20  of the locks' segment (shared_lock_table.hpp)
    Word wanted{0};            // 32  rises when a thread asks for a segment; the page waits on it
    Word joined{0};            // 36  rises when a thread has entered; the page waits on it
    Word agents_used{0};       // 40  all agents from this one on have never been used

    /// Requires that the memory that begins at this arena has `bytes` for everything but agents,
    /// and behind them the space of `agents` agents, which is all zero; and that `bytes` is a
    /// multiple of line_bytes.
    Arena(std::uint32_t bytes, std::uint32_t agents) : bytes_(bytes), agents_(agents) {}

    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    /// Returns a new owner id, or 0 if all ids up to owner_max are used up.
    Owner take_id() {
        Owner id = last_id_.load();
        do {
            if (id == owner_max) return 0;
        } while (!last_id_.compare_exchange_weak(id, id + 1));
        return id + 1;
    }

    /// Returns a block for one thread, or nullptr if the arena is full. `id` is from take_id(); there
    /// is no block for 0. `claim` is not 0. If the page can tell whether the thread with that claim
    /// still runs, then it can do so before this call, and calls report_exit() if the thread dies,
    /// at whatever instruction.
    Agent* enter(Owner id, std::uint32_t claim, bool may_sleep) {
        if (id == 0) return nullptr;
        for (std::uint32_t index = 0; index < agents_; ++index) {
            std::uint32_t used = index;
            agents_used.compare_exchange_strong(used, index + 1);
            Agent* agent = agent_at(index);
            std::uint32_t nobody = 0;
            if (!agent->claim.compare_exchange_strong(nobody, claim)) continue;
            agent->may_sleep = may_sleep ? 1 : 0;
            agent->id.store(id);
            return agent;
        }
        return nullptr;
    }

    /// Notes that the thread with that id has died, or that it leaves the arena, and frees its block.
    /// The next acquirer of what it holds is notified of that (mutex.hpp). `self` is the caller; a
    /// thread that leaves is both. Any thread may call it, also repeatedly and while another thread
    /// does. Requires that the dead thread does nothing else any more, not even a report of its own
    /// end. Does nothing for 0, which is no thread.
    void report_death(Owner dead, Owner self) {
        if (dead == 0) return;
        mutex_.owner_died(dead);
        for (Offset entry = first_entry_.load(); entry != 0; entry = at<Entry>(entry)->next) {
            owner_died(*at<Entry>(entry), dead, self);
        }
        const std::uint32_t used = agents_used.load();
        for (std::uint32_t index = 0; index < used; ++index) {
            Agent& agent = *agent_at(index);
            const std::uint32_t claim = agent.claim.load();
            Owner id = dead;
            if (agent.id.compare_exchange_strong(id, 0)) free(agent, claim);
        }
    }

    /// Notes that the thread has died that claims the block, and frees the block. `self` is the caller.
    /// Otherwise as report_death().
    void report_exit(Agent& agent, Owner self) {
        const std::uint32_t claim = agent.claim.load();
        report_death(agent.id.load(), self);
        free(agent, claim);
    }

    /// Returns the entry with the name in the first `units` units of agent.name. Makes it, with an
    /// object of `kind`, if there is none. Requires that `units` is at most name_units_max.
    OpenResult open(const Agent& agent, Kind kind, std::uint32_t units) {
        const Held held(mutex_, agent.id, agent.may_sleep != 0);
        if (!held.acquired) return {Opened::busy, 0};
        repair_if(held.owner_died());
        for (Offset entry = first_entry_.load(); entry != 0; entry = at<Entry>(entry)->next) {
            if (named(*at<Entry>(entry), agent, units)) return {Opened::found, entry};
        }
        const Offset entry = insert(agent, kind, units);
        return {entry == 0 ? Opened::full : Opened::found, entry};
    }

    /// Returns a request for the lock over tabs of that name (tab_request.hpp). `watched`: whether
    /// the page learns when the caller exits. On failure returns nullptr, and sets `outcome` to
    /// `full` or `busy`.
    TabRequest* open_tab_request(Owner caller, bool may_sleep, bool watched,
                                 std::u16string_view name, Opened& outcome) {
        const Owner agent = watched ? caller : 0;
        outcome = Opened::found;
        for (TabRequest* known = next_tab_request(nullptr); known != nullptr;
             known = next_tab_request(known)) {
            if (known->take(agent, name)) return known;
        }
        const Held held(mutex_, caller, may_sleep);
        if (!held.acquired) {
            outcome = Opened::busy;
            return nullptr;
        }
        repair_if(held.owner_died());
        begin_insert(first_tab_request_);
        auto* made = allocate<TabRequest>();
        if (made == nullptr) {
            outcome = Opened::full;
            return nullptr;
        }
        made->take(agent, name);
        made->put_before(first_tab_request_.load());
        first_tab_request_.store(offset(made));
        return made;
    }

    /// Returns the request after `before`, or the first one for nullptr; nullptr after the last.
    /// Requests are never removed.
    TabRequest* next_tab_request(const TabRequest* before) {
        const Offset next = before == nullptr ? first_tab_request_.load() : before->next();
        return next == 0 ? nullptr : at<TabRequest>(next);
    }

    /// Returns the cells of the counter over tabs of that name (tab_cells.hpp). If there are none,
    /// makes them, and rings the bell, so that the page publishes what it knows. On failure returns
    /// nullptr, and sets `outcome` to `full` or `busy`.
    TabCells* open_tab_cells(Owner caller, bool may_sleep, std::u16string_view name,
                             Opened& outcome) {
        outcome = Opened::found;
        TabCells* cells = find_tab_cells(name);
        if (cells != nullptr) return cells;
        const Held held(mutex_, caller, may_sleep);
        if (!held.acquired) {
            outcome = Opened::busy;
            return nullptr;
        }
        repair_if(held.owner_died());
        cells = find_tab_cells(name);
        if (cells != nullptr) return cells;
        begin_insert(first_tab_cells_);
        cells = allocate<TabCells>();
        if (cells == nullptr) {
            outcome = Opened::full;
            return nullptr;
        }
        cells->put(name, first_tab_cells_.load());
        first_tab_cells_.store(offset(cells));
        tab_bell_.ring();
        return cells;
    }

    /// Returns the cells after `before`, or the first ones for nullptr; nullptr after the last.
    /// Cells are never removed.
    TabCells* next_tab_cells(const TabCells* before) {
        const Offset next = before == nullptr ? first_tab_cells_.load() : before->next();
        return next == 0 ? nullptr : at<TabCells>(next);
    }

    /// Returns the bell that the page waits on.
    TabBell& tab_bell() { return tab_bell_; }

    /// Returns the segment of that slot. Blocks until the page has made it. Returns 0 if the page
    /// has no memory for it, is closed, or could not load store.wasm. In the last case, the next
    /// call asks the page to try again.
    Offset open_segment(SegmentSlot& slot) {
        std::uint32_t failed = SegmentSlot::no_module;
        const bool again = slot.segment.compare_exchange_strong(failed, 0);
        if (slot.wanted.exchange(1) == 0 || again) {
            wanted.fetch_add(1);
            PlatformParker::unpark_all(wanted);
        }
        Offset segment = 0;
        while ((segment = slot.segment.load()) == 0) {
            PlatformParker::park(slot.segment, 0, forever_ns);
        }
        return segment < SegmentSlot::no_module ? segment : 0;
    }

    template <class T>
    T* at(Offset offset) {
        return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(this) + offset);
    }

    Offset offset(const void* object) const {
        return static_cast<Offset>(static_cast<const std::byte*>(object) -
                                   reinterpret_cast<const std::byte*>(this));
    }

  private:
    [[gnu::noinline]] TabCells* find_tab_cells(std::u16string_view name) {
        TabCells* cells = next_tab_cells(nullptr);
        while (cells != nullptr && cells->name() != name) cells = next_tab_cells(cells);
        return cells;
    }

    static bool named(const Entry& entry, const Agent& agent, std::uint32_t units) {
        if (entry.name_units != units) return false;
        for (std::uint32_t i = 0; i < units; ++i) {
            if (entry.name[i] != agent.name[i]) return false;
        }
        return true;
    }

    /// Calls owner_died() of an object.
    void owner_died(const Entry& entry, Owner dead, Owner self) {
        switch (entry.kind) {
            case Kind::mutexed:
                return at<MutexedCounter>(entry.object)->owner_died(dead);
            case Kind::striped:
                return at<StripedCounter>(entry.object)->owner_died(dead);
            case Kind::mutex:
                return at<Mutex>(entry.object)->owner_died(dead);
            case Kind::rw_lock:
                return at<RwLock>(entry.object)->owner_died(dead, self);
            case Kind::semaphore:
                return at<Semaphore>(entry.object)->owner_died(dead, self);
            case Kind::barrier:
                return at<Barrier>(entry.object)->owner_died(dead, self);
            case Kind::condition:
                return at<Condition>(entry.object)->owner_died(dead);
            case Kind::once:
                return at<OnceFlag>(entry.object)->owner_died(dead);
            case Kind::atomic:
            case Kind::unsynchronised:
            case Kind::any:
                break;  // these have no owners
        }
    }

    /// Notes where the next object begins, and the word that will refer to it: the insert takes
    /// effect when its offset is stored in `list`.
    void begin_insert(std::atomic<Offset>& list) {
        insert_begin_.store(used_);
        insert_list_.store(offset(&list));
    }

    /// If a thread has died before its insert took effect, frees what it had allocated. Requires
    /// that the caller holds the mutex.
    void repair_if(bool owner_died) {
        if (!owner_died || insert_list_.load() == 0) return;
        const Offset begin = insert_begin_.load();
        if (at<std::atomic<Offset>>(insert_list_.load())->load() < begin) used_ = begin;
    }

    /// Makes an entry. If the object does not fit, frees the entry and returns 0.
    Offset insert(const Agent& agent, Kind kind, std::uint32_t units) {
        begin_insert(first_entry_);
        auto* entry = allocate<Entry>();
        const Offset object = entry == nullptr ? 0 : allocate_object(kind);
        if (object == 0) {
            used_ = insert_begin_.load();
            return 0;
        }
        entry->kind = kind;
        entry->object = object;
        entry->next = first_entry_.load();
        entry->name_units = units;
        for (std::uint32_t i = 0; i < units; ++i) entry->name[i] = agent.name[i];
        const Offset made = offset(entry);
        first_entry_.store(made);
        return made;
    }

    Offset allocate_object(Kind kind) {
        switch (kind) {
            case Kind::atomic:
                return allocate_offset<AtomicCounter>();
            case Kind::mutexed:
                return allocate_offset<MutexedCounter>();
            case Kind::striped:
                return allocate_offset<StripedCounter>();
            case Kind::unsynchronised:
                return allocate_offset<UnsynchronisedCounter>();
            case Kind::mutex:
                return allocate_offset<Mutex>();
            case Kind::rw_lock:
                return allocate_offset<RwLock>();
            case Kind::semaphore:
                return allocate_offset<Semaphore>();
            case Kind::barrier:
                return allocate_offset<Barrier>();
            case Kind::condition:
                return allocate_offset<Condition>();
            case Kind::once:
                return allocate_offset<OnceFlag>();
            case Kind::any:
                break;
        }
        return 0;
    }

    template <class T>
    Offset allocate_offset() {
        const T* object = allocate<T>();
        return object == nullptr ? 0 : offset(object);
    }

    /// Frees a block that has no id, unless another thread has claimed it meanwhile.
    static void free(Agent& agent, std::uint32_t claim) {
        agent.claim.compare_exchange_strong(claim, 0);
    }

    Agent* agent_at(std::uint32_t index) {
        return at<Agent>(bytes_ + index * std::uint32_t{sizeof(Agent)});
    }

    /// Makes an object on cache lines of its own, so that writes to one object do not slow down
    /// accesses to another. Returns nullptr if it does not fit.
    template <class T>
    T* allocate() {
        static_assert(std::is_trivially_destructible_v<T>, "the arena never destroys an object");
        constexpr std::uint32_t lines = (sizeof(T) + line_bytes - 1) / line_bytes;
        constexpr std::uint32_t needed = lines * static_cast<std::uint32_t>(line_bytes);
        if (bytes_ - used_ < needed) return nullptr;
        T* object = new (at<std::byte>(used_)) T;
        used_ += needed;
        return object;
    }

    Mutex mutex_;
    std::uint32_t bytes_;   // the space of everything but agents, which begin behind it
    std::uint32_t agents_;  // the number of agents for which there is space
    std::uint32_t used_ = sizeof(Arena);
    std::atomic<Offset> insert_begin_{0};  // the value of used_ when the last insert began
    std::atomic<Offset> insert_list_{0};   // the offset of the word that refers to what it inserts
    std::atomic<Offset> first_entry_{0};
    std::atomic<Owner> last_id_{0};
    std::atomic<Offset> first_tab_request_{0};
    TabBell tab_bell_;
    std::atomic<Offset> first_tab_cells_{0};
};

/// A C++ thread that uses the objects of an arena. Its end is a death, so that the objects that it
/// still holds go to other threads.
class ArenaThread {
  public:
    explicit ArenaThread(Arena& arena) : arena_(arena), id_(arena.take_id()) {}
    ~ArenaThread() { arena_.report_death(id_, id_); }
    ArenaThread(const ArenaThread&) = delete;
    ArenaThread& operator=(const ArenaThread&) = delete;

    /// Returns the thread's id, or 0 if all are used up.
    [[nodiscard]] Owner id() const { return id_; }

  private:
    Arena& arena_;
    const Owner id_;
};

}  // namespace tabacus::sync
