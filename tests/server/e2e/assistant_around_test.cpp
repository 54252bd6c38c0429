// What is around an assistant's conversations: what a client asks for its own use, servers elsewhere, and what
// `/servers` tells of them.
#include "clinic.hpp"
#include "support/catch.hpp"
#include "support/http_client.hpp"
#include "support/live_server.hpp"

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace rkllm_mcp::test {
namespace {

const std::string kTitle = R"({"title":"Brushing teeth"})";

// As Open WebUI asks for a chat's title, with what the simulated model says.
std::string title_prompt(const std::string& answer) {
  return asked(
      "### Task:\nGenerate a concise title summarizing the chat history.\n### Chat History:\n<chat_history>\n"
      "USER: " +
          kQuestion + "\nASSISTANT: " + kAnswer + "\n</chat_history>",
      {answer});
}

// The profile that comes with this program, with these members instead, in a folder of its own.
void write_profile(const TemporaryDirectory& folder, const Json& members) {
  std::ifstream file(kSourceDirectory + "/examples/profiles/" + kAssistant + ".json");
  Json profile = Json::parse(file);
  profile.update(members);
  write_file(folder / (std::string(kAssistant) + ".json"), profile.dump());
}

// The calls of assistants since there were so many.
std::vector<std::string> calls_after(Clinic& clinic, std::size_t before, std::size_t count) {
  auto calls = clinic.calls(before + count);
  calls.erase(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(before));
  return calls;
}

}  // namespace

TEST_CASE("what Open WebUI asks for its own use goes to the model alone where the profile says so, and is not kept") {
  const TemporaryDirectory folder;
  write_profile(folder, {{"tasks", true}});
  Clinic clinic(web_answer(kPage), {"chat.profiles_dir=" + folder.path()});
  clinic.http.carry_header("X-OpenWebUI-Chat-Id", "webui");
  clinic.ask(asked(kQuestion, {"CÓ", kAnswer, "Tóm tắt."}), "");
  const std::size_t before = clinic.calls(11).size();
  const Json title = clinic.ask(title_prompt(kTitle), "");
  CHECK(title["choices"][0]["message"]["content"] == kTitle);
  CHECK(title["choices"][0]["finish_reason"] == "stop");
  CHECK(title["system_fingerprint"].is_null());
  CHECK(calls_after(clinic, before, 1) == std::vector<std::string>{"model: task"});
  CHECK(clinic.prompts().back().find("Bạn là") == std::string::npos);  // no word of the profile's
  CHECK(clinic.memory("get_all_messages", "webui")["messages"].size() == 2);
  CHECK(clinic.memory("get_summary", "webui")["summary"] == "Tóm tắt.");
  const std::string tags = R"({"tags":["teeth"]})";
  const Json by_ollama{
      {"model", kAssistant}, {"stream", false}, {"messages", {{{"role", "user"}, {"content", title_prompt(tags)}}}}};
  CHECK(clinic.http.post("/api/chat", by_ollama.dump()).json()["message"]["content"] == tags);

  // Named by a header or by a member of the request it may have any form, and may be a stream.
  const Json stream{{"stream", true}, {"metadata", {{"task", "tags_generation"}}}};
  Json body{{"model", kAssistant}, {"messages", {{{"role", "user"}, {"content", asked("Tags?", {"teeth"})}}}}};
  body.update(stream);
  std::string text;
  clinic.http.post_for_events("/v1/chat/completions", body.dump(), [&](std::string_view data) {
    if (data == "[DONE]") return true;
    const Json chunk = Json::parse(data);
    if (!chunk["choices"].empty()) text += chunk["choices"][0]["delta"].value("content", "");
    return true;
  });
  CHECK(text == "teeth");
  clinic.http.carry_header("X-OpenWebUI-Task", "follow_up_generation");
  CHECK(clinic.ask(asked("What next?", {"Floss?"}), "")["choices"][0]["message"]["content"] == "Floss?");
  CHECK(calls_after(clinic, before, 4) == std::vector<std::string>(4, "model: task"));
  CHECK(clinic.memory("get_all_messages", "webui")["messages"].size() == 2);
}

TEST_CASE("a header that names a conversation by what is no UTF-8 is refused, and nothing is kept") {
  Clinic clinic;
  clinic.http.carry_header("X-Conversation-Id", "caf\xe9");
  const Json body{{"model", kAssistant}, {"messages", {{{"role", "user"}, {"content", kQuestion}}}}};
  const HttpAnswer answer = clinic.http.post("/v1/chat/completions", body.dump());
  CHECK(answer.status == 400);
  CHECK_THAT(answer.body, has_text("X-Conversation-Id") && has_text("expected UTF-8"));
  CHECK(clinic.memory("list", "")["conversations"].empty());
}

TEST_CASE("no word in a request leads past a profile's guardrail") {
  Clinic clinic;
  const auto ask = [&](const std::string& path, const std::string& text, const Json& more) {
    Json body{{"model", kAssistant}, {"stream", false}, {"messages", {{{"role", "user"}, {"content", text}}}}};
    body.update(more);
    const HttpAnswer answer = clinic.http.post(path, body.dump());
    INFO(answer.body);
    CHECK(answer.status == 400);
    CHECK_THAT(answer.body, has_text("guardrail") && has_text("tasks"));
  };
  const std::string weather = asked("How is the weather?", {"Sunny."});
  ask("/v1/chat/completions", title_prompt("Sunny."), Json::object());
  ask("/v1/chat/completions", weather, {{"metadata", {{"task", "tags_generation"}}}});
  ask("/v1/chat/completions", weather, {{"metadata", {{"task", "tags_generation"}}}, {"stream", true}});
  ask("/api/chat", title_prompt("Sunny."), Json::object());
  clinic.http.carry_header("X-OpenWebUI-Task", "x_generation");
  ask("/v1/chat/completions", weather, Json::object());
  ask("/api/chat", weather, Json::object());
  ask("/v1/messages", weather, {{"max_tokens", 50}});
  CHECK(clinic.server.recorded_runs().empty());
}

TEST_CASE("a question that only looks like a task of Open WebUI is one for the guardrail") {
  Clinic clinic;
  const auto is_refused = [&](const Json& more, const std::string& text) {
    const Json reply = clinic.ask(text, "", more);
    return reply["choices"][0]["message"]["content"].get<std::string>().find("only answer") != std::string::npos;
  };
  // Its prompt for answers from documents begins with the same heading.
  CHECK(is_refused(Json::object(), asked("### Task:\nRespond to the user query.\n<context>\n</context>", {"NO", "-"})));
  CHECK(is_refused({{"metadata", {{"task", "billing"}}}}, asked("How is the weather?", {"NO", "-"})));
  const Json chat{{"messages",
                   {{{"role", "user"}, {"content", "Hello"}},
                    {{"role", "assistant"}, {"content", "Hello."}},
                    {{"role", "user"}, {"content", asked("### Task:\n<chat_history></chat_history>", {"NO", "-"})}}}}};
  CHECK(is_refused(chat, ""));
  clinic.http.carry_header("X-OpenWebUI-Task", "");
  CHECK(is_refused(Json::object(), asked("How is the weather?", {"NO", "-"})));
}

TEST_CASE("a client of Responses goes on with a profile's conversation by its id, and not with a model's") {
  Clinic clinic;
  const auto respond = [&](const Json& more) {
    Json body{{"model", kAssistant}, {"input", asked(kQuestion, {"CÓ", kAnswer, "Tóm tắt."})}};
    body.update(more);
    return clinic.http.post("/v1/responses", body.dump());
  };
  const Json first = respond({{"conversation", "conv_1"}}).json();
  CHECK(first["output"][0]["content"][0]["text"] == kAnswer);
  CHECK(first["conversation"] == Json{{"id", "conv_1"}});
  const std::string next = asked("Còn kem đánh răng thì sao?", {"CÓ", "Dùng kem có flo.", "Tóm tắt hai."});
  CHECK(respond({{"conversation", {{"id", "conv_1"}}}, {"input", next}}).status == 200);
  CHECK(clinic.memory("get_all_messages", "conv_1")["messages"].size() == 4);
  CHECK_THAT(clinic.prompts().at(4), has_text("Nha sĩ: " + kAnswer));
  // No response is kept, whoever has made it.
  for (const char* const model : {kAssistant, "qwen3-small"}) {
    const auto gone = respond({{"model", model}, {"previous_response_id", first["id"]}});
    CHECK(gone.status == 404);
    CHECK_THAT(gone.body, has_text("is not kept here"));
  }
  const auto of_model = respond({{"model", "qwen3-small"}, {"conversation", "conv_1"}});
  CHECK(of_model.status == 400);
  CHECK(of_model.json()["error"]["param"] == "conversation");
}

TEST_CASE("the memory and the tool server of assistants may be those of another instance, at MCP_SERVER_URL") {
  Clinic other;
  const std::string address = "http://127.0.0.1:" + std::to_string(other.server.port(Transport::kHttp));
  Clinic clinic(web_answer(kPage), {}, {{"MCP_SERVER_URL", address + "/"}});
  const Json reply = clinic.ask(asked(kQuestion, {"CÓ", kAnswer, "Tóm tắt."}), "far");
  CHECK(reply["choices"][0]["message"]["content"] == kAnswer);
  CHECK(reply["system_fingerprint"] == "far");
  CHECK(clinic.last.headers.count("x-rkllm-search") == 0);
  CHECK(clinic.calls(11).size() == 11);
  CHECK(other.memory("get_all_messages", "far")["messages"].size() == 2);
  CHECK(other.memory("get_summary", "far")["summary"] == "Tóm tắt.");
  CHECK(other.web.heads().size() == 1);
  CHECK(clinic.memory("get_all_messages", "far")["messages"].empty());
  CHECK(clinic.web.heads().empty());

  Clinic alone(web_answer(kPage), {}, {{"MCP_SERVER_URL", "http://127.0.0.1:1"}});
  const Json body{{"model", kAssistant},
                  {"chat_id", "c"},
                  {"messages", {{{"role", "user"}, {"content", asked(kQuestion, {"CÓ"})}}}}};
  const auto lost = alone.http.post("/v1/chat/completions", body.dump());
  CHECK(lost.status == 502);
  CHECK_THAT(lost.body, has_text("memory-server: 127.0.0.1:1: no connection could be made"));
  const auto start_wrongly = [] { const LiveServer wrong({.env = {{"MCP_SERVER_URL", "ftp://x"}}}); };
  CHECK_THROWS_WITH(start_wrongly(), has_text("MCP_SERVER_URL: "));
}

TEST_CASE("the servers are told of with their prompts, which are those of the profiles") {
  Clinic clinic;
  const Json servers = clinic.http.get("/servers").json()["servers"];
  const auto prompts_of = [&](const std::string& name) {
    for (const Json& each : servers) {
      if (each["name"] == name) return each["capabilities"]["prompts"];
    }
    return Json("no such server");
  };
  CHECK(prompts_of("memory-server") == Json::array());
  CHECK(prompts_of("tool-server") == Json::array());
  const Json prompts = prompts_of("chat-server");
  REQUIRE(prompts.size() == 10);
  CHECK(prompts[0]["name"] == "dental-duckduckgo_guardrail");
  CHECK(prompts[0]["arguments"][0]["name"] == "question");
  CHECK(clinic.http.get("/servers/chat-server/capabilities").json()["capabilities"]["prompts"] == prompts);
  const Json request{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "chat-server/prompts/list"}};
  CHECK(clinic.http.post("/jsonrpc", request.dump()).json()["result"]["prompts"] == prompts);
}

}  // namespace rkllm_mcp::test
