#include "memory/transfer.hpp"

#include "jsonrpc/unread.hpp"
#include "memory/params.hpp"
#include "memory/store.hpp"

#include <rkllm_mcp/errors.hpp>

#include <charconv>
#include <set>
#include <utility>

namespace rkllm_mcp::memory {
namespace {

constexpr char kEndOfName = '\x01';
constexpr std::int64_t kListed = 1000;

std::int64_t seq_of(const std::string& cursor) {
  std::int64_t seq = 0;
  const auto [end, error] = std::from_chars(cursor.data(), cursor.data() + cursor.size(), seq);
  if (error != std::errc() || end != cursor.data() + cursor.size() || seq < 1) {
    throw InvalidParams("params.cursor", "not a cursor of this list");
  }
  return seq;
}

Milliseconds time_in(const Json& object, const char* name, const std::string& path) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return now();
  const auto time = found->is_string() ? time_of(found->get_ref<const std::string&>()) : std::nullopt;
  if (!time) throw InvalidParams(path + "." + name, "expected a time such as 2026-11-23T21:27:58.123Z");
  return *time;
}

std::string text_in(const Json& object, const char* name, const std::string& path) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return {};
  if (!found->is_string()) throw InvalidParams(path + "." + name, "expected string");
  if (found->get_ref<const std::string&>().find('\0') != std::string::npos) {
    throw InvalidParams(path + "." + name, "U+0000 is not allowed");
  }
  return found->get<std::string>();
}

ImportLine summary_line(const Json& object, const std::string& path) {
  if (!object.is_object()) throw InvalidParams(path, "expected object");
  ImportLine line;
  line.kind = ImportLine::Kind::kSummary;
  line.summary.text = text_in(object, "text", path);
  line.summary.updated = time_in(object, "updated_at", path);
  const auto covers = object.find("covers");
  if (covers != object.end()) {
    if (!covers->is_number_integer() || *covers < 0 || *covers > std::int64_t{1} << 53U) {
      throw InvalidParams(path + ".covers", "expected a count of messages");
    }
    line.summary.covers = covers->get<std::int64_t>();
  }
  return line;
}

}  // namespace

ExportedPart export_part(Store& store, const Key& key, const std::string& cursor, const Limits& limits) {
  const auto found = store.find(key);
  if (!found) throw no_such_conversation(key.id);
  ExportedPart part;
  if (cursor.empty()) {
    Json header{{"conversation", key.id}, {"created", timestamp_of(found->created)}};
    if (!found->title.empty()) header["title"] = found->title;
    part.lines.push_back(std::move(header));
  }
  Limits one_more = limits;
  ++one_more.count;
  auto messages = store.messages(key, cursor.empty() ? 0 : seq_of(cursor), one_more);
  const auto last_of_all = store.recent(key, {1});
  const bool is_more = !messages.empty() && (static_cast<std::int64_t>(messages.size()) > limits.count ||
                                             messages.back().seq < last_of_all.front().seq);
  if (static_cast<std::int64_t>(messages.size()) > limits.count) messages.pop_back();
  std::int64_t bytes = 0;
  std::int64_t last = 0;
  for (const StoredMessage& message : messages) {
    Json line{
        {"role", name_of(message.role)}, {"content", message.content}, {"timestamp", timestamp_of(message.created)}};
    if (!message.metadata.empty()) line["metadata"] = Json::parse(message.metadata);
    bytes += static_cast<std::int64_t>(to_text(line).size());
    if (bytes > limits.bytes && last != 0) {
      part.next = std::to_string(last);
      return part;
    }
    part.lines.push_back(std::move(line));
    last = message.seq;
  }
  if (is_more) {
    part.next = std::to_string(messages.back().seq);
    return part;
  }
  if (const auto summary = store.summary(key)) {
    bytes += static_cast<std::int64_t>(summary->text.size());
    if (bytes > limits.bytes && last != 0) {
      part.next = std::to_string(last);  // where nothing but the summary is left
      return part;
    }
    part.lines.push_back(
        Json{{"summary",
              {{"text", summary->text}, {"covers", summary->covers}, {"updated_at", timestamp_of(summary->updated)}}}});
  }
  return part;
}

ImportLine import_line(const Json& line, const std::string& path) {
  if (!line.is_object()) throw InvalidParams(path, "expected object");
  if (const auto summary = line.find("summary"); summary != line.end())
    return summary_line(*summary, path + ".summary");
  ImportLine understood;
  if (line.contains("conversation")) {
    understood.kind = ImportLine::Kind::kConversation;
    understood.id = checked_id(text_in(line, "conversation", path), path + ".conversation");
    understood.title = checked_title(text_in(line, "title", path), path + ".title");
    understood.created = time_in(line, "created", path);
    return understood;
  }
  understood.message = Params::message_in(line, path, time_in(line, "timestamp", path));
  return understood;
}

std::string waiting_space(const std::string& import_name, const std::string& space) {
  return std::string(kWaitingSpaces) + import_name + kEndOfName + space;
}

bool is_waiting_space(const std::string& space) { return space.starts_with(kWaitingSpaces); }

Imported add_waiting(Store& store, const std::string& import_name, const std::string& space,
                     const std::vector<ImportLine>& lines, const std::string& path) {
  const std::string waiting = waiting_space(import_name, space);
  const auto last = store.list(waiting, 0, 1);
  if (last.empty() && !lines.empty() && lines.front().kind != ImportLine::Kind::kConversation) {
    throw InvalidParams(path + "[0]", "expected a line with \"conversation\" first");
  }
  std::set<std::string> begun;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    if (lines[at].kind != ImportLine::Kind::kConversation) continue;
    const std::string& id = lines[at].id;
    if (store.find({waiting, id}) || begun.contains(id)) {
      throw InvalidParams(path + "[" + std::to_string(at) + "].conversation", "it was there before");
    }
    begun.insert(id);
  }
  Imported imported;
  Key key{waiting, last.empty() ? std::string() : last.front().key.id};
  for (const ImportLine& line : lines) {
    switch (line.kind) {
      case ImportLine::Kind::kConversation:
        key.id = line.id;
        store.create(key, line.created);
        if (!line.title.empty()) store.rename(key, line.title);
        ++imported.conversations;
        break;
      case ImportLine::Kind::kMessage:
        store.append(key, line.message);
        ++imported.messages;
        break;
      case ImportLine::Kind::kSummary: store.put_summary(key, line.summary); break;
    }
  }
  return imported;
}

void refuse_existing(Store& store, const std::string& import_name, const std::string& space,
                     const std::vector<ImportLine>& lines) {
  const auto refuse = [&](const std::string& id) {
    if (!store.find({space, id})) return;
    throw InvalidParams("params.lines", "the conversation " + to_text(shortened(id)) + " exists already");
  };
  for (const ImportLine& line : lines) {
    if (line.kind == ImportLine::Kind::kConversation) refuse(line.id);
  }
  std::int64_t before = 0;
  const std::string waiting = waiting_space(import_name, space);
  for (auto page = store.list(waiting, before, kListed); !page.empty(); page = store.list(waiting, before, kListed)) {
    for (const Conversation& each : page) refuse(each.key.id);
    before = page.back().place;
  }
}

Imported finish_import(Store& store, const std::string& import_name, const std::string& space, IfThere if_there) {
  const std::string waiting = waiting_space(import_name, space);
  Imported imported;
  std::vector<Key> replaced;
  std::int64_t before = 0;
  while (true) {
    const auto page = store.list(waiting, before, kListed);
    for (const Conversation& each : page) {
      ++imported.conversations;
      imported.messages += each.messages;
      before = each.place;
      if (if_there == IfThere::kReplace) replaced.push_back({space, each.key.id});
    }
    if (page.empty()) break;
  }
  for (const Key& key : replaced) store.remove(key);
  store.move_space(waiting, space);
  return imported;
}

void give_up_import(Store& store, const std::string& import_name, const std::string& space) {
  discard_waiting(store, waiting_space(import_name, space));
}

void discard_waiting(Store& store, const std::string& waiting) {
  for (auto page = store.list(waiting, 0, kListed); !page.empty(); page = store.list(waiting, 0, kListed)) {
    for (const Conversation& each : page) store.remove(each.key);
  }
}

}  // namespace rkllm_mcp::memory
