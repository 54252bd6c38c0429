// One call of a codec: what a field or a parameter is on the wire.
#pragma once

#include "emit/parts.hpp"
#include "emit/type_names.hpp"

#include <string>
#include <vector>

namespace bindgen {

// Where calls stand.
struct CodecScope {
  std::string codec;           // the variable that is called: "codec", "params"
  std::string object;          // before the names of fields: "value."; empty for parameters
  bool is_shared = false;      // in code for all versions
  TypeNames* types = nullptr;  // in a stub; null in a struct, which names no types
};

// The calls for one part; none if it is not on the wire by itself.
std::vector<Expression> codec_calls(const Api& api, const Part& part, const std::vector<Part>& parts,
                                    const CodecScope& scope);

}  // namespace bindgen
