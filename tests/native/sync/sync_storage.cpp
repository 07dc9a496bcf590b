// Storage in shared memory: its rules, its changes, and threads that die inside.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "sync_support.hpp"
#include "tabacus/sync/storage_table.hpp"
#include "tabacus/threads/shared_storage.hpp"

using namespace tabacus::sync;
using tabacus::SharedStorage;
using tabacus::sync::test::on_threads;
using namespace std::chrono_literals;
using Items = std::vector<SharedStorage::Item>;

namespace {

constexpr std::uint32_t quota_bytes = 64 * 1024;

/// A storage table in memory that child processes share.
class SharedTable {
  public:
    explicit SharedTable(std::uint32_t quota = quota_bytes)
        : bytes_(StorageTable::segment_bytes(quota)),
          segment_(used_memory(bytes_)),
          table(new (segment_) StorageTable(bytes_, quota)) {}
    SharedTable(const SharedTable&) = delete;
    SharedTable& operator=(const SharedTable&) = delete;
    ~SharedTable() { munmap(segment_, bytes_); }

    StorageTable* operator->() const { return table; }
    [[nodiscard]] SharedStorage storage(Owner self) const { return {*table, self}; }

  private:
    /// Returns memory that is not zeroed, because memory from malloc need not be zeroed either.
    static void* used_memory(std::size_t bytes) {
        void* memory =
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        std::fill_n(static_cast<unsigned char*>(memory), bytes, std::uint8_t{0xa5});
        return memory;
    }

    std::uint32_t bytes_;
    void* segment_;

  public:
    StorageTable* table;
};

std::u16string number_text(std::uint32_t number) {
    std::u16string text;
    for (const char digit : std::to_string(number)) text += static_cast<char16_t>(digit);
    return text;
}

/// Returns a text of 0 to 96 units, so that texts are shorter and longer than a block.
std::u16string long_text(std::uint64_t seed) {
    return std::u16string(seed % 97, static_cast<char16_t>(u'a' + seed % 26));
}

}  // namespace

TEST_CASE("storage table: items keep their order, and every unit of their texts",
          "[sync][storage]") {
    const SharedTable shared;
    SharedStorage storage = shared.storage(1);
    const std::u16string odd{u'\xd800', u'\0', u'\xdc00', u'\xffff'};
    REQUIRE(storage.set(u"b", odd));
    REQUIRE(storage.set(odd, u""));
    REQUIRE(storage.set(u"a", std::u16string(1000, u'x')));
    REQUIRE(storage.set(u"b", std::u16string(27, u'y')));
    REQUIRE(storage.items() == Items{{u"b", std::u16string(27, u'y')},
                                     {odd, u""},
                                     {u"a", std::u16string(1000, u'x')}});
    REQUIRE(storage.remove(odd));
    REQUIRE_FALSE(storage.remove(odd));
    REQUIRE(storage.get(odd) == std::nullopt);
    storage.clear();
    REQUIRE(storage.items().empty());
    REQUIRE(shared->bytes() == 0);
}

TEST_CASE("storage table: a value that does not fit leaves the old one", "[sync][storage]") {
    const SharedTable shared(100);
    SharedStorage storage = shared.storage(1);
    REQUIRE(storage.set(u"key", std::u16string(47, u'x')));
    REQUIRE(shared->bytes() == 100);
    REQUIRE_FALSE(storage.set(u"key", std::u16string(48, u'y')));
    REQUIRE_FALSE(storage.set(u"k", u""));
    REQUIRE(storage.get(u"key") == std::u16string(47, u'x'));
    REQUIRE_FALSE(storage.set(u"key", std::u16string(1 << 20, u'y')));
    REQUIRE(storage.set(u"key", std::u16string(46, u'z')));
    REQUIRE(storage.set(u"", u"1"));
}

TEST_CASE("storage table: however full it is, its items are found and can be removed",
          "[sync][storage]") {
    const SharedTable shared;
    shared->listen();
    SharedStorage storage = shared.storage(1);
    const std::u16string longest(1000, u'x');
    REQUIRE(storage.set(longest, u"long"));
    std::uint32_t count = 0;
    while (storage.set(number_text(count), u"")) ++count;
    REQUIRE(shared->bytes() < quota_bytes / 2);  // the segment is full before the quota is
    while (storage.set(u"0", *storage.get(u"0") + std::u16string(30, u'y'))) {
    }
    REQUIRE(storage.get(longest) == u"long");
    for (std::uint32_t i = 1; i < count; ++i) REQUIRE(storage.get(number_text(i)) == u"");
    REQUIRE(storage.set(longest, u"same"));
    REQUIRE(storage.remove(longest));
    REQUIRE(storage.set(u"more", u"fits once the long key is removed"));
}

TEST_CASE("storage table: listeners receive changes with both values, and none if none happens",
          "[sync][storage]") {
    const SharedTable shared;
    SharedStorage storage = shared.storage(7);
    SharedStorage other = shared.storage(8);
    storage.set(u"k", u"1");
    storage.set(u"k", u"1");
    storage.set(u"k", u"2");
    storage.remove(u"none");
    storage.remove(u"k");
    storage.clear();
    other.set(u"l", u"3");
    storage.set(u"l", u"4");
    storage.clear();
    using Change = SharedStorage::Change;
    for (const auto& change :
         {Change{u"k", std::nullopt, u"1"}, Change{u"k", u"1", u"2"},
          Change{u"k", u"2", std::nullopt}, Change{u"l", u"3", u"4"}, Change{}}) {
        REQUIRE(other.next_change(0ns) == change);
    }
    REQUIRE(other.next_change(0ns) == std::nullopt);
    REQUIRE(storage.next_change(0ns) == Change{u"l", std::nullopt, u"3"});
    REQUIRE(storage.next_change(1ms) == std::nullopt);
}

TEST_CASE("storage table: a change wakes a thread that waits for it", "[sync][storage]") {
    const SharedTable shared;
    SharedStorage storage = shared.storage(1);
    std::optional<SharedStorage::Change> change;
    std::thread listener(
        [&, other = shared.storage(2)]() mutable { change = other.next_change(60s); });
    storage.set(u"k", u"v");
    listener.join();
    REQUIRE(change == SharedStorage::Change{u"k", std::nullopt, u"v"});
}

TEST_CASE("storage table: changes are dropped for new values and for later changes",
          "[sync][storage]") {
    const SharedTable shared;
    shared->listen();
    SharedStorage storage = shared.storage(1);
    // Each set leaves its old value in a change. Together the changes have many times the size of
    // the segment.
    for (std::uint32_t i = 0; i < 3 * StorageTable::changes_max; ++i) {
        REQUIRE(storage.set(u"k", std::u16string(1000, u'a' + i % 2)));
    }
    REQUIRE(shared->change(1) == 0);
    REQUIRE(shared->change(shared->head().last_change) != 0);
    REQUIRE(shared->change(shared->head().last_change + 1) == 0);
    const SharedTable large(1 << 20);
    large->listen();
    SharedStorage other = large.storage(1);
    for (std::uint32_t i = 0; i < 2 * StorageTable::changes_max; ++i) {
        REQUIRE(other.set(u"k", i % 2 == 0 ? u"1" : u"2"));
    }
    REQUIRE(large->change(StorageTable::changes_max + 1) != 0);
    REQUIRE(large->change(StorageTable::changes_max) == 0);
}

TEST_CASE("storage table: threads that write and read at once lose nothing", "[sync][storage]") {
    const SharedTable shared;
    shared->listen();
    constexpr std::uint32_t rounds = 400;
    std::vector<std::uint32_t> wrong(4, 0);
    on_threads(4, [&](std::uint32_t index) {
        SharedStorage storage = shared.storage(index + 1);
        for (std::uint32_t i = 0; i < rounds; ++i) {
            const std::u16string key = number_text(index) + u"/" + number_text(i % 20);
            if (!storage.set(key, long_text(i))) ++wrong[index];
            if (storage.get(key) != long_text(i)) ++wrong[index];
            if (i % 5 == 0) storage.remove(key);
        }
    });
    REQUIRE(wrong == std::vector<std::uint32_t>(4, 0));
    REQUIRE(shared.storage(9).items().size() == 64);
}

TEST_CASE("storage table: it equals an ordered map after many changes", "[sync][storage]") {
    const SharedTable shared(4000);
    SharedStorage storage = shared.storage(1);
    std::mt19937 random(1);
    Items model;
    std::size_t bytes = 0;
    for (int i = 0; i < 20'000; ++i) {
        const std::u16string key = number_text(random() % 40);
        const auto known = std::find_if(model.begin(), model.end(),
                                        [&](const auto& item) { return item.key == key; });
        if (random() % 3 == 0) {
            REQUIRE(storage.remove(key) == (known != model.end()));
            if (known == model.end()) continue;
            bytes -= 2 * (key.size() + known->value.size());
            model.erase(known);
            continue;
        }
        const std::u16string value = long_text(random());
        const std::size_t less = known == model.end() ? 0 : 2 * (key.size() + known->value.size());
        const std::size_t after = bytes - less + 2 * (key.size() + value.size());
        REQUIRE(storage.set(key, value) == (after <= 4000));
        if (after > 4000) continue;
        bytes = after;
        if (known == model.end()) {
            model.push_back({key, value});
        } else {
            known->value = value;
        }
    }
    REQUIRE(shared->bytes() == bytes);
    REQUIRE(storage.items() == model);
}

namespace {

/// Writes until it is killed. Each value begins with its key.
[[noreturn]] void write_for_ever(const SharedTable& shared, std::uint32_t seed) {
    SharedStorage storage = shared.storage(2);
    std::mt19937 random(seed);
    for (;;) {
        const std::u16string key = number_text(random() % 30);
        const std::uint32_t choice = random() % 100;
        if (choice == 0) {
            storage.clear();
        } else if (choice < 30) {
            storage.remove(key);
        } else {
            storage.set(key, key + u":" + long_text(random()));
        }
    }
}

/// Requires that every item is found by its key, that the counts are right, and that all other
/// blocks can be allocated.
void require_whole(const SharedTable& shared, std::uint32_t all_blocks) {
    SharedStorage storage = shared.storage(1);
    std::set<std::u16string> keys;
    std::uint32_t bytes = 0;
    for (const auto& [key, value] : storage.items()) {
        REQUIRE(keys.insert(key).second);
        REQUIRE(value.starts_with(key + u":"));
        REQUIRE(storage.get(key) == value);
        bytes += static_cast<std::uint32_t>(2 * (key.size() + value.size()));
    }
    REQUIRE(shared->bytes() == bytes);
    REQUIRE(shared->count() == keys.size());
    storage.clear();
    REQUIRE(shared->make_space(all_blocks));
}

}  // namespace

TEST_CASE("storage table: a thread killed inside leaves it whole for the next one",
          "[sync][storage][exit]") {
    const SharedTable shared;
    shared->listen();
    std::uint32_t all_blocks = 0;
    while (shared->make_space(all_blocks + 1)) ++all_blocks;
    int inside = 0;
    // Chance decides where a kill hits the child: the test kills until enough have hit it inside.
    for (std::uint32_t kill_number = 0; kill_number < 60 || inside < 6; ++kill_number) {
        REQUIRE(kill_number < 2'000);
        const pid_t child = fork();
        if (child == 0) write_for_ever(shared, kill_number);
        while (shared->head().version < 50 * (kill_number + 1)) usleep(50);
        usleep(kill_number * 7);
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        if (shared->inside(2)) ++inside;
        const std::uint32_t last_change = shared->head().last_change;
        const bool repaired = shared->inside(2);
        shared->report_exit(2, 1);
        // A listener must learn that it may have missed a change.
        if (repaired) REQUIRE(shared->change(last_change) == 0);
        require_whole(shared, all_blocks);
    }
}

TEST_CASE("storage table: a thread that stays inside for too long is presumed dead",
          "[sync][storage][exit]") {
    const SharedTable shared;
    shared->presume_dead_after(4);
    REQUIRE(shared->enter(2, true));
    REQUIRE_FALSE(shared->enter(2, true));
    REQUIRE(shared.storage(1).set(u"k", u"v"));
    REQUIRE_FALSE(shared->inside(2));
}
