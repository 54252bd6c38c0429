// The `pattern` of a JSON Schema: a regular expression of ECMAScript, as far as the engine here reads it in the same
// way.
//
// Threads: what is const may be called from any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace rkllm_mcp::chat {

class SchemaPattern {
 public:
  // Throws std::runtime_error: it is wrong, or may mean something else to ECMAScript than here (PCRE2).
  explicit SchemaPattern(std::string_view expression);

  enum class Match { kFound, kNotFound, kTooHard };
  // Whether it is found anywhere in `text`, which is UTF-8. It looks for a bounded time.
  Match find_in(std::string_view text) const;

 private:
  std::unique_ptr<void, void (*)(void*)> code_;
};

}  // namespace rkllm_mcp::chat
