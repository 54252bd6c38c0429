// What is asked of a turn's values; host/turn_test.cpp makes turns.
#include "chat/turn/turn.hpp"

#include "support/catch.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

ChatMessage message_with(Role role, std::vector<Part> parts) {
  ChatMessage message;
  message.role = role;
  message.parts = std::move(parts);
  return message;
}

Turn turn_of(std::vector<ChatMessage> messages) {
  Turn turn;
  turn.messages = std::move(messages);
  return turn;
}

// Open WebUI's prompt for a title, as far as it is looked at.
const std::string kTitlePrompt =
    "### Task:\nGenerate a title.\n### Chat History:\n<chat_history>\nUSER: Hi\n</chat_history>";

}  // namespace

TEST_CASE("the text of a message is that of its parts in lines of their own, without pictures") {
  CHECK(text_of(text_message(Role::kUser, "Hi")) == "Hi");
  CHECK(text_message(Role::kTool, "Hi").role == Role::kTool);
  const auto message = message_with(
      Role::kUser, {TextPart{"Look:"}, ImagePart{"image/png", "AAAA"}, TextPart{"What is it?"}, TextPart{"\n"}});
  CHECK(text_of(message) == "Look:\nWhat is it?\n\n");
  CHECK(text_of(message_with(Role::kUser, {ImagePart{}})).empty());
  CHECK(text_of(ChatMessage{}).empty());
}

TEST_CASE("a message has an image if one of its parts is one") {
  CHECK_FALSE(has_image(ChatMessage{}));
  CHECK_FALSE(has_image(text_message(Role::kUser, "image")));
  CHECK(has_image(message_with(Role::kUser, {TextPart{"Look:"}, ImagePart{}})));
}

TEST_CASE("the messages of one role are one text, with an empty line between two") {
  const Turn turn = turn_of({text_message(Role::kSystem, "Be brief."), text_message(Role::kUser, "Hi"),
                             text_message(Role::kAssistant, "Hello"), text_message(Role::kSystem, "Be kind."),
                             message_with(Role::kUser, {TextPart{"And"}, ImagePart{}, TextPart{"you?"}})});
  CHECK(text_of_role(turn, Role::kSystem) == "Be brief.\n\nBe kind.");
  CHECK(text_of_role(turn, Role::kUser) == "Hi\n\nAnd\nyou?");
  CHECK(text_of_role(turn, Role::kTool).empty());
}

TEST_CASE("names of what a chat client asks for its own use are known") {
  for (const char* const name :
       {"title_generation", "tags_generation", "follow_up_generation", "_generation", "function_calling"}) {
    INFO(name);
    CHECK(is_name_of_task(name));
  }
  for (const char* const name : {"", "title", "generation", "title_generation ", "function_calling_x"}) {
    INFO(name);
    CHECK_FALSE(is_name_of_task(name));
  }
}

TEST_CASE("a prompt for a client's own use is told by its heading and the chat that it tells") {
  CHECK(is_prompt_of_task(turn_of({text_message(Role::kUser, kTitlePrompt)})));
  CHECK(is_prompt_of_task(turn_of({text_message(Role::kSystem, "s"), text_message(Role::kUser, kTitlePrompt)})));
  for (const std::string text : {"### Task:\nAnswer by <context></context>",
                                 "<chat_history></chat_history> ### Task:", "### Task:\n</chat_history><chat_history>",
                                 "### Task:\n<chat_history>", " ### Task:\n<chat_history></chat_history>", ""}) {
    INFO(text);
    CHECK_FALSE(is_prompt_of_task(turn_of({text_message(Role::kUser, text)})));
  }
}

TEST_CASE("a conversation is no prompt for a client's own use, whatever is said in it") {
  const auto title = text_message(Role::kUser, kTitlePrompt);
  CHECK_FALSE(is_prompt_of_task(turn_of({title, text_message(Role::kAssistant, "A title")})));
  CHECK_FALSE(is_prompt_of_task(turn_of({title, title})));
  CHECK_FALSE(is_prompt_of_task(turn_of({text_message(Role::kSystem, kTitlePrompt)})));
  CHECK_FALSE(is_prompt_of_task(turn_of({})));
}

TEST_CASE("each wish about sampling takes the place of the preset's value, and of no other") {
  const Sampling preset{.top_k = 1,
                        .top_p = 2,
                        .temperature = 3,
                        .repeat_penalty = 4,
                        .frequency_penalty = 5,
                        .presence_penalty = 6,
                        .mirostat = 7,
                        .mirostat_tau = 8,
                        .mirostat_eta = 9};
  CHECK(with_wishes(preset, {}) == preset);
  // Zero is a wish as well.
  const auto changed = [&preset](const auto& change) {
    Sampling expected = preset;
    change(expected);
    return expected;
  };
  CHECK(with_wishes(preset, {.top_k = 0}) == changed([](Sampling& it) { it.top_k = 0; }));
  CHECK(with_wishes(preset, {.top_p = 0.0}) == changed([](Sampling& it) { it.top_p = 0; }));
  CHECK(with_wishes(preset, {.temperature = 0.0}) == changed([](Sampling& it) { it.temperature = 0; }));
  CHECK(with_wishes(preset, {.repeat_penalty = 0.0}) == changed([](Sampling& it) { it.repeat_penalty = 0; }));
  CHECK(with_wishes(preset, {.frequency_penalty = 0.0}) == changed([](Sampling& it) { it.frequency_penalty = 0; }));
  CHECK(with_wishes(preset, {.presence_penalty = 0.0}) == changed([](Sampling& it) { it.presence_penalty = 0; }));
  CHECK(with_wishes(preset, {.mirostat = 0}) == changed([](Sampling& it) { it.mirostat = 0; }));
  CHECK(with_wishes(preset, {.mirostat_tau = 0.0}) == changed([](Sampling& it) { it.mirostat_tau = 0; }));
  CHECK(with_wishes(preset, {.mirostat_eta = 0.0}) == changed([](Sampling& it) { it.mirostat_eta = 0; }));
}

TEST_CASE("a model is unloaded at once where it is kept for less than a second, and never where for ever") {
  CHECK(KeepAlive{}.unloads());
  CHECK(KeepAlive{.seconds = 0.9}.unloads());
  CHECK_FALSE(KeepAlive{.seconds = 1}.unloads());
  CHECK_FALSE(KeepAlive{.forever = true, .seconds = 0}.unloads());
}

TEST_CASE("a choice of tools that names or requires one must be answered with a call") {
  CHECK_FALSE(ToolChoice{}.must_call());
  CHECK_FALSE(ToolChoice{.use = ToolUse::kNone}.must_call());
  CHECK(ToolChoice{.use = ToolUse::kRequired}.must_call());
  CHECK(ToolChoice{.use = ToolUse::kNamed, .name = "add"}.must_call());
}
