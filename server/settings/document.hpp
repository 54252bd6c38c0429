// The text of a settings file as a JSON value whose keys know their lines.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {

class Document {
 public:
  using Key = std::pair<std::string, std::string>;  // the path of its object, and its name

  // Throws SettingsRefused ("FILE:LINE:COLUMN: …") if the text is not JSON, not an object, nested deeper than 64
  // levels, or names a key twice.
  Document(const std::string& file, std::string_view text);

  const Json& value() const { return value_; }
  // "FILE:LINE" of a key, by its path ("http.port"); of the nearest key above it if the path itself does not occur.
  std::string place_of(std::string path) const;
  // "FILE:LINE" of a key that may itself have points in it, in the object at that path ("" is the whole file).
  std::string place_of_key(const std::string& object, const std::string& key) const;

 private:
  std::string place_of_line(std::size_t line) const { return file_ + ":" + std::to_string(line); }

  std::string file_;
  Json value_;
  std::map<Key, std::size_t> lines_;
};

}  // namespace rkllm_mcp
