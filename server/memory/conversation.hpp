// Conversations as values: what the memory server keeps, whatever store it is in.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::memory {

using Milliseconds = std::int64_t;  // since 1970-01-01 UTC

// Whose conversation it is, and its id, which is unique in that space only. The space is the name of the access token
// that made it; empty where no token is asked for.
struct Key {
  std::string space;
  std::string id;

  // The 0 is the compiler's own. NOLINTNEXTLINE(modernize-use-nullptr)
  auto operator<=>(const Key&) const = default;
};

enum class Role { kUser, kAssistant, kSystem, kTool };

std::string_view name_of(Role role);  // "user"
std::optional<Role> role_named(std::string_view name);

struct NewMessage {
  Role role = Role::kUser;
  std::string content;   // UTF-8 without U+0000
  std::string metadata;  // JSON text of an object; empty: none
  Milliseconds created = 0;

  bool operator==(const NewMessage&) const = default;
};

struct StoredMessage : NewMessage {
  std::int64_t seq = 0;  // counts up by one in its conversation, from 1; goes on after clear()

  bool operator==(const StoredMessage&) const = default;
};

struct Summary {
  std::string text;
  std::int64_t covers = 0;  // so many of the conversation's first messages
  Milliseconds updated = 0;

  bool operator==(const Summary&) const = default;
};

struct Conversation {
  Key key;
  std::string title;  // empty: none
  std::int64_t messages = 0;
  std::int64_t bytes = 0;  // of their contents
  Milliseconds created = 0;
  Milliseconds updated = 0;
  std::int64_t place = 0;  // in lists: newer ones have higher ones

  bool operator==(const Conversation&) const = default;
};

// "2026-11-23T21:27:58.123Z", and back; nothing if it is no such time.
std::string timestamp_of(Milliseconds time);
std::optional<Milliseconds> time_of(std::string_view timestamp);
Milliseconds now();

// The address of a conversation's resource, "memory://conversation/chat_1"; of another space with "?space=NAME". What
// is no letter, digit or one of -._~ is percent-encoded.
std::string uri_of(const Key& key, std::string_view own_space);
// The conversation that an address names; nothing if it is none. Without "?space=" it is of `own_space`.
std::optional<Key> key_of(std::string_view uri, std::string_view own_space);

}  // namespace rkllm_mcp::memory
