#include "chat/turn/context.hpp"

#include "chat/turn/turn_error.hpp"

#include "support/catch.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

ContextPlan run_of(std::int64_t tokens) { return RunWithLimit{tokens}; }

std::vector<Role> roles_of(const std::vector<ChatMessage>& messages) {
  std::vector<Role> roles;
  for (const ChatMessage& message : messages) roles.push_back(message.role);
  return roles;
}

}  // namespace

TEST_CASE("a context is rounded up to 32 tokens, as the runtime does") {
  CHECK(context_tokens(0) == 0);
  CHECK(context_tokens(1) == 32);
  CHECK(context_tokens(32) == 32);
  CHECK(context_tokens(33) == 64);
  CHECK(context_tokens(4096) == 4096);
  CHECK(context_tokens(-1) == 0);
}

TEST_CASE("a prompt whose bytes fit beside its answer is run at once") {
  CHECK(plan_run(64, {.bytes = 31}, 32) == run_of(32));
  CHECK(plan_run(64, {.bytes = 32}, 32) == ContextPlan(CountFirst{}));
  CHECK(plan_run(64, {.bytes = 31}, std::nullopt) == ContextPlan(CountFirst{}));
  CHECK(plan_run(64, {.bytes = 1000}, std::numeric_limits<std::int64_t>::max()) == ContextPlan(CountFirst{}));
}

TEST_CASE("a counted prompt leaves the rest of the context to its answer") {
  CHECK(plan_run(64, {.bytes = 999, .tokens = 10}, std::nullopt) == run_of(54));
  CHECK(plan_run(64, {.bytes = 999, .tokens = 10}, 20) == run_of(20));
  CHECK(plan_run(64, {.bytes = 999, .tokens = 10}, 500) == run_of(54));
  CHECK(plan_run(64, {.bytes = 999, .tokens = 63}, 20) == run_of(1));
  // The runtime gives one token for a prompt of exactly the context, and then fails.
  CHECK(plan_run(64, {.bytes = 999, .tokens = 64}, 20) == ContextPlan(TooLong{}));
  CHECK(plan_run(64, {.bytes = 999, .tokens = 65}, 1) == ContextPlan(TooLong{}));
}

TEST_CASE("usage comes from the size of the KV cache and what was prefilled") {
  const Usage cold = usage_of({.generated = 5, .reasoning = 2, .kv_size = 14, .prefilled = 10});
  CHECK(cold == Usage{.prompt = 10, .cached = 0, .generated = 5, .reasoning = 2});
  const Usage warm = usage_of({.generated = 5, .kv_size = 14, .prefilled = 3});
  CHECK(warm.cached == 7);
  // All but the last token were there: the runtime calls that a prefill of 0.
  CHECK(usage_of({.generated = 1, .kv_size = 10, .prefilled = 0}) ==
        Usage{.prompt = 10, .cached = 9, .generated = 1, .reasoning = 0});
}

TEST_CASE("what is not known of a run stays unknown") {
  CHECK(usage_of({.generated = 5}) == Usage{.generated = 5, .reasoning = 0});
  CHECK(usage_of({.generated = 5, .kv_size = 14}).cached == std::nullopt);
  CHECK(prompt_tokens_after(3, 10) == std::nullopt);
  CHECK(prompt_tokens_after(10, 0) == std::nullopt);
  CHECK(prompt_tokens_after(10, 1) == 10);
}

TEST_CASE("the prompt of several answers counts once") {
  const Usage first{.prompt = 10, .cached = 4, .generated = 5, .reasoning = 1};
  const Usage second{.prompt = 10, .cached = 9, .generated = 7, .reasoning = 0};
  CHECK(sum_of_answers({first, second}) == Usage{.prompt = 10, .cached = 4, .generated = 12, .reasoning = 1});
  CHECK(sum_of_answers({first, Usage{}}).generated == std::nullopt);
  CHECK(sum_of_answers({}) == Usage{});
}

TEST_CASE("the speed of an answer is that of the tokens whose time is known, over all its runs") {
  const Timings first{.generate_ms = 100, .timed_tokens = 4};
  CHECK(speed_of({.usage = {.generated = 5}, .timings = first}).tokens_per_second == 40.0);
  const Timings both = sum_of_runs(first, {.generate_ms = 100, .timed_tokens = 6});
  CHECK(speed_of({.timings = both}).tokens_per_second == 50.0);
  CHECK_FALSE(speed_of({.timings = sum_of_runs(first, {.generate_ms = 100})}).tokens_per_second);
  CHECK_FALSE(speed_of({.timings = {.generate_ms = 3, .timed_tokens = 0}}).tokens_per_second);
}

TEST_CASE("the oldest turn is dropped with all that belongs to it, and never the last one") {
  using enum Role;
  std::vector<ChatMessage> messages;
  for (const Role role : {kSystem, kUser, kAssistant, kTool, kAssistant, kSystem, kUser, kAssistant, kUser}) {
    messages.push_back(text_message(role, "x"));
  }
  std::vector<ChatMessage> at_once = messages;
  CHECK(drop_oldest_turns(messages, 0, 0) == 4);
  CHECK(roles_of(messages) == std::vector{kSystem, kSystem, kUser, kAssistant, kUser});
  CHECK(drop_oldest_turns(messages, 1, 0) == 2);
  CHECK(roles_of(messages) == std::vector{kSystem, kSystem, kUser});
  CHECK(drop_oldest_turns(messages, 1, 0) == 0);
  CHECK(drop_oldest_turns(at_once, 9, 1) == 6);
  CHECK(at_once == messages);
  std::vector<ChatMessage> none;
  CHECK(drop_oldest_turns(none, 1, 0) == 0);
}

TEST_CASE("a turn says what goes into its prompt: texts, calls, tools that are offered, its schema") {
  const std::string text(100, 'x');
  Turn turn;
  turn.messages = {text_message(Role::kUser, "Hi"), text_message(Role::kAssistant, "Ho"),
                   text_message(Role::kUser, "Hi")};
  const std::size_t before = bytes_of(turn);
  CHECK(before == 6);
  const auto adds = [&](const auto& change) {
    Turn changed = turn;
    change(changed);
    return bytes_of(changed) - before;
  };
  CHECK(adds([&](Turn& each) { each.messages[1].calls = {{"id", text, text}}; }) == 200);
  CHECK(adds([&](Turn& each) { each.messages[1].tool_name = text; }) == 100);
  CHECK(adds([&](Turn& each) { each.messages[1].thinking = text; }) == 0);  // is not told again
  CHECK(adds([&](Turn& each) { each.messages[2].thinking = text; }) == 0);
  CHECK(adds([&](Turn& each) {
          each.messages.push_back(text_message(Role::kAssistant, ""));
          each.messages.back().thinking = text;
        }) == 100);
  CHECK(adds([&](Turn& each) { each.tools = {{text, text, nullptr}, {text, text, nullptr}}; }) >= 400);
  const Json schema = {{"properties", {{text, {{"enum", {text, 1, 2, 3}}}}}}};
  CHECK(adds([&](Turn& each) { each.tools = {{"f", "", schema}}; }) >= 200);
  CHECK(adds([&](Turn& each) { each.tools = {{"f", "", schema}}; }) <= schema.dump().size() + 1);
  CHECK(adds([&](Turn& each) { each.format = {OutputKind::kJsonSchema, schema}; }) >= 200);
  CHECK(adds([&](Turn& each) {
          each.tools = {{text, text, schema}};
          each.tool_choice.use = ToolUse::kNone;
        }) == 0);
  turn.raw_prompt = text;
  CHECK(bytes_of(turn) == 100);
}

TEST_CASE("the wishes of a request replace values of the preset, and all nine are always there") {
  const Sampling preset{.top_k = 7, .top_p = 0.5, .temperature = 0.1, .repeat_penalty = 1.3, .mirostat = 2};
  const Sampling sampling = with_wishes(preset, {.top_p = 0.0, .temperature = 1.5, .mirostat_eta = 0.2});
  CHECK(sampling ==
        Sampling{
            .top_k = 7, .top_p = 0.0, .temperature = 1.5, .repeat_penalty = 1.3, .mirostat = 2, .mirostat_eta = 0.2});
}

TEST_CASE("an error says which model, which field, how many tokens") {
  CHECK_THAT(TurnError::unknown_model("gpt-4").what(), test::has_text("model 'gpt-4' not found"));
  const auto context = TurnError::context_exceeded(5000, 4096);
  CHECK_THAT(context.what(), test::has_text("prompt is too long"));
  CHECK_THAT(context.what(), test::has_text("5000"));
  CHECK(context.context_tokens() == 4096);
  CHECK(TurnError::context_exceeded(std::nullopt, 4096).prompt_tokens() == std::nullopt);
  CHECK_THAT(TurnError::bad_field("messages[0].role", "missing").what(), test::has_text("messages[0].role: missing"));
}
