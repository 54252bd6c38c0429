#include "tools/numbers/expression.hpp"
#include "tools/offered_tool.hpp"

#include <rkllm_mcp/errors.hpp>

namespace rkllm_mcp::offered {

OfferedTool calculate(const ToolSurroundings&) {
  OfferedTool tool;
  tool.name = "calculate";
  tool.title = "Calculate";
  tool.description =
      "Compute an arithmetic expression exactly: 0.1 + 0.2 is 0.3. Knows + - * / % ^, parentheses, and abs, ceil, "
      "floor, "
      "max, min, round(x, digits), sqrt. What has no end as a decimal is rounded to 50 digits, and said to be.";
  tool.input_schema =
      Json{{"type", "object"},
           {"properties",
            {{"expression",
              {{"type", "string"}, {"minLength", 1}, {"maxLength", 1000}, {"description", "e.g. (1.1 + 2.2) * 3^2"}}}}},
           {"required", {"expression"}}};
  tool.output_schema = Json{{"type", "object"},
                            {"properties",
                             {{"result", {{"type", "string"}, {"description", "The number in decimal digits."}}},
                              {"is_exact", {{"type", "boolean"}}},
                              {"fraction", or_null_schema("string", "The exact value, where the result is not.")}}},
                            {"required", {"result", "is_exact", "fraction"}}};
  tool.annotations = {.read_only = true, .idempotent = true};
  tool.run = [](const Json& arguments, ToolRun&) {
    const auto& expression = arguments["expression"].get_ref<const std::string&>();
    try {
      const Computed computed = compute(expression);
      const auto decimal = computed.value.decimal(kDigitsOfRoots);
      const bool is_exact = decimal.is_exact && computed.is_exact;
      // Of a rounded root there is no exact fraction.
      const bool has_fraction = !is_exact && computed.is_exact;
      return ToolAnswer{(is_exact ? "" : "about ") + decimal.text,
                        Json{{"result", decimal.text},
                             {"is_exact", is_exact},
                             {"fraction", has_fraction ? Json(computed.value.fraction()) : Json()}}};
    } catch (const NotAnExpression& error) {
      throw InvalidParams("params.arguments.expression", error.what());
    } catch (const NotComputable& error) {
      throw ToolFailure(error.what());
    }
  };
  return tool;
}

}  // namespace rkllm_mcp::offered
