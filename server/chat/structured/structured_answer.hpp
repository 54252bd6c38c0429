// An answer that has to be JSON: what is asked of the model, and whether its answer can still become, or is, valid.
#pragma once

#include "chat/structured/json_prefix.hpp"
#include "chat/structured/json_schema.hpp"
#include "chat/structured/schema_prefix.hpp"
#include "chat/turn/turn.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp::chat {

// The schema that an answer of this format has to fit. `format` is not plain text. Throws TurnError as JsonSchema does.
JsonSchema schema_of(const OutputFormat& format, std::string_view field);

// What goes into the prompt. `complaint`: what was wrong with the answer before; empty at the first try.
std::string structured_instruction(const OutputFormat& format, std::string_view complaint);

// Follows one answer. Space and a code fence around the JSON are left out, since models like to write them. Not
// movable.
class StructuredAnswer {
 public:
  // `schema` outlives it.
  explicit StructuredAnswer(const JsonSchema& schema);
  StructuredAnswer(const StructuredAnswer&) = delete;
  StructuredAnswer& operator=(const StructuredAnswer&) = delete;

  // The next text of the answer. False if it can no longer become valid: the run is of no use any more.
  bool feed(std::string_view text);
  // The JSON is whole: what follows would be left out.
  bool is_complete() const { return prefix_.is_complete(); }
  // To be called after the last feed(). Returns why the answer is not valid; nothing if it is.
  std::optional<std::string> finish();
  // The JSON text, once finish() had nothing to complain of.
  const std::string& json() const { return json_; }

 private:
  // Takes space and the beginning of a code fence away; false if it may still become one.
  bool skip_before();

  const JsonSchema& schema_;
  ValueCheck::Effort effort_;
  ValueCheck check_;
  JsonPrefix prefix_;
  std::string before_;  // until the JSON has begun
  bool has_begun_ = false;
  std::string json_;
  bool is_possible_ = true;
};

}  // namespace rkllm_mcp::chat
