// The generation of the database: what counts as a loss of it.
#include <catch2/catch_test_macros.hpp>

#include "protocol/replica/generation.hpp"

namespace tabacus::test {
namespace {

Notice compared(const Generation& generation, const std::string& id, const std::string& previous) {
    Notice loss;
    generation.compare(id, previous, loss);
    return loss;
}

}  // namespace

TEST_CASE("generation: another id than the remembered one is a loss") {
    const Generation generation("");
    CHECK(compared(generation, "new", "").kind == Notice::Kind::warning);
    CHECK(compared(generation, "same", "same").kind == Notice::Kind::warning);
    const auto loss = compared(generation, "new", "old");
    CHECK(loss.kind == Notice::Kind::store_lost);
    CHECK(loss.code == "generation-changed");
    CHECK(loss.subject == "new");
    CHECK(loss.previous == "old");
}

TEST_CASE("generation: a loss that only the browser reports counts until an adoption") {
    Generation generation("");
    CHECK_FALSE(generation.loss_reported());
    generation.on_created("none");
    CHECK_FALSE(generation.loss_reported());
    generation.on_created("total");
    CHECK(generation.loss_reported());
    CHECK(compared(generation, "new", "").code == "data-loss");
    CHECK(compared(generation, "new", "old").previous == "old");
    generation.adopt("new");
    CHECK(generation.id() == "new");
    CHECK_FALSE(generation.loss_reported());
    CHECK(Generation("total").loss_reported());
}

TEST_CASE("generation: a row that holds no identifier is not readable") {
    CHECK_FALSE(Generation::readable(std::nullopt));
    CHECK(Generation::readable(Row{"generation", "abc12", false}));
    CHECK_FALSE(Generation::readable(Row{"generation", "", true}));
    CHECK_FALSE(Generation::readable(Row{"generation", "a/b", false}));
}

}  // namespace tabacus::test
