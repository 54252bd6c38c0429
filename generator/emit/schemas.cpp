// schemas.hpp: JSON Schemas of parameters and results, as JSON text.
#include "emit/method_schema.hpp"
#include "emit/parts.hpp"
#include "emit/shared_functions.hpp"

namespace bindgen {

HeaderFile emit_schemas(const std::vector<Api>& sets, SharedTexts& texts) {
  HeaderFile header{shared_home(sets),
                    "schemas",
                    "JSON Schemas (2020-12) of the parameters and the result of every function, whole and as lists of "
                    "tools show them, as JSON text.",
                    {"<string_view>"}};
  if (sets.size() > 1) {
    header.about += " What only some versions have says which: the first one, and the last one.";
    header.includes.push_back(support_include(sets.back(), "versions"));
  }
  CodeText& code = header.code;
  for (const SharedFunction& function : shared_functions(sets)) {
    code.comment(function.name);
    const auto emit = [&](const std::string& kind, const auto& schema_of) {
      std::vector<std::vector<std::string>> of_sets;
      for (std::size_t set = 0; set < sets.size(); ++set) {
        of_sets.emplace_back();
        if (function.in[set] != nullptr) of_sets.back() = raw_json_lines(schema_of(sets[set], *function.in[set]));
      }
      texts.emit(code, kind + function.name, of_sets);
    };
    emit("kInput_", [](const Api& api, const c::Function& in) { return input_schema(api, in); });
    emit("kOutput_", [](const Api& api, const c::Function& in) { return output_schema(api, in); });
    emit("kToolInput_", [](const Api& api, const c::Function& in) { return tool_input_schema(api, in); });
    emit("kToolOutput_", [](const Api& api, const c::Function& in) { return tool_output_schema(api, in); });
    header.end_section();
  }
  return header;
}

}  // namespace bindgen
