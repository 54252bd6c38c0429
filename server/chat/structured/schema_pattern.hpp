// The `pattern` of a JSON Schema: a regular expression of ECMAScript, as far as the engine here reads it in the same
// way.
//
// Threads: what is const may be called from any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace rkllm_mcp::chat {

class SchemaPattern {
 public:
  // Throws std::runtime_error: it is wrong, or may mean something else to ECMAScript than here (PCRE2).
  explicit SchemaPattern(std::string_view expression);

  enum class Match { kFound, kNotFound, kTooHard };
  // Whether it is found anywhere in `text`, which is UTF-8. Takes from `steps` what it takes to find out; kTooHard: it
  // takes more, or the text is longer than 4,096 bytes. A million steps take some ten milliseconds.
  Match find_in(std::string_view text, std::size_t& steps) const;

 private:
  std::unique_ptr<void, void (*)(void*)> code_;
};

}  // namespace rkllm_mcp::chat
