// Storage that threads share: its rules, its changes, and threads that die inside.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <map>
#include <new>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sync_support.hpp"
#include "tabacus/sync/storage_table.hpp"

using namespace tabacus::sync;
using tabacus::sync::test::on_threads;

namespace {

constexpr std::uint32_t quota_bytes = 64 * 1024;

/// A table in memory that child processes share.
class SharedTable {
  public:
    explicit SharedTable(std::uint32_t quota = quota_bytes)
        : bytes_(StorageTable::room_bytes(quota)),
          room_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
        std::fill_n(static_cast<unsigned char*>(room_), bytes_, std::uint8_t{0xa5});
        table = new (room_) StorageTable(bytes_, quota);
    }
    SharedTable(const SharedTable&) = delete;
    SharedTable& operator=(const SharedTable&) = delete;
    ~SharedTable() { munmap(room_, bytes_); }

    StorageTable* operator->() const { return table; }

  private:
    std::uint32_t bytes_;
    void* room_;

  public:
    StorageTable* table;
};

/// One thread's way in.
class Hand {
  public:
    Hand(const SharedTable& shared, Owner self) : table_(*shared.table), self_(self) {}

    template <class Work>
    auto inside(Work work) {
        table_.enter(self_, true);
        auto result = work();
        table_.leave(self_);
        return result;
    }

    Stored set(std::u16string_view key, std::u16string_view value) {
        return inside([&] {
            const Ref text = table_.make_text(key);
            const Ref content = text == 0 ? 0 : table_.make_text(value);
            if (content != 0) return table_.set(self_, text, content);
            if (text != 0) table_.give_text(text);
            return Stored::full;
        });
    }
    Stored remove(std::u16string_view key) {
        return inside([&] { return table_.remove(self_, table_.make_text(key)); });
    }
    Stored clear() {
        return inside([&] { return table_.clear(self_); });
    }
    std::optional<std::u16string> get(std::u16string_view key) {
        return inside([&]() -> std::optional<std::u16string> {
            const Ref text = table_.make_text(key);
            const Ref item = table_.find(text);
            table_.give_text(text);
            if (item == 0) return std::nullopt;
            return read(table_.at<StorageItem>(item)->value);
        });
    }
    using Items = std::vector<std::pair<std::u16string, std::u16string>>;
    Items items() {
        return inside([&] {
            Items all;
            for (Ref item = table_.first(); item != 0; item = table_.at<StorageItem>(item)->next) {
                const auto& known = *table_.at<StorageItem>(item);
                all.emplace_back(read(known.key), read(known.value));
            }
            return all;
        });
    }
    std::u16string read(Ref text) {
        std::u16string whole;
        table_.pieces(text, [&](const char16_t* units, std::size_t count, std::size_t) {
            whole.append(units, count);
            return true;
        });
        return whole;
    }

  private:
    StorageTable& table_;
    Owner self_;
};

std::u16string number_text(std::uint32_t number) {
    std::u16string text;
    for (const char digit : std::to_string(number)) text += static_cast<char16_t>(digit);
    return text;
}

/// What a set does to a table that is right, whatever the values: lengths on both sides of a block.
std::u16string long_text(std::uint64_t seed) {
    return std::u16string(seed % 97, static_cast<char16_t>(u'a' + seed % 26));
}

}  // namespace

TEST_CASE("storage table: items keep their order, and every unit of their texts", "[sync][storage]") {
    const SharedTable shared;
    Hand hand(shared, 1);
    const std::u16string odd{u'\xd800', u'\0', u'\xdc00', u'\xffff'};
    REQUIRE(hand.set(u"b", odd) == Stored::changed);
    REQUIRE(hand.set(odd, u"") == Stored::changed);
    REQUIRE(hand.set(u"a", std::u16string(1000, u'x')) == Stored::changed);
    REQUIRE(hand.set(u"b", std::u16string(27, u'y')) == Stored::changed);
    REQUIRE(hand.items() == Hand::Items{{u"b", std::u16string(27, u'y')},
                                        {odd, u""},
                                        {u"a", std::u16string(1000, u'x')}});
    REQUIRE(hand.remove(odd) == Stored::changed);
    REQUIRE(hand.remove(odd) == Stored::unchanged);
    REQUIRE(hand.get(odd) == std::nullopt);
    REQUIRE(hand.clear() == Stored::changed);
    REQUIRE(hand.clear() == Stored::unchanged);
    REQUIRE(shared->bytes() == 0);
}

TEST_CASE("storage table: what does not fit leaves the old value", "[sync][storage]") {
    const SharedTable shared(100);
    Hand hand(shared, 1);
    REQUIRE(hand.set(u"key", std::u16string(47, u'x')) == Stored::changed);
    REQUIRE(shared->bytes() == 100);
    REQUIRE(hand.set(u"key", std::u16string(48, u'y')) == Stored::full);
    REQUIRE(hand.set(u"k", u"") == Stored::full);
    REQUIRE(hand.get(u"key") == std::u16string(47, u'x'));
    REQUIRE(hand.set(u"key", std::u16string(1 << 20, u'y')) == Stored::full);
    REQUIRE(hand.set(u"key", std::u16string(46, u'z')) == Stored::changed);
    REQUIRE(hand.set(u"", u"1") == Stored::changed);
}

TEST_CASE("storage table: changes are told with both values, and none of what changes nothing",
          "[sync][storage]") {
    const SharedTable shared;
    shared->listen();
    Hand hand(shared, 7);
    hand.set(u"k", u"1");
    hand.set(u"k", u"1");
    hand.set(u"k", u"2");
    hand.remove(u"none");
    hand.remove(u"k");
    hand.clear();
    hand.set(u"l", u"3");
    hand.clear();
    std::vector<std::u16string> told;
    const auto text_of = [&](Ref text) { return text == 0 ? u"null" : hand.read(text); };
    for (std::uint32_t number = 1; number <= shared->head().news; ++number) {
        const auto* change = shared->at<StorageChange>(shared->change(number));
        REQUIRE(change->writer == 7);
        told.push_back(text_of(change->key) + u" " + text_of(change->old_value) + u" " +
                       text_of(change->new_value));
    }
    REQUIRE(told == std::vector<std::u16string>{u"k null 1", u"k 1 2", u"k 2 null", u"l null 3",
                                                u"null null null"});
}

TEST_CASE("storage table: changes give way to what is to be stored, and to later ones",
          "[sync][storage]") {
    const SharedTable shared;
    shared->listen();
    Hand hand(shared, 1);
    // Each leaves its old value with a change: many times the room in all.
    for (std::uint32_t i = 0; i < 3 * StorageTable::changes_max; ++i) {
        REQUIRE(hand.set(u"k", std::u16string(1000, u'a' + i % 2)) == Stored::changed);
    }
    REQUIRE(shared->change(1) == 0);
    REQUIRE(shared->change(shared->head().news) != 0);
    REQUIRE(shared->change(shared->head().news + 1) == 0);
    const SharedTable large(1 << 20);
    large->listen();
    Hand other(large, 1);
    for (std::uint32_t i = 0; i < 2 * StorageTable::changes_max; ++i) {
        REQUIRE(other.set(u"k", i % 2 == 0 ? u"1" : u"2") == Stored::changed);
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
        Hand hand(shared, index + 1);
        for (std::uint32_t i = 0; i < rounds; ++i) {
            const std::u16string key = number_text(index) + u"/" + number_text(i % 20);
            if (hand.set(key, long_text(i)) == Stored::full) ++wrong[index];
            if (hand.get(key) != long_text(i)) ++wrong[index];
            if (i % 5 == 0) hand.remove(key);
        }
    });
    REQUIRE(wrong == std::vector<std::uint32_t>(4, 0));
    REQUIRE(Hand(shared, 9).items().size() == 4 * 16);
}

TEST_CASE("storage table: it is as an ordered map is, over many changes", "[sync][storage]") {
    const SharedTable shared(4000);
    Hand hand(shared, 1);
    std::mt19937 random(1);
    Hand::Items model;
    std::size_t bytes = 0;
    for (int i = 0; i < 20'000; ++i) {
        const std::u16string key = number_text(random() % 40);
        const auto known = std::find_if(model.begin(), model.end(),
                                        [&](const auto& item) { return item.first == key; });
        if (random() % 3 == 0) {
            REQUIRE((hand.remove(key) == Stored::changed) == (known != model.end()));
            if (known == model.end()) continue;
            bytes -= 2 * (key.size() + known->second.size());
            model.erase(known);
            continue;
        }
        const std::u16string value = long_text(random());
        const std::size_t less =
            known == model.end() ? 0 : 2 * (key.size() + known->second.size());
        const std::size_t after = bytes - less + 2 * (key.size() + value.size());
        const bool equal = known != model.end() && known->second == value;
        const Stored stored = hand.set(key, value);
        REQUIRE(stored == (equal          ? Stored::unchanged
                           : after > 4000 ? Stored::full
                                          : Stored::changed));
        if (stored != Stored::changed) continue;
        bytes = after;
        if (known == model.end()) {
            model.emplace_back(key, value);
        } else {
            known->second = value;
        }
    }
    REQUIRE(shared->bytes() == bytes);
    REQUIRE(hand.items() == model);
}

namespace {

/// Writes until it is killed. Values tell their key.
[[noreturn]] void write_for_ever(const SharedTable& shared, std::uint32_t seed) {
    Hand hand(shared, 2);
    std::mt19937 random(seed);
    for (;;) {
        const std::u16string key = number_text(random() % 30);
        const std::uint32_t choice = random() % 100;
        if (choice == 0) {
            hand.clear();
        } else if (choice < 30) {
            hand.remove(key);
        } else {
            hand.set(key, key + u":" + long_text(random()));
        }
    }
}

/// The table is whole: every item is found by its key, and all that is free can be had.
void require_whole(const SharedTable& shared, std::uint32_t all_blocks) {
    Hand hand(shared, 1);
    std::set<std::u16string> keys;
    std::uint32_t bytes = 0;
    for (const auto& [key, value] : hand.items()) {
        REQUIRE(keys.insert(key).second);
        REQUIRE(value.starts_with(key + u":"));
        REQUIRE(hand.get(key) == value);
        bytes += static_cast<std::uint32_t>(2 * (key.size() + value.size()));
    }
    REQUIRE(shared->bytes() == bytes);
    REQUIRE(shared->count() == keys.size());
    hand.clear();
    REQUIRE(hand.inside([&] { return shared->make_space(all_blocks - 1); }));
}

}  // namespace

TEST_CASE("storage table: whoever is killed inside, the next one finds it whole",
          "[sync][storage][death]") {
    const SharedTable shared;
    shared->listen();
    std::uint32_t all_blocks = 0;
    while (Hand(shared, 1).inside([&] { return shared->make_space(all_blocks + 1); })) ++all_blocks;
    int inside = 0;
    for (std::uint32_t kill_number = 0; kill_number < 60; ++kill_number) {
        const pid_t child = fork();
        if (child == 0) write_for_ever(shared, kill_number);
        while (shared->head().version < 50 * (kill_number + 1)) usleep(50);
        usleep(kill_number * 7);
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        if (shared->inside(2)) ++inside;
        const std::uint32_t news = shared->head().news;
        const bool repaired = shared->inside(2);
        shared->bury(2, 1);
        // Whoever listens must know that it may have missed a change.
        if (repaired) REQUIRE(shared->change(news) == 0);
        require_whole(shared, all_blocks);
    }
    REQUIRE(inside > 5);
}

TEST_CASE("storage table: who stays inside for long is taken for dead", "[sync][storage][death]") {
    const SharedTable shared;
    shared->take_for_dead_after(4);
    REQUIRE(shared->enter(2, true));
    REQUIRE_FALSE(shared->enter(2, true));
    REQUIRE(Hand(shared, 1).set(u"k", u"v") == Stored::changed);
    REQUIRE_FALSE(shared->inside(2));
}
