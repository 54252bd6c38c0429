// The methods of the memory server.
#include "memory/answers.hpp"
#include "memory/memory_service.hpp"
#include "memory/transfer.hpp"

#include "jsonrpc/unread.hpp"
#include "random_bytes.hpp"
#include "text/utf8.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <utility>

namespace rkllm_mcp::memory {
namespace {

constexpr std::int64_t kMostListed = 1000;
constexpr std::size_t kMostQueryBytes = 1024;

using Properties = std::vector<std::pair<const char*, Json>>;

Json conversation_id() {
  return Json{{"type", "string"}, {"minLength", 1}, {"maxLength", 256}, {"description", "Of the conversation."}};
}

Json space() {
  return text_schema("Whose conversations: the name of an access token. For admins; left out: one's own.");
}

Json cursor() { return text_schema("nextCursor of the page before."); }

// Parameters of a method on one conversation.
Json of_conversation(Json more = Json::object()) {
  Json properties{{"conversation_id!", conversation_id()}};
  for (auto& [name, value] : more.items()) properties[name] = std::move(value);
  properties["space"] = space();
  return object_schema(std::move(properties));
}

Json of_status(const char* status) {
  return object_schema(
      Json{{"status!", {{"type", "string"}, {"const", status}}}, {"conversation_id!", conversation_id()}});
}

Json of_messages(Json more = Json::object()) {
  Json message = object_schema(Json{{"role!", {{"type", "string"}, {"enum", {"user", "assistant", "system", "tool"}}}},
                                    {"content!", {{"type", "string"}}},
                                    {"timestamp", text_schema("UTC.")},
                                    {"metadata", {{"type", "object"}}}});
  Json properties{{"messages!", {{"type", "array"}, {"items", std::move(message)}}}};
  for (auto& [name, value] : more.items()) properties[name] = std::move(value);
  return object_schema(std::move(properties));
}

Json of_summary() { return object_schema(Json{{"summary!", text_schema("Empty if there is none yet.")}}); }

mcp::ServiceMethod described(const char* name, const char* title, const char* description, Json params, Json result) {
  mcp::ServiceMethod method;
  method.name = name;
  method.title = title;
  method.description = description;
  method.params_schema = std::move(params);
  method.result_schema = std::move(result);
  return method;
}

// The conversation that is meant, where none is made. Older versions made some whose ids are no UTF-8: answers show
// those with U+FFFD, and so clients name them.
Key existing(Store& store, const Params& params) {
  Key key = params.key_of_existing();
  if (key.id.find(kReplacementCharacter) == std::string::npos || store.find(key)) return key;
  const std::string shown = to_text(key.id);
  std::int64_t before = 0;
  while (true) {
    const auto page = store.list(key.space, before, kMostListed);
    if (page.empty()) return key;
    for (const Conversation& each : page) {
      if (to_text(each.key.id) == shown) return each.key;
    }
    before = page.back().place;
  }
}

std::vector<ImportLine> lines_in(const Params& params) {
  const Json* const lines = params.member("lines");
  if (lines == nullptr || !lines->is_array()) throw InvalidParams("params.lines", "expected an array of objects");
  std::vector<ImportLine> understood;
  for (std::size_t at = 0; at < lines->size(); ++at) {
    understood.push_back(import_line((*lines)[at], "params.lines[" + std::to_string(at) + "]"));
  }
  return understood;
}

}  // namespace

void MemoryService::add_context_methods(mcp::Service& service) {
  add_changing(
      service,
      described("memory/get_or_create", "Get or create a conversation",
                "Makes a conversation, with a new id if none is given; one that exists is left as it is.",
                object_schema(Json{{"conversation_id", conversation_id()}, {"space", space()}}),
                object_schema(Json{{"conversation_id!", conversation_id()}})),
      [this](Store& store, const Params& params) {
        const Key key{params.space(), params.id().value_or(new_id("chat_"))};
        const bool exists = store.find(key).has_value();
        if (!exists) make_room(store);
        if (!exists) store.create(key, now());
        return Change{Json{{"conversation_id", key.id}}, key, exists ? Change::What::kNothing : Change::What::kList};
      });
  add_reading(
      service,
      described("memory/get_context", "Recent messages",
                "The most recent messages of a conversation, as many as one answer has room for: what a model needs "
                "besides the summary. Empty if there is no such conversation.",
                of_conversation(Json{{"max_messages", integer_schema("At most so many (20).", 1, kAnyNumber)}}),
                of_messages()),
      [this](Store& store, const Params& params) {
        const Key key = params.key();
        constexpr std::int64_t kUnlessSaid = 20;
        const auto most = std::min(params.integer("max_messages", 1, kAnyNumber, kUnlessSaid), options_.keep_recent);
        const auto messages = store.recent(key, {most, options_.answer_bytes});
        return Json{{"messages", last_that_fit(messages, options_.answer_bytes)}};
      });
}

void MemoryService::add_message_methods(mcp::Service& service) {
  add_changing(
      service,
      described("memory/add_message", "Add a message",
                "Adds a message at the end of a conversation, and makes that if there is none. It is safe on disk "
                "when this is answered.",
                of_conversation(Json{{"role!", {{"type", "string"}, {"enum", {"user", "assistant", "system", "tool"}}}},
                                     {"content!", {{"type", "string"}}},
                                     {"metadata", {{"type", "object"}, {"description", "Kept with it."}}}}),
                of_status("success")),
      [this](Store& store, const Params& params) {
        const Key key = params.key();
        const NewMessage message = Params::message_in(params.all(), "params", now());
        make_room(store);
        const bool is_first = store.append(key, message) == 1;
        return Change{status_answer("success", key), key, is_first ? Change::What::kList : Change::What::kConversation};
      });
  add_reading(service,
              described("memory/get_all_messages", "The whole conversation",
                        "All messages of a conversation, or a page of them with limit and cursor.",
                        of_conversation(Json{{"limit", integer_schema("A page of so many at most.", 1, kMostListed)},
                                             {"cursor", cursor()}}),
                        of_messages(Json{{"nextCursor", {{"type", "string"}}}})),
              [this](Store& store, const Params& params) {
                const Key key = existing(store, params);
                const bool is_paged = params.member("limit") != nullptr || params.member("cursor") != nullptr;
                const Limits limits{is_paged ? params.integer("limit", 1, kMostListed, 100) : kAnyNumber,
                                    options_.answer_bytes};
                return page_of_messages(store, key, number_of(params.text("cursor")), limits,
                                        is_paged ? Beyond::kNextPage : Beyond::kRefused);
              });
  add_reading(
      service,
      described("memory/get_old_messages", "Messages to summarise",
                "The messages before the most recent ones that no summary covers yet, and how many there are before "
                "the most recent ones altogether.",
                of_conversation(), of_messages(Json{{"total_count!", {{"type", "integer"}}}})),
      [this](Store& store, const Params& params) {
        const Key key = params.key();
        const auto conversation = store.find(key);
        const std::int64_t total =
            conversation ? std::max<std::int64_t>(conversation->messages - options_.keep_recent, 0) : 0;
        const Limits limits{kAnyNumber, options_.answer_bytes};
        const auto messages = store.old(key, options_.keep_recent, limits);
        return Json{{"messages", first_that_fit(messages, limits, brief_message)}, {"total_count", total}};
      });
  mcp::ServiceMethod clear =
      described("memory/clear", "Clear a conversation", "Removes all messages and the summary; the conversation stays.",
                of_conversation(), of_status("cleared"));
  clear.annotations = {.destructive = true, .idempotent = true};
  add_changing(service, std::move(clear), [](Store& store, const Params& params) {
    const Key key = existing(store, params);
    if (!store.clear(key, now())) throw no_such_conversation(key.id);
    return Change{status_answer("cleared", key), key, Change::What::kConversation, true};
  });
  mcp::ServiceMethod remove =
      described("memory/delete", "Delete a conversation", "Removes the conversation with all it has.",
                of_conversation(), of_status("deleted"));
  remove.annotations = {.destructive = true};
  add_changing(service, std::move(remove), [](Store& store, const Params& params) {
    const Key key = existing(store, params);
    if (!store.remove(key)) throw no_such_conversation(key.id);
    return Change{status_answer("deleted", key), key, Change::What::kList, true};
  });
}

void MemoryService::add_summary_methods(mcp::Service& service) {
  const auto get = [](Store& store, const Params& params) {
    const auto summary = store.summary(existing(store, params));
    return Json{{"summary", summary ? summary->text : ""}};
  };
  add_reading(service,
              described("memory/get_or_create_summary", "The summary, or that one is to be made",
                        "The conversation's summary; empty if one has yet to be made, and given to memory_set_summary.",
                        of_conversation(Json{{"old_messages", {{"type", "array"}, {"items", {{"type", "object"}}}}},
                                             {"language", {{"type", "string"}, {"enum", {"vi", "en"}}}}}),
                        of_summary()),
              [get](Store& store, const Params& params) {
                const Json* const old = params.member("old_messages");
                if (old != nullptr && !old->is_array()) throw InvalidParams("params.old_messages", "expected array");
                const auto language = params.text("language").value_or("vi");
                if (language != "vi" && language != "en") throw InvalidParams("params.language", "expected vi or en");
                return get(store, params);
              });
  add_reading(service,
              described("memory/get_summary", "The summary", "The conversation's summary; empty if there is none.",
                        of_conversation(), of_summary()),
              get);
  mcp::ServiceMethod set =
      described("memory/set_summary", "Set the summary",
                "Replaces the summary, which then covers the messages before the most recent ones. An empty "
                "one covers none.",
                of_conversation(Json{{"summary!", {{"type", "string"}}},
                                     {"compress", {{"type", "boolean"}, {"description", "Without effect."}}}}),
                of_status("success"));
  set.annotations = {.idempotent = true};
  add_changing(service, std::move(set), [this](Store& store, const Params& params) {
    const Key key = params.key();
    const std::string text = params.required_text("summary");
    params.flag("compress", false);  // it has no effect, but must be true or false
    const bool exists = store.find(key).has_value();
    make_room(store);
    store.set_summary(key, text, options_.keep_recent, now());
    return Change{status_answer("success", key), key, exists ? Change::What::kConversation : Change::What::kList};
  });
}

void MemoryService::add_list_methods(mcp::Service& service) {
  const Json page{{"limit", integer_schema("A page of so many at most (50).", 1, kMostListed)}, {"cursor", cursor()}};
  Json listing = page;
  listing["space"] = space();
  add_reading(service,
              described("memory/list", "List conversations", "The conversations, newest first, in pages.",
                        object_schema(listing),
                        object_schema(Json{{"conversations!", {{"type", "array"}, {"items", {{"type", "object"}}}}},
                                           {"nextCursor", {{"type", "string"}}}})),
              [this](Store& store, const Params& params) {
                const std::int64_t limit = params.integer("limit", 1, kMostListed, 50);
                const auto all = store.list(params.space(), number_of(params.text("cursor")), limit + 1);
                Json result{{"conversations", Json::array()}};
                AnswerRoom room(options_.answer_bytes);
                for (const Conversation& each : all) {
                  Json entry = conversation_entry(each);
                  const auto listed = static_cast<std::int64_t>(result["conversations"].size());
                  if (listed == limit || !room.has(entry)) break;
                  result["conversations"].push_back(std::move(entry));
                }
                const std::size_t listed = result["conversations"].size();
                if (listed < all.size()) result["nextCursor"] = std::to_string(all.at(listed - 1).place);
                return result;
              });
  Json query = text_schema("Words, all of which must occur in a message.");
  query["maxLength"] = kMostQueryBytes;
  Json searching{{"query!", std::move(query)},
                 {"conversation_id", conversation_id()},
                 {"fold_diacritics", {{"type", "boolean"}, {"description", "\"tieng\" finds \"tiếng\" too (true)."}}}};
  searching.update(listing);
  add_reading(service,
              described("memory/search", "Search messages", "The messages that have all these words, newest first.",
                        object_schema(std::move(searching)),
                        object_schema(Json{{"hits!", {{"type", "array"}, {"items", {{"type", "object"}}}}},
                                           {"nextCursor", {{"type", "string"}}}})),
              [this](Store& store, const Params& params) {
                constexpr std::int64_t kMostShown = 4096;
                Search search;
                search.text = params.required_text("query");
                // More words than anybody asks for: what they take grows with their square.
                if (search.text.size() > kMostQueryBytes) {
                  throw InvalidParams("params.query", "expected at most " + std::to_string(kMostQueryBytes) + " bytes");
                }
                search.fold = params.flag("fold_diacritics", true);
                search.id = params.id().value_or("");
                search.before = number_of(params.text("cursor"));
                search.count = params.integer("limit", 1, kMostListed, 20);
                search.content_bytes = kMostShown;
                search.bytes = options_.answer_bytes;
                const SearchPage matches = store.search(params.space(), search);
                Json result{{"hits", Json::array()}};
                AnswerRoom room(options_.answer_bytes);
                for (const Hit& hit : matches.hits) {
                  Json entry = hit_entry(hit);
                  if (!room.has(entry)) break;
                  result["hits"].push_back(std::move(entry));
                }
                const std::size_t shown = result["hits"].size();
                if (matches.is_more || shown < matches.hits.size()) {
                  result["nextCursor"] = std::to_string(matches.hits.at(shown - 1).place);
                }
                return result;
              });
  mcp::ServiceMethod rename = described("memory/rename", "Rename a conversation", "Gives it a title; its id stays.",
                                        of_conversation(Json{{"title!", {{"type", "string"}}}}), of_status("renamed"));
  rename.annotations = {.idempotent = true};
  add_changing(service, std::move(rename), [](Store& store, const Params& params) {
    const Key key = existing(store, params);
    const std::string title = checked_title(params.required_text("title"), "params.title");
    if (!store.rename(key, title)) throw no_such_conversation(key.id);
    return Change{status_answer("renamed", key), key, Change::What::kList};
  });
}

void MemoryService::add_transfer_methods(mcp::Service& service) {
  add_reading(
      service,
      described("memory/export", "Export a conversation", "The conversation as lines for memory_import, in pages.",
                of_conversation(Json{{"limit", integer_schema("So many messages at most (500).", 1, kMostListed)},
                                     {"cursor", cursor()}}),
                object_schema(Json{{"lines!", {{"type", "array"}, {"items", {{"type", "object"}}}}},
                                   {"nextCursor", {{"type", "string"}}}})),
      [this](Store& store, const Params& params) {
        const Limits limits{params.integer("limit", 1, kMostListed, 500), options_.answer_bytes};
        ExportedPart part = export_part(store, existing(store, params), params.text("cursor").value_or(""), limits);
        Json result{{"lines", std::move(part.lines)}};
        if (!part.next.empty()) result["nextCursor"] = part.next;
        return result;
      });
  add_changing(
      service,
      described(
          "memory/import", "Import conversations",
          "Takes lines as memory_export gives them: all or nothing. Long imports come in several calls with the same "
          "\"import\" and \"more\": true in all but the last.",
          object_schema(
              Json{{"lines!", {{"type", "array"}, {"items", {{"type", "object"}}}}},
                   {"import", text_schema("A name for one that comes in several calls.")},
                   {"more", {{"type", "boolean"}, {"description", "More lines will come."}}},
                   {"discard", {{"type", "boolean"}, {"description", "The import is given up."}}},
                   {"replace",
                    {{"type", "boolean"}, {"description", "Conversations that exist are replaced, not refused."}}},
                   {"space", space()}}),
          object_schema(Json{{"status!", {{"type", "string"}, {"enum", {"waiting", "imported", "discarded"}}}},
                             {"conversations!", {{"type", "integer"}}},
                             {"messages!", {{"type", "integer"}}}})),
      [this](Store& store, const Params& params) {
        const std::string space = params.space();
        const std::string name = checked_id(params.text("import").value_or(new_id("chat_")), "params.import");
        if (params.flag("discard", false)) {
          give_up_import(store, name, space);
          return Change{
              Json{{"status", "discarded"}, {"conversations", 0}, {"messages", 0}}, {}, Change::What::kNothing};
        }
        const bool is_more = params.flag("more", false);
        const auto if_there = params.flag("replace", false) ? IfThere::kReplace : IfThere::kRefuse;
        const auto lines = lines_in(params);
        make_room(store);
        if (!is_more && if_there == IfThere::kRefuse) refuse_existing(store, name, space, lines);
        Imported imported = add_waiting(store, name, space, lines, "params.lines");
        if (!is_more) imported = finish_import(store, name, space, if_there);
        return Change{Json{{"status", is_more ? "waiting" : "imported"},
                           {"conversations", imported.conversations},
                           {"messages", imported.messages}},
                      {space, ""},
                      is_more ? Change::What::kNothing : Change::What::kList,
                      !is_more && if_there == IfThere::kReplace};
      });
}

}  // namespace rkllm_mcp::memory
