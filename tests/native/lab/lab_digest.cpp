#include "lab/digest.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace tabacus::lab::test {

TEST_CASE("digest: texts that differ in a byte or in their size have different digests") {
    std::set<std::string> texts;
    for (const char byte : {'\0', '\1', '\2', 'a'}) {
        for (std::size_t size = 0; size < 40; ++size) {
            texts.emplace(size, byte);
            for (std::size_t at = 0; at < size; ++at) {
                texts.insert(std::string(size, byte).replace(at, 1, "b"));
            }
        }
    }
    std::set<std::uint64_t> digests;
    for (const auto& text : texts) digests.insert(digest(std::string_view(text)));
    CHECK(digests.size() == texts.size());
    CHECK(texts.size() > 3'000);
}

TEST_CASE("digest: the digest depends on which text a byte belongs to") {
    using namespace std::string_view_literals;
    CHECK(digest("ab"sv, "c"sv) != digest("a"sv, "bc"sv));
    CHECK(digest("a"sv, ""sv) != digest(""sv, "a"sv));
}

}  // namespace tabacus::lab::test
