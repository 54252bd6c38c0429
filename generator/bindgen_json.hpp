// The JSON value of the generator's inputs and outputs; members keep their order.
#pragma once

#include <nlohmann/json.hpp>

namespace bindgen {

using Json = nlohmann::ordered_json;

}  // namespace bindgen
