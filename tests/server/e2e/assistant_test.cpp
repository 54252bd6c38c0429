// The assistants over HTTP: what they do with questions and answers, in which order, and what is kept of it.
#include "client/mcp/mcp_client.hpp"
#include "clinic.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/http_client.hpp"
#include "support/live_server.hpp"
#include "support/paths.hpp"
#include "support/rpc_client.hpp"
#include "support/web_server.hpp"

#include <signal.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <vector>

namespace rkllm_mcp::test {
namespace {

const std::vector<std::string> kElevenSteps{
    "model: guardrail",
    "memory-server: memory/get_or_create",
    "memory-server: memory/get_context",
    "memory-server: memory/get_summary",
    "tool-server: tools/list",
    "tool-server: tools/call duckduckgo_search",
    "model: answer",
    "memory-server: memory/add_message",
    "memory-server: memory/add_message",
    "model: summary",
    "memory-server: memory/set_summary",
};

}  // namespace

TEST_CASE("a Vietnamese question goes its eleven steps through host, memory, tools and model, in order") {
  Clinic clinic;
  const std::string question = asked(kQuestion, {"CÓ", kAnswer, "Đánh răng hai lần mỗi ngày."});
  const Json reply = clinic.ask(question, "chat_123456");
  CHECK(reply["object"] == "chat.completion");
  CHECK(reply["model"] == kAssistant);
  CHECK(reply["choices"][0]["message"]["content"] == kAnswer);
  CHECK(reply["choices"][0]["finish_reason"] == "stop");
  CHECK(reply["system_fingerprint"] == "chat_123456");
  CHECK(reply["usage"]["completion_tokens"] > 1);
  CHECK(clinic.last.headers.count("x-rkllm-search") == 0);
  CHECK(clinic.calls(kElevenSteps.size()) == kElevenSteps);

  // What passed at these calls: to the model, three times;
  const auto prompts = clinic.prompts();
  REQUIRE(prompts.size() == 3);
  CHECK_THAT(prompts[0], has_text("Chỉ trả lời một từ: CÓ hoặc KHÔNG."));
  CHECK_THAT(prompts[0], has_text(kQuestion));
  CHECK_THAT(prompts[1], has_text("Bạn là một chuyên gia tư vấn nha khoa."));
  CHECK_THAT(prompts[1], has_text("Title: Chải răng\nContent: Hai lần mỗi ngày\nLink: https://example.org/chai"));
  CHECK_THAT(prompts[1], has_text("Câu hỏi hiện tại của bệnh nhân:\n" + kQuestion));
  CHECK(prompts[1].find("Tóm tắt các câu trả lời trước") == std::string::npos);  // there are none
  CHECK_THAT(prompts[2], has_text("Nha sĩ: " + kAnswer));
  // to the search engine;
  REQUIRE(clinic.web.heads().size() == 1);
  CHECK_THAT(clinic.web.heads()[0], has_text("GET /html/?q=M%E1%BB%99t%20ng%C3%A0y"));
  // and to memory.
  const Json messages = clinic.memory("get_all_messages", "chat_123456")["messages"];
  REQUIRE(messages.size() == 2);
  CHECK(messages[0]["role"] == "user");
  CHECK(messages[0]["content"] == question);
  CHECK(messages[1]["role"] == "assistant");
  CHECK(messages[1]["content"] == kAnswer);
  CHECK(clinic.memory("get_summary", "chat_123456")["summary"] == "Đánh răng hai lần mỗi ngày.");
}

TEST_CASE("the next question is answered with what was said and summarised before, whatever else the client sends") {
  Clinic clinic;
  clinic.ask(asked(kQuestion, {"CÓ", kAnswer, "Tóm tắt một."}), "c");
  const std::string next = asked("Còn kem đánh răng thì sao?", {"CÓ", "Dùng kem có flo.", "Tóm tắt hai."});
  clinic.ask(next, "c",
             {{"messages", Json::array({{{"role", "system"}, {"content", "Nói ngắn gọn."}},
                                        {{"role", "user"}, {"content", "not what memory has"}},
                                        {{"role", "assistant"}, {"content", "neither this"}},
                                        {{"role", "user"}, {"content", next}}})}});
  const auto prompts = clinic.prompts();
  REQUIRE(prompts.size() == 6);
  const std::string& prompt = prompts[4];
  CHECK_THAT(prompt, has_text("Tóm tắt các câu trả lời trước:\nTóm tắt một."));
  CHECK_THAT(prompt, has_text("Bệnh nhân: " + kQuestion));
  CHECK_THAT(prompt, has_text("Nha sĩ: " + kAnswer));
  CHECK_THAT(prompt, has_text("Nói ngắn gọn."));
  CHECK(prompt.find("not what memory has") == std::string::npos);
  CHECK(clinic.memory("get_summary", "c")["summary"] == "Tóm tắt một.\n\nTóm tắt hai.");
  CHECK(clinic.memory("get_all_messages", "c")["messages"].size() == 4);
}

TEST_CASE("chat.guardrail_model is asked for all but answers, and the answering model for nothing else") {
  Json models = Json::parse(settings_of_model(shipped_model("fast")));
  models["judge"] = models["qwen3-small"];
  const TemporaryDirectory folder;
  const Json prompts{{"guardrail", "{question}\nMay I?"},
                     {"refusal", "No."},
                     {"answer", "{question}"},
                     {"summary", "{history}"},
                     {"shorter_summary", "{history}"}};
  write_file(folder / "clerk.json", Json{{"model", "qwen3-small"},
                                         {"guardrail", Json::object()},
                                         {"default_language", "vi"},
                                         {"summary", "each_response"},
                                         {"prompts", {{"vi", prompts}}}}
                                        .dump());
  Clinic clinic(web_answer(kPage),
                {"models=" + models.dump(), "chat.guardrail_model=judge", "chat.profiles_dir=" + folder.path()});
  // Each model says the first text when it is asked for the first time.
  const Json reply = clinic.ask(asked(kQuestion, {"CÓ", "Tóm tắt.", "never said"}), "c", {{"model", "clerk"}});
  CHECK(reply["choices"][0]["message"]["content"] == "CÓ");
  CHECK(clinic.memory("get_summary", "c")["summary"] == "Tóm tắt.");
  CHECK(clinic.http.get("/api/ps").json()["models"].size() == 2);
  CHECK_THAT(read_file(clinic.logs / "log.json"), !has_text("chat.guardrail_model"));
}

TEST_CASE("a chat.guardrail_model may be a file that is found when the server has begun") {
  const TemporaryDirectory folder;
  write_file(folder / "judge.rkllm", "x");
  Clinic clinic(web_answer(kPage), {"runtime.model_dirs=[\"" + folder.path() + "\"]", "chat.guardrail_model=judge"});
  CHECK_THAT(clinic.http.get("/v1/models").body, has_text("\"judge\""));  // the folder has been read
  CHECK_THAT(read_file(clinic.logs / "log.json"), !has_text("chat.guardrail_model"));
}

TEST_CASE("a chat.guardrail_model that there is not is named in the log before anybody asks") {
  Clinic clinic(web_answer(kPage), {"chat.guardrail_model=jugde"});
  clinic.http.get("/v1/models");  // the folders have been read
  CHECK_THAT(read_file(clinic.logs / "log.json"),
             has_text(R"(chat.guardrail_model: there is no model \"jugde\" so far)"));
}

TEST_CASE("without a conversation the client's history is told, and nothing is kept") {
  Clinic clinic;
  const std::string question = asked("And how long?", {"YES", "Two minutes."});
  const Json reply = clinic.ask(question, "",
                                {{"user", "somebody"},
                                 {"messages", Json::array({{{"role", "user"}, {"content", "How often should I brush?"}},
                                                           {{"role", "assistant"}, {"content", "Twice a day."}},
                                                           {{"role", "user"}, {"content", question}}})}});
  CHECK(reply["choices"][0]["message"]["content"] == "Two minutes.");
  CHECK(reply["system_fingerprint"].is_null());
  CHECK(clinic.calls(4) == std::vector<std::string>{"model: guardrail", "tool-server: tools/list",
                                                    "tool-server: tools/call duckduckgo_search", "model: answer"});
  CHECK_THAT(clinic.prompts().at(1), has_text("Patient: How often should I brush?\nDentist: Twice a day."));
}

TEST_CASE("what is not about teeth is refused in the user's language, and makes no conversation") {
  Clinic clinic;
  const Json refused = clinic.ask(asked("Thời tiết hôm nay thế nào?", {"KHÔNG", "never said"}), "new");
  CHECK_THAT(refused["choices"][0]["message"]["content"].get<std::string>(), has_text("Xin lỗi, tôi chỉ trả lời"));
  CHECK(refused["choices"][0]["finish_reason"] == "stop");
  CHECK(refused["system_fingerprint"].is_null());
  CHECK(clinic.memory("get_all_messages", "new")["messages"].empty());

  clinic.ask(asked(kQuestion, {"CÓ", kAnswer, "Tóm tắt."}), "old");
  const Json again = clinic.ask(asked("How is the weather?", {"NO.", "never said"}), "old");
  CHECK_THAT(again["choices"][0]["message"]["content"].get<std::string>(), has_text("I am sorry, I only answer"));
  CHECK(again["system_fingerprint"] == "old");
  CHECK(clinic.memory("get_all_messages", "old")["messages"].size() == 2);
  // What nobody understands is refused, too: the profile's guardrail fails closed.
  const Json unclear = clinic.ask(asked("Is it?", {"Perhaps, who knows", "never said"}), "");
  CHECK_THAT(unclear["choices"][0]["message"]["content"].get<std::string>(), has_text("I am sorry"));
}

TEST_CASE("a search that fails is told to the model and to the client, and the answer goes on") {
  Clinic clinic(web_answer("down", "text/plain", "", "503 Service Unavailable"));
  const Json reply = clinic.ask(asked(kQuestion, {"CÓ", kAnswer, "Tóm tắt."}), "c");
  CHECK(reply["choices"][0]["message"]["content"] == kAnswer);
  CHECK(clinic.last.headers.at("x-rkllm-search") == "failed");
  CHECK_THAT(clinic.prompts().at(1), has_text("no search results: "));
  CHECK(clinic.calls(6).at(5) == "tool-server: tools/call duckduckgo_search failed");
  // A stream's headers may be too early for it, and MCP has none.
  const auto question = [](const char* answer) { return asked(kQuestion, {"CÓ", answer}); };
  const Json body{{"model", kAssistant},
                  {"stream", true},
                  {"max_tokens", 200},
                  {"messages", {{{"role", "user"}, {"content", question("Hai.")}}}}};
  Json end;
  clinic.http.post_for_events("/v1/messages", body.dump(), [&](std::string_view data) {
    if (Json event = Json::parse(data); event["type"] == "message_delta") end = std::move(event);
    return true;
  });
  CHECK(end["rkllm"] == Json{{"search", "failed"}});
  RpcClient mcp(clinic.server.connect(Transport::kTcp));
  mcp.initialize("2025-06-18");
  const Json told = mcp.result(
      "tools/call", {{"name", "chat"}, {"arguments", {{"model", kAssistant}, {"message", question("Ba.")}}}});
  CHECK(told["structuredContent"]["search"] == "failed");
  CHECK_THAT(told["content"].dump(), has_text("The search for this answer failed"));
}

TEST_CASE("an assistant streams, with its conversation in every chunk, which a header may name as well") {
  Clinic clinic;
  clinic.http.carry_header("X-OpenWebUI-Chat-Id", "from-header");
  const Json body{
      {"model", kAssistant},
      {"stream", true},
      {"messages", Json::array({{{"role", "user"}, {"content", asked(kQuestion, {"CÓ", kAnswer, "T."})}}})}};
  std::string text;
  bool done = false;
  clinic.http.post_for_events("/v1/chat/completions", body.dump(), [&](std::string_view data) {
    if (data == "[DONE]") return done = true;
    const Json chunk = Json::parse(data);
    CHECK(chunk["system_fingerprint"] == "from-header");
    if (!chunk["choices"].empty()) text += chunk["choices"][0]["delta"].value("content", "");
    return true;
  });
  CHECK(done);
  CHECK(text == kAnswer);
  CHECK(clinic.memory("get_all_messages", "from-header")["messages"].size() == 2);
}

TEST_CASE("every dialect and list has the assistants by name, and what only a model has is refused") {
  Clinic clinic;
  const Json models = clinic.http.get("/v1/models").json()["data"];
  REQUIRE(models.size() == 3);
  CHECK(models[1]["id"] == kAssistant);
  CHECK(models[1]["rkllm"]["profile"] == true);
  const std::string question = asked(kQuestion, {"CÓ", kAnswer});
  const Json said = Json::array({{{"role", "user"}, {"content", question}}});
  const auto ollama =
      clinic.http.post("/api/chat", Json{{"model", kAssistant}, {"messages", said}, {"stream", false}}.dump()).json();
  CHECK(ollama["message"]["content"] == kAnswer);
  const auto anthropic =
      clinic.http
          .post("/v1/messages",
                Json{{"model", kAssistant},
                     {"messages",
                      Json::array({{{"role", "user"}, {"content", asked("Đau răng?", {"CÓ", kAnswer, "T."})}}})},
                     {"max_tokens", 300}}
                    .dump())
          .json();
  CHECK(anthropic["content"][0]["text"] == kAnswer);
  CHECK(clinic.http.post("/v1/embeddings", Json{{"model", kAssistant}, {"input", "x"}}.dump()).status == 400);
  CHECK(clinic.http.post("/api/chat", Json{{"model", kAssistant}, {"messages", Json::array()}}.dump()).status == 200);
  const Json book = Json::array({{{"role", "user"}, {"content", std::string((1U << 20U) + 1, 'x')}}});
  const auto too_long =
      clinic.http.post("/v1/chat/completions", Json{{"model", kAssistant}, {"messages", book}}.dump());
  CHECK(too_long.status == 400);
  CHECK(too_long.json()["error"]["code"] == "context_length_exceeded");
}

TEST_CASE("profiles are read again at SIGHUP, and a wrong one is left out") {
  const TemporaryDirectory folder;
  write_file(folder / "helper.json", R"({"prompts":{"en":{"answer":"{question}"}}})");
  write_file(folder / "wrong.json", "{}");
  LiveServer server({.set = {"chat.profiles_dir=" + folder.path()}});
  HttpClient http(server.endpoint(Transport::kHttp));
  CHECK(http.get("/v1/models/helper").status == 200);
  CHECK(http.get("/v1/models/wrong").status == 404);
  write_file(folder / "wrong.json", R"({"prompts":{"vi":{"answer":"{question}"}}})");
  server.process().signal(SIGHUP);
  REQUIRE(eventually([&] { return http.get("/v1/models/wrong").status == 200; }));
}

TEST_CASE("an assistant's model may be on another board, by Ollama's and by OpenAI's interface") {
  Clinic other;
  for (const char* const provider : {"ollama", "openai"}) {
    INFO(provider);
    const TemporaryDirectory folder;
    const std::string address = other.server.endpoint(Transport::kHttp).url();
    const std::string root = address.substr(0, address.find('/', sizeof "http://"));
    const Json wording{{"guardrail", "{question}"}, {"answer", "Prompt.\n{question}"}, {"refusal", "No."}};
    const Json profile{{"provider", provider},
                       {"url", provider == std::string("ollama") ? root : root + "/v1"},
                       {"model", "qwen3-small"},
                       {"guardrail", Json::object()},
                       {"prompts", {{"en", wording}}}};
    write_file(folder / "far.json", profile.dump());
    LiveServer server({.set = {"chat.profiles_dir=" + folder.path()}});
    HttpClient http(server.endpoint(Transport::kHttp));
    const auto ask = [&](const std::string& text) {
      return http.post(
          "/v1/chat/completions",
          Json{{"model", "far"}, {"messages", Json::array({{{"role", "user"}, {"content", text}}})}}.dump());
    };
    const std::string question = std::string("From ") + provider + "?";
    const auto answer = ask(asked(question, {"YES", "From far away."}));
    INFO(answer.body);
    REQUIRE(answer.status == 200);
    CHECK(answer.json()["choices"][0]["message"]["content"] == "From far away.");
    CHECK(answer.json()["usage"]["completion_tokens"] > 1);
    const auto wishing = http.post(
        "/v1/chat/completions", Json{{"model", "far"},
                                     {"top_k", 3},
                                     {"tool_choice", "none"},
                                     {"messages", {{{"role", "user"}, {"content", asked(question, {"YES", "So."})}}}}}
                                    .dump());
    const bool is_ollama = provider == std::string("ollama");
    CHECK(wishing.headers.at("x-rkllm-ignored") == (is_ollama ? "tool_choice" : "tool_choice, sampling"));
    CHECK_THAT(other.prompts().back(), has_text("Prompt.\n" + question));
    CHECK(ask(asked(question + " Again?", {"NO", "never said"})).json()["choices"][0]["message"]["content"] == "No.");
  }
}

TEST_CASE("a model calls the tools that its profile allows, of this server and of others, for so many rounds") {
  LiveServer other;
  const TemporaryDirectory folder;
  write_file(folder / "clerk.json",
             Json{{"tools", {{"allow", {"calculate", "board_c*"}}, {"rounds", 2}, {"max_bytes", 100}}},
                  {"prompts", {{"en", {{"answer", "{question}"}}}}}}
                 .dump());
  const Json upstreams{{"board", {{"url", other.endpoint(Transport::kHttp, "/mcp").url()}, {"permission", "call"}}}};
  Clinic clinic(web_answer(kPage), {"chat.profiles_dir=" + folder.path(), "upstreams=" + upstreams.dump()});
  REQUIRE(eventually([&] { return clinic.server.health()["upstreams"]["board"]["connected"] == true; }));
  const std::string question = asked("How many?", {calling("calculate", {{"expression", "2^10"}}),
                                                   calling("board_calculate", {{"expression", "7*6"}}), "42 of 1024."});
  const Json reply = clinic.ask(question, "", {{"model", "clerk"}});
  CHECK(reply["choices"][0]["message"]["content"] == "42 of 1024.");
  CHECK(reply["choices"][0]["finish_reason"] == "stop");
  CHECK(reply["usage"]["completion_tokens"] > 60);  // of all three texts, not only of the last
  CHECK_FALSE(reply["choices"][0]["message"].contains("tool_calls"));
  CHECK(clinic.calls(8) == std::vector<std::string>{"upstreams: tools/list", "tool-server: tools/list",
                                                    "memory-server: tools/list", "model: answer",
                                                    "tool-server: tools/call calculate", "model: answer",
                                                    "upstreams: tools/call board_calculate", "model: answer"});
  const auto prompts = clinic.prompts();
  REQUIRE(prompts.size() == 3);
  CHECK_THAT(prompts[0], has_text("board_calculate"));
  CHECK(prompts[0].find("fetch_page") == std::string::npos);
  CHECK_THAT(prompts[1], has_text("1024"));
  CHECK_THAT(prompts[2], has_text("42"));
  // What is not allowed is not called, whatever the model wants.
  const std::string wrong = asked("And?", {calling("fetch_page", {{"url", "http://127.0.0.1"}}), "No page."});
  CHECK(clinic.ask(wrong, "", {{"model", "clerk"}})["choices"][0]["message"]["content"] == "No page.");
  CHECK_THAT(clinic.prompts().back(), has_text("error: no such tool is offered"));
}

TEST_CASE("a tool that is being called goes on while profiles and tools are renewed") {
  LiveServer other;
  RpcClient board(other.connect(Transport::kTcp));
  board.init(shipped_model("rk3588-1.5b"));
  const TemporaryDirectory folder;
  write_file(
      folder / "clerk.json",
      Json{{"tools", {{"allow", {"board_rkllm_run"}}}}, {"prompts", {{"en", {{"answer", "{question}"}}}}}}.dump());
  const Json upstreams{{"board", {{"url", other.endpoint(Transport::kHttp, "/mcp").url()}, {"permission", "call"}}}};
  Clinic clinic(web_answer(kPage), {"chat.profiles_dir=" + folder.path(), "upstreams=" + upstreams.dump()});
  REQUIRE(eventually([&] { return clinic.server.health()["upstreams"]["board"]["connected"] == true; }));
  const Json run{{"handle", "llm-1"}, {"rkllm_input", {{"prompt_input", "@n=30 Hello"}}}};
  const std::string question = asked("What does it say?", {calling("board_rkllm_run", run), "It greets."});
  auto reply = std::async(std::launch::async, [&] { return clinic.ask(question, "", {{"model", "clerk"}}); });
  REQUIRE(eventually([&] { return board.result("rkllm_is_running", {{"handle", "llm-1"}})["running"] == true; }));
  write_file(folder / "another.json", R"({"prompts":{"en":{"answer":"{question}"}}})");
  clinic.server.process().signal(SIGHUP);
  CHECK(reply.get()["choices"][0]["message"]["content"] == "It greets.");
}

TEST_CASE("the MCP tool chat leaves the conversations of a profile to the profile") {
  Clinic clinic;
  RpcClient client(clinic.server.connect(Transport::kTcp));
  client.initialize("2025-06-18");
  const Json result =
      client.result("tools/call", {{"name", "chat"},
                                   {"arguments",
                                    {{"model", kAssistant},
                                     {"conversation", "desk"},
                                     {"message", asked(kQuestion, {"CÓ", kAnswer, "Đánh răng hai lần mỗi ngày."})}}}});
  INFO(result.dump());
  REQUIRE_FALSE(result.value("isError", false));
  CHECK(result["structuredContent"]["text"] == kAnswer);
  CHECK(result["structuredContent"]["conversation"] == "desk");
  CHECK(clinic.calls(kElevenSteps.size()) == kElevenSteps);
  CHECK(clinic.memory("get_all_messages", "desk")["messages"].size() == 2);
  CHECK(clinic.memory("get_summary", "desk")["summary"] == "Đánh răng hai lần mỗi ngày.");
}

TEST_CASE("a client that goes leaves what it has got in the conversation, as partial") {
  LiveServer probe;  // for a model that takes its time
  Clinic slow(web_answer(kPage),
              {"models=" + settings_of_model(probe.write_model(
                               "slow", {{"npu_cores", 1}, {"decode_tokens_per_s", 20}, {"max_context_len", 16384}}))});
  const std::string question =
      asked("Đau răng thì sao?", {"CÓ", "Một hai ba bốn năm sáu bảy tám chín mười, " + std::string(400, 'x')});
  const Json body{{"model", kAssistant},
                  {"stream", true},
                  {"chat_id", "left"},
                  {"messages", Json::array({{{"role", "user"}, {"content", question}}})}};
  std::size_t pieces = 0;
  slow.http.post_for_events("/v1/chat/completions", body.dump(), [&](std::string_view data) {
    const Json chunk = Json::parse(data);
    if (!chunk["choices"][0]["delta"].value("content", "").empty()) ++pieces;
    return pieces < 3;
  });
  HttpClient http(slow.server.endpoint(Transport::kHttp));
  const Json request{{"jsonrpc", "2.0"},
                     {"id", 1},
                     {"method", "memory-server/memory/get_all_messages"},
                     {"params", {{"conversation_id", "left"}}}};
  Json messages;
  REQUIRE(eventually([&] {
    messages = http.post("/jsonrpc", request.dump()).json().at("result").at("messages");
    return messages.size() >= 2;
  }));
  CHECK(messages[1]["metadata"] == Json{{"partial", true}});
  CHECK_THAT(messages[1]["content"].get<std::string>(), has_text("Một"));
  CHECK(messages[1]["content"].get<std::string>().size() < 400);
}

TEST_CASE("an answer that another call has cut is an error, and is not kept as if it were whole") {
  LiveServer probe;  // for a model that takes its time
  Clinic slow(web_answer(kPage),
              {"models=" + settings_of_model(probe.write_model(
                               "slow", {{"npu_cores", 1}, {"decode_tokens_per_s", 20}, {"max_context_len", 16384}}))});
  const Json body{
      {"model", kAssistant},
      {"stream", true},
      {"chat_id", "cut"},
      {"messages", {{{"role", "user"}, {"content", asked("Đau răng thì sao?", {"CÓ", std::string(4000, 'x')})}}}}};
  RpcClient other(slow.server.connect(Transport::kTcp));
  bool is_aborted = false;
  Json last;
  slow.http.post_for_events("/v1/chat/completions", body.dump(), [&](std::string_view data) {
    last = Json::parse(data);
    if (is_aborted || last["choices"][0]["delta"].value("content", "").empty()) return true;
    is_aborted = true;
    other.result("rkllm_abort", {{"handle", "qwen3-small"}});
    return true;
  });
  INFO(last.dump());
  CHECK_THAT(last["error"].value("message", ""), has_text("aborted by another call"));
  CHECK(slow.memory("get_all_messages", "cut")["messages"].empty());
}

TEST_CASE("what has come of an answer when the server ends is kept, as partial") {
  LiveServer probe;  // for a model that takes its time
  const TemporaryDirectory kept;
  const std::string database = "memory.database=" + (kept / "memory.db");
  for (const bool with_profile : {true, false}) {
    CAPTURE(with_profile);
    const std::string chat = with_profile ? "profile" : "model";
    {
      Clinic slow(
          web_answer(kPage),
          {database,
           "models=" + settings_of_model(probe.write_model(
                           "slow", {{"npu_cores", 1}, {"decode_tokens_per_s", 20}, {"max_context_len", 16384}}))});
      const std::string answer = "Một hai ba bốn năm sáu bảy tám chín mười, " + std::string(4000, 'x');
      const Json texts = with_profile ? Json{"CÓ", answer} : Json{answer};
      RpcClient client(slow.server.connect(Transport::kTcp));
      client.initialize("2025-06-18");
      client.send("tools/call", {{"name", "chat"},
                                 {"arguments",
                                  {{"model", with_profile ? kAssistant : "qwen3-small"},
                                   {"conversation", chat},
                                   {"message", asked("Đau răng thì sao?", texts)}}},
                                 {"_meta", {{"progressToken", 1}}}});
      Json message;
      do {
        message = client.receive_or_throw();
        INFO(message.dump());
        REQUIRE(message.value("method", "") == "notifications/progress");
      } while (message["params"].value("message", "").empty());
      slow.server.process().signal(SIGTERM);
      CHECK(slow.server.process().wait() == 0);
    }
    Clinic again(web_answer(kPage), {database});
    const Json messages = again.memory("get_all_messages", chat)["messages"];
    INFO(messages.dump());
    REQUIRE(messages.size() == 2);
    CHECK(messages[1]["metadata"] == Json{{"partial", true}});
    CHECK_THAT(messages[1]["content"].get<std::string>(), has_text("M"));
  }
}

TEST_CASE("a long summary is summarised itself, and old messages are when there are enough of them") {
  const TemporaryDirectory folder;
  const auto describe = [&](const std::string& name, const std::string& use) {
    const Json wording{{"answer", "{question}\nAnswer:"},
                       {"summary", "Sum up.\n\n{history}"},
                       {"shorter_summary", "Shorten.\n{summary}\n@say=\"Short.\""}};
    write_file(folder / (name + ".json"), Json{{"summary", use}, {"prompts", {{"en", wording}}}}.dump());
  };
  describe("each", "each_response");
  describe("old", "threshold");
  Clinic clinic(web_answer(kPage), {"chat.profiles_dir=" + folder.path(), "memory.summary_max_bytes=256",
                                    "memory.keep_recent_messages=2", "memory.summarize_threshold=4"});
  const std::string summary(150, 's');
  clinic.ask(asked("Why?", {"Because it is so.", summary}), "e", {{"model", "each"}});
  CHECK(clinic.memory("get_summary", "e")["summary"] == summary);
  clinic.ask(asked("Why then?", {"Because it is so.", summary}), "e", {{"model", "each"}});
  CHECK(clinic.memory("get_summary", "e")["summary"] == "Short.");
  for (int i = 0; i < 2; ++i) {
    clinic.ask(asked("Why?", {"Because it is so.", "not asked for"}), "o", {{"model", "old"}});
    CHECK(clinic.memory("get_summary", "o")["summary"] == "");
  }
  clinic.ask(asked("Why again?", {"Because it is so."}), "o", {{"model", "old"}});
  CHECK(clinic.memory("get_summary", "o")["summary"] != "");
  CHECK(clinic.memory("get_old_messages", "o")["messages"].empty());
  CHECK(clinic.memory("get_all_messages", "o")["messages"].size() == 6);
}

TEST_CASE("a question that no guardrail could judge is answered only if the profile fails open, and is no refusal") {
  const TemporaryDirectory folder;
  const Json prompts{{"guardrail", "{question}"}, {"refusal", "Refused."}, {"answer", "{question}"}};
  for (const char* const fail : {"open", "closed"}) {
    write_file(folder / (std::string(fail) + ".json"), Json{{"model", "qwen3-small"},
                                                            {"guardrail", {{"model", "nowhere"}, {"fail", fail}}},
                                                            {"prompts", {{"en", prompts}}}}
                                                           .dump());
  }
  write_file(folder / "far.json", Json{{"provider", "ollama"},
                                       {"url", "http://127.0.0.1:1"},
                                       {"model", "big"},
                                       {"guardrail", Json::object()},
                                       {"prompts", {{"en", prompts}}}}
                                      .dump());
  Clinic clinic(web_answer(kPage), {"chat.profiles_dir=" + folder.path()});
  const auto ask = [&clinic](const std::string& model) {
    const Json body{{"model", model},
                    {"chat_id", model},
                    {"messages", {{{"role", "user"}, {"content", asked("How often?", {"Twice a day."})}}}}};
    return clinic.http.post("/v1/chat/completions", body.dump());
  };
  const auto passed = ask("open");
  INFO(passed.body);
  CHECK(passed.status == 200);
  CHECK(passed.json()["choices"][0]["message"]["content"] == "Twice a day.");
  const auto closed = ask("closed");
  CHECK(closed.status == 404);
  CHECK_THAT(closed.body, has_text("nowhere") && !has_text("Refused."));
  CHECK(clinic.memory("get_all_messages", "closed")["messages"].empty());
  const auto far = ask("far");
  CHECK(far.status == 502);
  CHECK_THAT(far.body, has_text("the provider ollama at 127.0.0.1:1") && !has_text("Refused."));
}

TEST_CASE("an upstream provider that fails is 502, which says who and why") {
  WebServer web(web_answer(R"({"error":"model \"big\" not found"})", "application/json", "", "404 Not Found"));
  const TemporaryDirectory folder;
  const auto describe = [&](const std::string& name, const std::string& url) {
    write_file(
        folder / (name + ".json"),
        Json{{"provider", "ollama"}, {"url", url}, {"model", "big"}, {"prompts", {{"en", {{"answer", "{question}"}}}}}}
            .dump());
  };
  describe("lacks", web.url());
  describe("gone", "http://127.0.0.1:1");
  LiveServer server({.set = {"chat.profiles_dir=" + folder.path()}});
  HttpClient http(server.endpoint(Transport::kHttp));
  const auto ask = [&](const std::string& model) {
    return http.post("/v1/chat/completions",
                     Json{{"model", model}, {"messages", Json::array({{{"role", "user"}, {"content", "x"}}})}}.dump());
  };
  const auto lacks = ask("lacks");
  CHECK(lacks.status == 502);
  CHECK(lacks.json()["error"]["message"] ==
        "the provider ollama at 127.0.0.1:" + std::to_string(web.port()) + ": status 404: model \"big\" not found");
  const auto gone = ask("gone");
  CHECK(gone.status == 502);
  CHECK_THAT(gone.body, has_text("the provider ollama at 127.0.0.1:1: no connection could be made"));
}

TEST_CASE("the profiles' prompts are prompts of the protocol, in both languages") {
  Clinic clinic;
  const auto soon = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  client::McpClient client(client::connect_mcp(clinic.server.endpoint(Transport::kHttp, "/mcp"), soon),
                           {.era = client::EraChoice::kModern, .client_info = {{"name", "test"}, {"version", "1"}}});
  const auto mcp = [&](const std::string& method, const Json& params) {
    return client.call(method, params, std::chrono::seconds(60));
  };
  const auto listed = client.list(client::McpClient::List::kPrompts, 1000, std::chrono::seconds(60));
  std::vector<std::string> names;
  for (const Json& prompt : listed) {
    if (prompt["name"].get<std::string>().starts_with("dental-google_")) names.push_back(prompt["name"]);
  }
  CHECK(names == std::vector<std::string>{"dental-google_guardrail", "dental-google_answer", "dental-google_refusal",
                                          "dental-google_summary", "dental-google_shorter"});
  const Json guardrail =
      mcp("prompts/get", {{"name", "dental-google_guardrail"}, {"arguments", {{"question", kQuestion}}}});
  CHECK_THAT(guardrail["messages"][0]["content"]["text"].get<std::string>(), has_text("Câu hỏi:\n" + kQuestion));
  const Json refusal = mcp("prompts/get", {{"name", "dental-google_refusal"}, {"arguments", {{"language", "en"}}}});
  CHECK_THAT(refusal["messages"][0]["content"]["text"].get<std::string>(), has_text("I am sorry"));
  CHECK(refusal["messages"][0]["role"] == "assistant");
}

}  // namespace rkllm_mcp::test
