// schemas.hpp: JSON Schemas of parameters and results, as JSON text.
#include "emit_parts.hpp"
#include "wire_schema.hpp"

namespace bindgen {

File emit_schemas(const Api& api) {
  CodeText code;
  begin_header(code, api, "JSON Schemas (2020-12) of the parameters and the result of every function, as JSON text.",
               {"<string_view>"});
  for (const c::Function* function : c::all<c::Function>(api.header)) {
    code.line();
    code.comment(function->name);
    code.string_constant("kInput_" + function->name, raw_json_lines(input_schema(api, *function)));
    code.string_constant("kOutput_" + function->name, raw_json_lines(output_schema(api, *function)));
  }
  end_header(code, api);
  return {header_path(api, "schemas"), code.text()};
}

}  // namespace bindgen
