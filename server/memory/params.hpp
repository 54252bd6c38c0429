// The parameters of the memory server's methods: from JSON to values, and their JSON Schemas. Complaints name the path.
// Pure functions, any thread.
#pragma once

#include "memory/conversation.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace rkllm_mcp::memory {

// Who asks.
struct TokenHolder {
  std::string name;  // of the access token; empty where none is asked for
  bool may_admin = false;
};

// Members that nobody asks for do not count; a member that is null counts as absent. All throw InvalidParams.
class Params {
 public:
  // `params` may be unread.
  Params(Json params, TokenHolder holder);

  std::optional<std::string> text(const char* name) const;  // without U+0000
  std::string required_text(const char* name) const;
  std::int64_t integer(const char* name, std::int64_t least, std::int64_t most, std::int64_t absent) const;
  bool flag(const char* name, bool absent) const;
  const Json* member(const char* name) const;  // null if it is absent or null
  const Json& all() const { return params_; }

  // The space that is asked for, which is the asking client's own unless it is an admin. Error 4007 if it may not.
  std::string space() const;
  std::optional<std::string> id() const;  // of the conversation, see checked_id()
  Key key() const;                        // where the id is required
  // Where no conversation is made. Older versions made some whose ids are no UTF-8, which have to be found.
  Key key_of_existing() const;
  // The message in `object`: its "role", "content" and "metadata", created at `time`. `path` is that of `object`.
  static NewMessage message_in(const Json& object, const std::string& path, Milliseconds time);

 private:
  Json params_;
  TokenHolder holder_;
};

// Returns `id` if it is a valid one, 1 to 256 bytes of UTF-8; else throws InvalidParams, which names `path`.
std::string checked_id(const std::string& id, const std::string& path);
// The same of a conversation's title, of at most 1024 bytes.
std::string checked_title(std::string title, const std::string& path);

// {"type":"object","properties":...,"required":[...]}; the names of required properties end with "!".
Json object_schema(Json properties);
Json text_schema(const char* description);
Json integer_schema(const char* description, std::int64_t least, std::int64_t most);

}  // namespace rkllm_mcp::memory
