// The documents of the memory server: each conversation is one.
#include "memory/answers.hpp"
#include "memory/memory_service.hpp"

#include "jsonrpc/unread.hpp"

#include <rkllm_mcp/errors.hpp>

#include <utility>

namespace rkllm_mcp::memory {

mcp::Documents MemoryService::documents() {
  mcp::Documents documents;
  documents.scheme = "memory://";
  mcp::ResourceTemplate address;
  address.uri_template = "memory://conversation/{id}";
  address.name = "conversation";
  address.title = "A conversation";
  address.description = "Its messages and its summary, as JSON.";
  address.mime_type = mcp::kJsonType;
  address.read = [](std::string_view) { return std::nullopt; };
  documents.templates.push_back(std::move(address));
  documents.list = [this](const Principal& principal, mcp::ListRequest request, mcp::DoneFunction done) {
    threads_.read(
        [request = std::move(request), space = principal.name](Store& store) {
          const auto before = number_of(request.cursor.empty() ? std::nullopt : std::optional(request.cursor));
          const auto items = static_cast<std::int64_t>(request.items);
          const auto all = store.list(space, before, items + 1);
          Json page{{"resources", Json::array()}};
          std::size_t bytes = 0;
          for (const Conversation& each : all) {
            const std::string name = "Conversation " + (each.title.empty() ? each.key.id : each.title);
            Json entry{{"uri", uri_of(each.key, space)},
                       {"name", name},
                       {"description", "Conversation history for " + each.key.id},
                       {"mimeType", mcp::kJsonType}};
            bytes += to_text(entry).size() + 1;
            const bool fits = page["resources"].empty() || bytes <= request.bytes;
            if (!fits || page["resources"].size() == request.items) {
              page["nextCursor"] = std::to_string(all[page["resources"].size() - 1].place);
              break;
            }
            page["resources"].push_back(std::move(entry));
          }
          return page;
        },
        std::move(done));
  };
  documents.read = [this](const Principal& principal, const std::string& uri, mcp::DoneFunction done) {
    threads_.read(
        [uri, holder = TokenHolder{principal.name, principal.may_admin}, bytes = options_.answer_bytes](Store& store) {
          const auto key = key_of(uri, holder.name);
          const bool is_permitted = key && (key->space == holder.name || holder.may_admin);
          if (!is_permitted || !store.find(*key)) {
            throw RpcError(ErrorCode::kResourceNotFound, "no resource " + to_text(shortened(uri)) + " exists",
                           Json{{"uri", shortened(uri)}});
          }
          Json content = page_of_messages(store, *key, 0, {kAnyNumber, bytes}, Beyond::kRefused);
          content["summary"] = summary_content(store.summary(*key));
          std::string text = to_text(content);
          if (static_cast<std::int64_t>(text.size()) > bytes) throw too_long_for_one_answer(text.size(), bytes);
          return mcp::answer_in(
              mcp::AnswerForm::kDirect,
              Json{{"contents",
                    Json::array({Json{{"uri", uri}, {"mimeType", mcp::kJsonType}, {"text", std::move(text)}}})}});
        },
        std::move(done));
  };
  return documents;
}

}  // namespace rkllm_mcp::memory
