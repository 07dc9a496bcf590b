// EmptyTransaction: a transaction over an empty database that keeps nothing. Tests derive from it
// and override the calls that they need.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tabacus/common/world.hpp"

namespace tabacus::test {

class EmptyTransaction : public Transaction {
  public:
    Async<std::optional<Row>> get(Store /*store*/, std::string_view /*key*/) override {
        return std::optional<Row>();
    }
    Async<std::vector<Row>> list(Store /*store*/, std::string_view /*prefix*/,
                                 std::uint32_t /*limit*/, std::string_view /*from*/) override {
        return std::vector<Row>();
    }
    void put(Store /*store*/, std::string_view /*key*/, std::string_view /*value*/) override {}
    void remove(Store /*store*/, std::string_view /*key*/) override {}
    void remove_range(Store /*store*/, std::string_view /*first*/,
                      std::string_view /*last*/) override {}
    Async<std::optional<std::string>> holder(std::string_view /*subject*/) override {
        return std::optional<std::string>();
    }
    void claim(std::string_view /*subject*/, std::string_view /*holder*/) override {}
    void release(std::string_view /*holder*/) override {}
    Async<Unit> commit() override { return Unit{}; }
    void abort() override {}
};

}  // namespace tabacus::test
