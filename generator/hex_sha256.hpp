// The SHA-256 of some bytes, in hexadecimal: how the manifest names the inputs that generated code was made from.
#pragma once

#include <string>
#include <string_view>

namespace bindgen {

std::string sha256(std::string_view bytes);

}  // namespace bindgen
