// The model's layouts for both pointer sizes, against a table of the published interface.
#include "support/catch.hpp"
#include "temporary.hpp"

#include "declaration.hpp"
#include "generate.hpp"
#include "json.hpp"

using namespace bindgen;

namespace {

Json pair(const Layout& layout) { return {layout.on_64_bit, layout.on_32_bit}; }

void flatten(const c::Record& record, Json& flat) {
  for (const c::Field& field : record.fields) {
    const bool is_inline = !field.inline_record.empty();
    const std::string type = !is_inline                             ? spelling(field.type)
                             : field.inline_record.front().is_union ? "union"
                                                                    : "struct";
    flat.push_back({field.name, type, pair(field.offset), pair(field.type.size)});
    if (is_inline) flatten(field.inline_record.front(), flat);
  }
}

}  // namespace

TEST_CASE("the layouts of 1.3.0 are those of the published interface, for 64 and 32 bit") {
  const Json table = Json::parse(read_text(std::string(REPOSITORY) + "/tests/generator/data/layout_1.3.0.json"));
  const Api api = read_api({test::kHeader, "1.3.0"}, test::kOverlay);
  for (const auto& [name, expected] : table.at("structs").items()) {
    INFO(name);
    const c::Record* record = c::find<c::Record>(api.header, name);
    REQUIRE(record != nullptr);
    CHECK(pair(record->size) == expected.at("size"));
    CHECK(pair(record->align) == expected.at("align"));
    Json flat = Json::array();
    flatten(*record, flat);
    CHECK(flat == expected.at("fields"));
  }
}
