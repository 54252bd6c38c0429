// The text of a settings file as a JSON value whose keys know their lines.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace rkllm_mcp {

class Document {
 public:
  // Throws SettingsRefused ("FILE:LINE:COLUMN: …") if the text is not JSON, not an object, or names a key twice.
  Document(const std::string& file, std::string_view text);

  const Json& value() const { return value_; }
  // "FILE:LINE" of a key, by its path ("http.port"); of the nearest key above it if the path itself does not occur.
  std::string place_of(std::string path) const;

 private:
  std::string file_;
  Json value_;
  std::map<std::string, std::size_t> lines_;
};

}  // namespace rkllm_mcp
