// The last step before writing: an understood API becomes files, in memory. Every function here is pure: the same API
// gives the same bytes, on every machine and with every libclang.
#pragma once

#include "emit/blocks.hpp"
#include "meaning/model.hpp"

#include <string>
#include <vector>

namespace bindgen {

// All files of all ABI sets, which go from old to new.
std::vector<File> emit(const std::vector<Api>& sets);

BlockFile emit_abi(const Api& api);        // types and the table of functions
BlockFile emit_enums(const Api& api);      // enumerators by name
BlockFile emit_defaults(const Api& api);   // what absent fields hold
BlockFile emit_codecs(const Api& api);     // JSON to struct and back
BlockFile emit_schemas(const Api& api);    // JSON Schemas of parameters and results
BlockFile emit_constants(const Api& api);  // macros, and every fact that can be asked for by name
BlockFile emit_methods(const Api& api);    // one stub per function, and the ABI set
File emit_api(const Api& api);             // all of it as JSON
File emit_tools(const Api& api);           // the tools as MCP lists them
// Names the inputs and the other files with their SHA-256. No date and no path of the machine: the same inputs give the
// same.
File emit_manifest(const std::vector<Api>& sets, const std::vector<File>& files);

}  // namespace bindgen
