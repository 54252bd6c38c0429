// schemas.hpp: JSON Schemas of parameters and results, as JSON text.
#include "emit/parts.hpp"
#include "emit/tool_schema.hpp"
#include "emit/wire_schema.hpp"

namespace bindgen {

BlockFile emit_schemas(const Api& api) {
  BlockWriter writer(
      "schemas",
      "JSON Schemas (2020-12) of the parameters and the result of every function, whole and as lists of tools show "
      "them, as JSON text.",
      {"<string_view>"});
  CodeText& code = writer.code;
  for (const c::Function* function : methods_of(api)) {
    code.comment(function->name);
    code.string_constant("kInput_" + function->name, raw_json_lines(input_schema(api, *function)));
    code.string_constant("kOutput_" + function->name, raw_json_lines(output_schema(api, *function)));
    code.string_constant("kToolInput_" + function->name, raw_json_lines(tool_input_schema(api, *function)));
    code.string_constant("kToolOutput_" + function->name, raw_json_lines(tool_output_schema(api, *function)));
    writer.finish(function->name);
  }
  return writer.file();
}

}  // namespace bindgen
