// The backup of a replica: how much of localStorage it takes.
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "lab/lab_tab.hpp"
#include "lab/origin.hpp"
#include "protocol/replica/backup.hpp"

namespace tabacus::test {
namespace {

/// A program that fills the backup with rows of another tab, and then takes room for its own.
class Filler {
  public:
    Filler(lab::LabTab& tab, std::size_t others)
        : names_("test"), storage_(tab.storage()), backup_(tab, names_) {
        scope_.spawn(fill(others));
    }

    std::size_t taken = 0;
    std::size_t recovered = 0;

  private:
    Task<void> fill(std::size_t others) {
        for (std::size_t at = 0; at < others; ++at) {
            const auto row = std::string(1'000, 'x') + std::to_string(at) + "/g/0";
            co_await storage_.set(names_.stored_row(row), "1;1;1;0");
        }
        recovered = (co_await backup_.rows_of_others("g")).size();
        while (backup_.take_room("own" + std::to_string(taken) + "/g/1")) ++taken;
    }

    Names names_;
    Storage& storage_;
    Backup backup_;
    Scope scope_;
};

std::size_t room_beside(std::size_t others) {
    lab::Origin origin(lab::Origin::Options{1, lab::StorageModel::mutexed});
    auto& tab = origin.open_tab();
    const auto& filler = tab.run<Filler>(tab, others);
    origin.run();
    CHECK(filler.recovered == 0);  // all rows are of this generation
    return filler.taken;
}

}  // namespace

TEST_CASE("backup: a tab adds rows until all tabs together have filled 2 MB") {
    const auto alone = room_beside(0);
    CHECK(alone > 25'000);
    CHECK(alone < 40'000);
    const auto shared = room_beside(1'000);
    CHECK(shared > alone * 4 / 10);
    CHECK(shared < alone * 6 / 10);
    CHECK(room_beside(2'000) == 0);
}

TEST_CASE("backup: a tab warns once that the backup is incomplete") {
    lab::Origin origin(lab::Origin::Options{1, lab::StorageModel::mutexed});
    const Names names("test");
    Backup backup(origin.open_tab(), names);
    CHECK(backup.take_warning());
    CHECK_FALSE(backup.take_warning());
}

}  // namespace tabacus::test
