#include "fixtures.hpp"

#include "jsonrpc/envelope.hpp"

#include <rkllm_mcp/errors.hpp>

#include <asio/steady_timer.hpp>

#include <exception>
#include <utility>

namespace rkllm_mcp::conformance {
namespace {

InvalidParams bad_answer(std::string_view key, std::string_view complaint) {
  return {"params.inputResponses." + std::string(key), complaint};
}

}  // namespace

mcp::Tool make_tool(std::string name, std::string description, mcp::InvokeFunction run, Json input_schema) {
  mcp::Tool tool;
  tool.name = std::move(name);
  tool.description = std::move(description);
  tool.input_schema =
      input_schema.is_null() ? Json{{"type", "object"}, {"additionalProperties", false}} : std::move(input_schema);
  tool.run = std::move(run);
  return tool;
}

Json image_block() {
  constexpr std::string_view kRedPixel =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
  return Json{{"type", "image"}, {"data", kRedPixel}, {"mimeType", "image/png"}};
}

Json embedded_block(std::string_view uri, std::string_view mime_type, std::string_view text) {
  return Json{{"type", "resource"}, {"resource", {{"uri", uri}, {"mimeType", mime_type}, {"text", text}}}};
}

mcp::InputRequest form(std::string key, std::string_view message, Json properties, Json required) {
  Json schema{{"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}};
  return {std::move(key), "elicitation/create", Json{{"message", message}, {"requestedSchema", std::move(schema)}}};
}

mcp::InputRequest question(std::string key, std::string_view message, std::string field) {
  Json required = Json::array({field});
  return form(std::move(key), message, Json{{std::move(field), {{"type", "string"}}}}, std::move(required));
}

mcp::InputRequest sampling(std::string key, std::string_view prompt, int max_tokens) {
  const Json message{{"role", "user"}, {"content", mcp::text_block(prompt)}};
  return {std::move(key), "sampling/createMessage",
          Json{{"messages", Json::array({message})}, {"maxTokens", max_tokens}}};
}

mcp::InputRequest roots(std::string key) { return {std::move(key), "roots/list"}; }

const Json* form_answer(const mcp::Invocation& invocation, std::string_view key) {
  const Json* const answer = invocation.input(key);
  if (answer == nullptr) return nullptr;
  const auto action = answer->find("action");
  if (!answer->is_object() || action == answer->end() || !action->is_string()) {
    throw bad_answer(key, "expected the answer to a form, with its action");
  }
  if (*action == "accept" && !answer->value("content", Json()).is_object()) {
    throw bad_answer(key, "expected content that was accepted");
  }
  return answer;
}

std::string text_of(const Json& answer, std::string_view field) {
  if (answer["action"] != "accept") return "(" + answer["action"].get<std::string>() + ")";
  const auto text = answer["content"].find(field);
  return text != answer["content"].end() && text->is_string() ? text->get<std::string>() : "";
}

std::string sampled_text(const mcp::Invocation& invocation, std::string_view key) {
  const Json& answer = *invocation.input(key);
  const Json content = answer.is_object() ? answer.value("content", Json()) : Json();
  if (!content.is_object()) throw bad_answer(key, "expected what a model said");
  return content.value("text", "");
}

void after(asio::io_context& loop, std::chrono::milliseconds time, mcp::Invocation& invocation,
           std::function<void()> then) {
  const auto timer = std::make_shared<asio::steady_timer>(loop, time);
  invocation.on_cancelled([timer] { timer->cancel(); });
  timer->async_wait(
      [timer, invocation = invocation.shared_from_this(), then = std::move(then)](const asio::error_code& error) {
        if (error) return;
        try {
          then();
        } catch (...) {
          invocation->error(as_rpc_error(std::current_exception()));
        }
      });
}

}  // namespace rkllm_mcp::conformance
