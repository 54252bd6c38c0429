// The generated types as this compiler lays them out, against a table of the published interface.
#include "support/catch.hpp"

#include <rkllm_mcp/abi_sets.hpp>
#include <rkllm_mcp/json.hpp>

#include <fstream>
#include <string>

using namespace rkllm_mcp;

namespace {

// Fields in order, those of structs declared in place after the struct itself.
void flatten(const Json& fields, Json& flat) {
  for (const Json& field : fields) {
    flat.push_back({field.value("name", ""), field.at("type"), field.at("offset"), field.at("size")});
    if (field.contains("fields")) flatten(field.at("fields"), flat);
  }
}

}  // namespace

TEST_CASE("sizes, offsets and types of every struct of every version are those of the published interface") {
  const std::size_t side = sizeof(void*) == 8 ? 0 : 1;
  for (const AbiSet* set : kAbiSets) {
    INFO(set->version);
    std::ifstream file(LAYOUT_FILES "/layout_" + std::string(set->version) + ".json");
    const Json table = Json::parse(file);
    CHECK(table.at("structs").size() >= 12);
    for (const auto& [name, expected] : table.at("structs").items()) {
      INFO(name);
      const Json known = answer(set->facts, name).value_or(nullptr);
      REQUIRE(known.is_object());
      CHECK(known.at("size") == expected.at("size").at(side));
      CHECK(known.at("align") == expected.at("align").at(side));
      Json flat = Json::array();
      flatten(known.at("fields"), flat);
      Json wanted = Json::array();
      for (const Json& field : expected.at("fields")) {
        wanted.push_back({field[0], field[1], field[2].at(side), field[3].at(side)});
      }
      CHECK(flat == wanted);
    }
  }
}
