#include "chat/assistant/providers/model_provider.hpp"

#include "server/chat/host/scripted_lender.hpp"
#include "support/catch.hpp"

using namespace rkllm_mcp::chat;
using namespace rkllm_mcp::chat::testing;

TEST_CASE("a yes or no of a model that always thinks takes a few tokens, and its answers may think") {
  ScriptedLender lender;
  lender.info.template_name = "qwen3_thinking";
  ChatHost host(lender, {});
  ModelProvider provider(host);
  for (const Purpose purpose : {Purpose::kGuardrail, Purpose::kLanguage, Purpose::kSummary, Purpose::kAnswer}) {
    lender.model.answers = {{"YES"}};
    TextWish wish{purpose, {}};
    wish.turn.model = lender.info.name;
    wish.turn.messages = {text_message(Role::kUser, "May it be answered?")};
    wish.turn.max_tokens = 8;
    Heard heard;
    const auto running = provider.make(Profile{}, wish, {}, "peer", heard);
    lender.settle();
    REQUIRE(heard.sum);
    const bool thinks = purpose == Purpose::kAnswer;
    CHECK(heard.answers.at(0).text == (thinks ? "" : "YES"));
    CHECK(lender.model.runs.back().prompt.ends_with(thinks ? "assistant\n<think>\n" : "<think>\n\n</think>\n\n"));
  }
}
