// Conversations as JSON Lines, to be exported and imported. A conversation is a line that begins it, its messages in
// order, and a line for its summary, if it has one:
//
//   {"conversation":"chat_1","title":"...","created":"2026-11-23T21:27:58.123Z"}
//   {"role":"user","content":"...","timestamp":"...","metadata":{...}}
//   {"summary":{"text":"...","covers":4,"updated_at":"..."}}
//
// Any thread.
#pragma once

#include "memory/store.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rkllm_mcp::memory {

// A part of an export: the lines from `cursor` on (empty: from the beginning), and where it goes on; empty: it does
// not.
struct ExportedPart {
  Json lines = Json::array();
  std::string next;
};

// Throws no_such_conversation(), and InvalidParams for a cursor that was never given out.
ExportedPart export_part(Store& store, const Key& key, const std::string& cursor, const Limits& limits);

// One line of an import, understood.
struct ImportLine {
  enum class Kind { kConversation, kMessage, kSummary } kind = Kind::kMessage;
  std::string id, title;  // of a conversation
  Milliseconds created = 0;
  NewMessage message{};
  Summary summary{};
};

// Throws InvalidParams with that path.
ImportLine import_line(const Json& line, const std::string& path);

// What is imported waits in a space of its own until all of it is there, and is then moved at once: so that nothing of
// it is there if a line is wrong, however long it is.
std::string waiting_space(const std::string& import_name, const std::string& space);
bool is_waiting_space(const std::string& space);

struct Imported {
  std::int64_t conversations = 0;
  std::int64_t messages = 0;
};

enum class IfThere { kRefuse, kReplace };

// Adds lines to what waits. Throws InvalidParams for lines that belong to no conversation, before anything is changed.
Imported add_waiting(Store& store, const std::string& import_name, const std::string& space,
                     const std::vector<ImportLine>& lines, const std::string& path);
// Throws InvalidParams that names a conversation of what waits, or of `lines`, which exists in the space already.
void refuse_existing(Store& store, const std::string& import_name, const std::string& space,
                     const std::vector<ImportLine>& lines);
// Moves all that waits to its space. Of conversations that exist there already, kReplace removes them first; kRefuse
// throws RpcError (kInvalidParams) that names one, before anything is changed.
Imported finish_import(Store& store, const std::string& import_name, const std::string& space, IfThere if_there);
void give_up_import(Store& store, const std::string& import_name, const std::string& space);
void discard_waiting(Store& store, const std::string& waiting);  // an import's lines, by their waiting space

}  // namespace rkllm_mcp::memory
