#include "chat/dialects/openai/openai_completion.hpp"

#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

OpenAiCompletionRequest completion_of(const std::string& text) { return read_openai_completion(Json::parse(text)); }

const ReplyFacts kCompletionFacts{.id = "cmpl-1", .model = "m", .created_s = 1700000000};

}  // namespace

TEST_CASE("a completion's prompt goes to the model as it is") {
  const OpenAiCompletionRequest request = completion_of(
      R"({"model":"m","prompt":["<|im_start|>x"],"max_tokens":5,"stop":"y","n":2,"stream":true,"stream_options":{"include_usage":true},"seed":1})");
  CHECK(request.turn.raw_prompt == "<|im_start|>x");
  CHECK(request.turn.messages.empty());
  CHECK(request.turn.max_tokens == 5);
  CHECK(request.turn.stop == std::vector<std::string>{"y"});
  CHECK(request.turn.answers == 2);
  CHECK(request.stream);
  CHECK(request.include_usage);
  CHECK(request.ignored == std::vector<std::string>{"seed"});
  CHECK_THROWS_WITH(completion_of("{}"), "prompt: missing");
  CHECK_THROWS_WITH(completion_of(R"({"prompt":[1,2]})"),
                    Catch::Matchers::StartsWith("prompt: expected a string, or an array with one"));
  CHECK_THROWS_WITH(completion_of(R"({"prompt":"x","echo":true})"), "echo: the prompt is not repeated");
}

TEST_CASE("a whole completion, and the same as a stream") {
  const Usage usage{.prompt = 3, .cached = 0, .generated = 2, .reasoning = 0};
  const Answer answer{.text = "a\"", .end = {.finish = Finish::kLength, .usage = usage}};
  CHECK(Json::parse(openai_completion_reply(kCompletionFacts, {answer}, usage)) == Json::parse(R"({"id":"cmpl-1",
      "object":"text_completion","created":1700000000,"model":"m","choices":[{"text":"a\"","index":0,"logprobs":null,
      "finish_reason":"length"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,
      "prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}})"));

  OpenAiCompletionStream stream(kCompletionFacts, true);
  const std::string head =
      R"(data: {"id":"cmpl-1","object":"text_completion","created":1700000000,"model":"m","choices":[)";
  CHECK(stream.event(TextDelta{"a\""}, 0) ==
        head + R"({"text":"a\"","index":0,"logprobs":null,"finish_reason":null}],"usage":null})" + "\n\n");
  CHECK(stream.heartbeat() ==
        head + R"({"text":"","index":0,"logprobs":null,"finish_reason":null}],"usage":null})" + "\n\n");
  CHECK(stream.end(answer.end, 0) ==
        head + R"({"text":"","index":0,"logprobs":null,"finish_reason":"length"}],"usage":null})" + "\n\n");
  const std::string end = stream.finish(usage);
  CHECK_THAT(end, Catch::Matchers::StartsWith(head + R"(],"usage":{"prompt_tokens":3,)"));
  CHECK_THAT(end, Catch::Matchers::EndsWith("}\n\ndata: [DONE]\n\n"));
  OpenAiCompletionStream other(kCompletionFacts, false);
  CHECK(other.finish(usage) == "data: [DONE]\n\n");
  other.begun({.ignored = {"sampling"}});
  CHECK_THAT(other.end(answer.end, 0), Catch::Matchers::EndsWith(R"(}],"rkllm":{"ignored":["sampling"]}})"
                                                                 "\n\n"));
}
