// Rows that a tool's answer links to, and their documents.
#include "mcp/tools/method_tools.hpp"

#include "support/catch.hpp"

#include <rkllm_mcp/base64.hpp>
#include <rkllm_mcp/errors.hpp>

#include <asio/io_context.hpp>

#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;

namespace {

struct Linked {
  Linked() {
    mcp::add_value_resources(catalogue, store);
    ValueRows rows;
    rows.field = "hidden_states";
    rows.values_name = "data";
    rows.columns_name = "width";
    rows.rows_name = "tokens";
    rows.rows = 2;
    rows.columns = 3;
    rows.values = {0, 1, 2, 3, 4, 5};
    outcome.rows = {std::move(rows)};
    links = mcp::link_rows(store, outcome, "one");
  }
  std::optional<mcp::ResourceText> read(const std::string& query) const {
    return catalogue.templates.at(0).read(links.at(0)["uri"].get<std::string>() + query);
  }
  std::vector<float> floats(const std::string& query) const {
    const auto bytes = decode_base64(read(query).value().text).value();
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
    return values;
  }

  asio::io_context loop;
  ValueStore store{loop, MemoryBudget()};
  mcp::Catalogue catalogue;
  CallOutcome outcome;
  Json links;
};

}  // namespace

TEST_CASE("an answer keeps the sizes of its rows, and links to their numbers") {
  const Linked linked;
  CHECK(linked.outcome.rows.empty());
  CHECK(linked.outcome.values == Json{{"hidden_states", {{"data", nullptr}, {"width", 3}, {"tokens", 2}}}});
  REQUIRE(linked.links.size() == 1);
  const Json& link = linked.links[0];
  CHECK(link["type"] == "resource_link");
  CHECK(link["name"] == "hidden_states");
  CHECK(link["size"] == 6 * sizeof(float));
  CHECK(link["_meta"]["rkllm/values"]["shape"] == Json{2, 3});
  CHECK(link["_meta"]["rkllm/values"]["expires_in_s"] == 600);
}

TEST_CASE("linked rows are read whole or in part, and behind their end there is nothing") {
  const Linked linked;
  CHECK(linked.floats("") == std::vector<float>{0, 1, 2, 3, 4, 5});
  CHECK(linked.floats("?offset=8&length=8") == std::vector<float>{2, 3});
  CHECK(linked.floats("?length=4") == std::vector<float>{0});
  CHECK(linked.floats("?other=1&offset=20") == std::vector<float>{5});
  CHECK(linked.floats("?offset=24").empty());
  CHECK(linked.floats("?offset=18446744073709551615").empty());
  const auto part = linked.read("?offset=20&length=100");
  REQUIRE(part);
  CHECK(part->binary);
  CHECK(part->meta["offset"] == 20);
  CHECK(part->meta["length"] == 4);
}

TEST_CASE("a part that is no number of bytes is refused, and unknown values are not there") {
  const Linked linked;
  for (const char* const query :
       {"?offset=-1", "?length=x", "?offset=", "?offset=1x", "?length=18446744073709551616"}) {
    INFO(query);
    CHECK_THROWS_AS(linked.read(query), InvalidParams);
  }
  const auto& read = linked.catalogue.templates.at(0).read;
  CHECK_FALSE(read("rkllm://values/unknown"));
  CHECK_FALSE(read("rkllm://values/"));
  CHECK_FALSE(read("rkllm://models"));
}
