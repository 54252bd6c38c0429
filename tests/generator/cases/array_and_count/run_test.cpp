#include "expected.hpp"

#include "golden_caller.hpp"

namespace rkllm_mcp::v1_array_and_count {

using namespace bindgen::test;

TEST_CASE("an array brings its count, and one factor of a product follows from the other") {
  GoldenCaller caller(kAbiSet, {{"put", symbol(+[](const Table* table) {
                                   return table->n_ids == 2 && table->ids[1] == 8 && table->rows == 3 &&
                                                  table->columns == 2 && table->values[5] == 6
                                              ? 0
                                              : 9;
                                 })}});
  const Json table{{"ids", {7, 8}}, {"values", {1, 2, 3, 4, 5, 6}}, {"columns", 2}};
  CHECK(caller.call("put", {{"table", table}}) == Json{{"status", 0}});
  Json odd = table;
  odd["columns"] = 4;
  CHECK_THAT(caller.complaint("put", {{"table", odd}}), has_text("params.table.values"));
}

}  // namespace rkllm_mcp::v1_array_and_count
