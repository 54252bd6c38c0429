// Checks one value for a setting and puts it into Settings.
#pragma once

#include "settings/refused.hpp"
#include "settings/setting.hpp"

#include <rkllm_mcp/json.hpp>

#include <string_view>
#include <vector>

namespace rkllm_mcp {

// Assigns `value` if it is of the setting's type and in its range; else changes nothing and says what is wrong.
std::vector<Complaint> assign(const Setting& setting, const Json& value, Settings& settings);

// Assigns, like assign(), a value written as text, as in the environment and on the command line: strings as they are,
// booleans also as on, off, 1 and 0, lists with commas or as a JSON array, the rest as JSON.
std::vector<Complaint> assign_text(const Setting& setting, std::string_view text, Settings& settings);

}  // namespace rkllm_mcp
