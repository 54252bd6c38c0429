#include "chat/host/chat_host.hpp"

#include "chat/templates/family.hpp"
#include "server/chat/host/scripted_lender.hpp"
#include "support/catch.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;
using namespace rkllm_mcp::chat::testing;

namespace {

Turn asking(const std::string& text) {
  Turn turn;
  turn.model = "qwen3-0.6b";
  turn.messages.push_back(text_message(Role::kUser, text));
  turn.thinking = Thinking::kOff;
  turn.max_tokens = 100;
  return turn;
}

// The turn that follows when a client sends the answer back with something new.
Turn going_on(Turn turn, const std::string& answer, const std::string& text) {
  turn.messages.push_back(text_message(Role::kAssistant, answer));
  turn.messages.push_back(text_message(Role::kUser, text));
  return turn;
}

struct Bench {
  explicit Bench(HostOptions options = {}) : host(lender, std::move(options)) {}

  // One whole turn, its warm-up included.
  Heard ask(Turn turn) {
    Heard heard;
    const auto running = host.start(std::move(turn), {}, "peer", heard);
    lender.settle();
    return heard;
  }

  ScriptedLender lender;
  ChatHost host;
};

}  // namespace

TEST_CASE("a turn clears the runtime's template once, runs its prompt, and tells the answer and its figures") {
  Bench bench;
  bench.lender.model.answers = {{"Hel", "lo"}, {"Bye"}};
  const Heard heard = bench.ask(asking("Hi"));
  REQUIRE_FALSE(heard.error);
  REQUIRE(heard.answers.size() == 1);
  CHECK(heard.answers[0].text == "Hello");
  CHECK(heard.answers[0].end.finish == Finish::kStop);
  const auto& run = bench.lender.model.runs.at(0);
  CHECK(run.options.max_new_tokens == 100);
  CHECK(heard.sum->prompt == static_cast<std::int64_t>(run.prompt.size()) + 1);
  CHECK(heard.sum->generated == 3);
  CHECK(heard.tokens == 3);
  CHECK(heard.generating_ms >= 0);
  CHECK(heard.answers[0].end.timings.first_token_ms);
  // In 20 ms: the first of the three tokens came with the prefill.
  CHECK(speed_of(heard.answers[0].end).tokens_per_second == 100.0);
  CHECK(heard.sum->cached == 0);
  CHECK(bench.lender.model.templates_cleared == 1);
  bench.ask(asking("Hi again"));
  CHECK(bench.lender.model.templates_cleared == 1);
  CHECK(bench.host.turns() == 0);
}

TEST_CASE("after a warm-up the next turn prefills only the new text") {
  Bench bench;
  bench.lender.model.answers = {{"Hello"}, {"Fine"}};
  const Turn first = asking("Hi");
  bench.ask(first);
  const auto& warm = bench.lender.model.runs.back();
  CHECK(warm.options.max_new_tokens == 1);
  const std::string warm_text = warm.prompt;
  bench.ask(going_on(first, "Hello", "How are you?"));
  const auto& second = bench.lender.model.runs.at(2);
  REQUIRE(second.prompt.starts_with(warm_text));
  CHECK(second.prefilled == static_cast<std::int64_t>(second.prompt.size() - warm_text.size()));
}

TEST_CASE("a warm-up runs in slices, and gives way to whoever waits") {
  Bench bench(HostOptions{.warm_up_bytes = 7});
  bench.lender.model.answers = {{"a long answer, which takes several slices"}};
  bench.ask(asking("Hi"));
  const auto& runs = bench.lender.model.runs;
  REQUIRE(runs.size() > 3);
  for (std::size_t i = 2; i < runs.size(); ++i) CHECK(runs[i].prompt.size() - runs[i - 1].prompt.size() <= 7);

  Bench busy(HostOptions{.warm_up_bytes = 7});
  busy.lender.model.answers = {{"Hello"}};
  busy.lender.pretend_others_wait = true;
  busy.ask(asking("Hi"));
  CHECK(busy.lender.model.runs.size() == 1);
}

TEST_CASE("an edited history is rendered and run as it is, and a foreign change makes the next turn cold") {
  Bench bench;
  bench.lender.model.answers = {{"Hello"}, {"Fine"}, {"Right"}};
  const Turn first = asking("Hi");
  bench.ask(first);
  bench.ask(going_on(asking("Ho"), "Hello", "How are you?"));
  const auto& edited = bench.lender.model.runs.at(2);
  CHECK(edited.prompt.find("Ho") != std::string::npos);
  CHECK(edited.prompt.find("Hi") == std::string::npos);
  CHECK(bench.lender.model.kv().starts_with(edited.prompt.substr(0, edited.prompt.find("How are you?"))));

  ++bench.lender.model.changes;
  bench.ask(asking("Hi"));
  CHECK(bench.lender.model.templates_cleared == 2);
}

TEST_CASE("a failed run is an error, and the turn behind it clears the template again") {
  Bench bench;
  bench.lender.model.fails = true;
  const Heard heard = bench.ask(asking("Hi"));
  REQUIRE(heard.error);
  CHECK(heard.error->kind() == ErrorKind::kRuntimeFailed);
  CHECK(std::string(heard.error->what()).find("returned -1") != std::string::npos);
  bench.lender.model.fails = false;
  bench.lender.model.answers = {{"Hello"}};
  CHECK_FALSE(bench.ask(asking("Hi")).error);
  CHECK(bench.lender.model.templates_cleared == 2);
}

TEST_CASE("figures that contain the work of a run without an end, or of somebody else's, are not told") {
  Bench bench;
  const auto ask = [&bench] {
    bench.lender.model.answers = {{"Hello"}};
    return bench.ask(asking("Hi")).answers.at(0).end;
  };
  bench.lender.model.fails = true;
  bench.ask(asking("A long question, whose work is counted behind it"));
  bench.lender.model.fails = false;
  for (int i = 0; i < 2; ++i) {
    const AnswerEnd behind = ask();
    CHECK(behind.usage.prompt);
    CHECK(behind.usage.generated == 2);
    CHECK(behind.usage.cached == std::nullopt);
    CHECK(behind.timings.prefill_ms == std::nullopt);
    CHECK(behind.timings.generate_ms == std::nullopt);
    CHECK(behind.timings.first_token_ms);
    const AnswerEnd next = ask();
    CHECK(next.usage.cached);
    CHECK(next.timings.prefill_ms);
    CHECK(next.timings.generate_ms);
    ++bench.lender.model.changes;
  }
}

TEST_CASE("where the run that counts a prompt tells nothing true, its answer's figures do not stand for it") {
  Bench bench;
  bench.lender.model.known.max_context_len = 256;
  ++bench.lender.model.changes;
  bench.lender.model.answers = {{"Hello"}};
  Turn turn = asking("Hi");
  turn.max_tokens.reset();
  const AnswerEnd end = bench.ask(turn).answers.at(0).end;
  CHECK(end.usage.prompt);
  CHECK(end.usage.cached == std::nullopt);
  CHECK(end.timings.prefill_ms == std::nullopt);
  CHECK(end.timings.generate_ms);
}

TEST_CASE("a run that breaks off is not taken for a prompt that is too long") {
  for (const bool breaks_off : {false, true}) {
    Bench bench;
    bench.lender.model.known.max_context_len = 256;
    bench.lender.model.fails = true;
    bench.lender.model.breaks_off = breaks_off;
    const Heard heard = bench.ask(asking(std::string(300, 'x')));
    REQUIRE(heard.error);
    CHECK(heard.error->kind() == (breaks_off ? ErrorKind::kRuntimeFailed : ErrorKind::kContext));
  }
}

TEST_CASE("a prompt that may not fit is counted first, and its answer gets exactly the rest") {
  Bench bench;
  bench.lender.model.known.max_context_len = 256;
  bench.lender.model.answers = {{"Hello"}};
  Turn turn = asking("Hi");
  turn.max_tokens.reset();
  const Heard heard = bench.ask(turn);
  const auto& runs = bench.lender.model.runs;
  REQUIRE(runs.size() >= 2);
  CHECK(runs[0].options.max_new_tokens == 1);
  const auto tokens = static_cast<std::int64_t>(runs[0].prompt.size()) + 1;
  CHECK(runs[1].options.max_new_tokens == 256 - tokens);
  CHECK(heard.sum->prompt == tokens);
  CHECK(heard.sum->cached == 0);  // it was the counting run that computed it
  CHECK(heard.beginning->usage.prompt == tokens);
  CHECK(heard.beginning->usage.cached == 0);
  CHECK(speed_of(heard.answers.at(0).end).tokens_per_second == 100.0);  // both tokens: there was no prefill
}

TEST_CASE(
    "a prompt that is too long is an error with the context's size, or loses its oldest turns if that is wished") {
  Bench bench;
  bench.lender.model.known.max_context_len = 192;
  Turn turn = going_on(going_on(asking(std::string(100, 'a')), "one", std::string(100, 'b')), "two", "c");
  const Heard refused = bench.ask(turn);
  REQUIRE(refused.error);
  CHECK(refused.error->kind() == ErrorKind::kContext);
  CHECK(refused.error->context_tokens() == 192);

  turn.drop_oldest_turns = true;
  turn.max_tokens = 8;
  bench.lender.model.answers = {{"ok"}};
  const Heard heard = bench.ask(turn);
  REQUIRE_FALSE(heard.error);
  CHECK(heard.answers.at(0).text == "ok");
  CHECK(heard.beginning->dropped_messages == 4);
}

TEST_CASE(
    "a history that is much too long takes a few runs and not one for each turn, and one that no model holds none") {
  Bench bench;
  Turn turn;
  constexpr int kTurns = 6000;
  for (int i = 0; i < kTurns; ++i) {
    turn.messages.push_back(text_message(Role::kUser, std::string(100, 'u')));
    turn.messages.push_back(text_message(Role::kAssistant, std::string(100, 'a')));
  }
  turn.messages.push_back(text_message(Role::kUser, "And now?"));
  turn.max_tokens = 8;
  turn.drop_oldest_turns = true;
  bench.lender.model.answers = {{"ok"}};
  const Heard heard = bench.ask(turn);
  REQUIRE_FALSE(heard.error);
  CHECK(heard.answers.at(0).text == "ok");
  CHECK(heard.beginning->dropped_messages % 2 == 0);
  CHECK(heard.beginning->dropped_messages > 2 * kTurns - 40);  // a byte is a token here
  CHECK(heard.beginning->dropped_messages < 2 * kTurns);
  CHECK(bench.lender.model.runs.size() < 24);

  bench.lender.model.runs.clear();
  turn.messages.insert(turn.messages.begin(), text_message(Role::kUser, std::string(kMostPromptBytes / 2, 'x')));
  bench.lender.model.answers = {{"ok"}};
  CHECK(bench.ask(turn).beginning->dropped_messages > 2 * kTurns - 40);
  CHECK(bench.lender.model.runs.size() < 24);
  turn.messages = {text_message(Role::kUser, std::string(kMostPromptBytes + 1, 'x'))};
  bench.lender.model.runs.clear();
  CHECK_THROWS_WITH(bench.ask(turn), test::has_text("prompt is too long"));
  CHECK(bench.lender.model.runs.empty());
}

TEST_CASE(
    "tools and a schema count where no model has room for what is said, also where only the prompt is asked for") {
  Bench bench;
  const std::string text(kMostPromptBytes, 'x');
  Turn with_tool = asking("Hi");
  with_tool.tools = {{.name = "f", .description = text}};
  Turn with_schema = asking("Hi");
  with_schema.format = {OutputKind::kJsonSchema, Json{{"type", "none"}, {"title", text}}};
  for (const Turn& turn : {with_tool, with_schema, asking(text + "x")}) {
    CHECK_THROWS_WITH(bench.ask(turn), test::has_text("prompt is too long"));
    CHECK_THROWS_WITH(bench.host.prompt_of(turn, {}), test::has_text("prompt is too long"));
  }
  Turn history = with_tool;
  history.tools[0].description.resize(kMostPromptBytes - 1000);
  history.messages.insert(history.messages.begin(), text_message(Role::kUser, std::string(2000, 'x')));
  CHECK_THROWS_WITH(bench.host.prompt_of(history, {}), test::has_text("prompt is too long"));
  history.drop_oldest_turns = true;
  CHECK(bench.host.prompt_of(history, {}).text.find("xx\"") != std::string::npos);
}

TEST_CASE("a stop string ends the run, and is not a part of the answer") {
  Bench bench;
  bench.lender.model.answers = {{"one EN", "D two", " three", " four"}};
  Turn turn = asking("Hi");
  turn.stop = {"END"};
  const Heard heard = bench.ask(turn);
  CHECK(heard.answers.at(0).text == "one ");
  CHECK(heard.answers.at(0).end.finish == Finish::kStopString);
  CHECK(bench.lender.model.runs.at(0).generated == 2);
}

TEST_CASE("who goes while it waits frees its place at once, and who goes during the answer ends the run") {
  Bench bench;
  bench.lender.model.answers = {{"a", "b", "c", "d", "e"}, {"x"}};
  Heard first;
  Heard second;
  auto running = bench.host.start(asking("Hi"), {}, "peer", first);
  while (first.events < 2) REQUIRE(bench.lender.step());
  auto waiting = bench.host.start(asking("Ho"), {}, "peer", second);
  CHECK(bench.lender.places() == 1);
  waiting.reset();
  CHECK(bench.lender.places() == 0);
  running.reset();
  bench.lender.settle();
  CHECK(bench.lender.model.runs.at(0).generated < 5);
  CHECK(bench.lender.model.runs.size() == 1);  // no warm-up
  CHECK(first.events == 2);
  CHECK(first.tokens == 2);
  CHECK_FALSE(bench.lender.leased);
  CHECK(bench.host.turns() == 0);
}

TEST_CASE("an answer that somebody else's call has cut is an error and no whole answer, also while it is counted") {
  Bench bench;
  for (const bool is_counted : {false, true}) {
    CAPTURE(is_counted);
    bench.lender.model.answers = {{"a", "b", "c", "d", "e"}};
    Turn turn = asking("Hi");
    if (is_counted) turn.max_tokens.reset();
    Heard heard;
    const std::size_t before = bench.lender.model.runs.size();
    const auto running = bench.host.start(turn, {}, "peer", heard);
    while (is_counted ? bench.lender.model.runs.size() == before : heard.events < 2) REQUIRE(bench.lender.step());
    bench.lender.model.abort();
    bench.lender.settle();
    REQUIRE(heard.error);
    CHECK(heard.error->kind() == ErrorKind::kRuntimeFailed);
    CHECK_THAT(heard.error->what(), rkllm_mcp::test::has_text("aborted by another call"));
    CHECK_FALSE(heard.sum);
    CHECK(bench.lender.model.runs.size() == before + 1);  // no warm-up
    CHECK_FALSE(bench.lender.leased);
  }
}

TEST_CASE("who waits hears its position, and is served in its turn") {
  Bench bench;
  bench.lender.model.answers = {{"one"}, {"two"}};
  Heard first;
  Heard second;
  const auto one = bench.host.start(asking("Hi"), {}, "peer", first);
  const auto two = bench.host.start(asking("Ho"), {}, "peer", second);
  bench.lender.settle();
  CHECK(first.positions.empty());
  CHECK(second.positions == std::vector<std::size_t>{1});
  CHECK(first.answers.at(0).text == "one");
  CHECK(second.answers.at(0).text == "two");
}

TEST_CASE("a model that is only warmed up is nobody's turn") {
  Bench bench;
  bench.lender.model.answers = {{"one"}, {"two"}, {"three"}};
  Heard first;
  const auto one = bench.host.start(asking("Hi"), {}, "peer", first);
  while (!first.sum) REQUIRE(bench.lender.step());
  REQUIRE(bench.lender.leased);
  Heard second;
  const auto two = bench.host.start(asking("Ho"), {}, "peer", second);
  Heard third;
  const auto three = bench.host.start(asking("Hu"), {}, "peer", third);
  bench.lender.settle();
  CHECK(second.positions == std::vector<std::size_t>{0});
  CHECK(second.answers.at(0).text == "two");
  CHECK(third.positions == std::vector<std::size_t>{1});  // the one before it is somebody's
}

TEST_CASE("an answer that is not JSON is asked for again, and is never told") {
  Bench bench;
  bench.lender.model.answers = {{"Sure! Here"}, {R"({"age": "x"})"}, {R"({"age": 7})"}};
  Turn turn = asking("Hi");
  turn.format = {OutputKind::kJsonSchema,
                 Json::parse(R"({"type":"object","properties":{"age":{"type":"integer"}},"required":["age"]})")};
  const Heard heard = bench.ask(turn);
  REQUIRE_FALSE(heard.error);
  CHECK(heard.answers.at(0).text == R"({"age": 7})");
  CHECK(heard.events == 1);
  // What the tries that came to nothing have taken counts, too.
  std::int64_t prompts = 0;
  std::int64_t tokens = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    prompts += static_cast<std::int64_t>(bench.lender.model.runs.at(i).prompt.size()) + 1;
    tokens += bench.lender.model.runs.at(i).generated;
  }
  CHECK(heard.sum->prompt == prompts);
  CHECK(heard.sum->generated == tokens);
  CHECK(heard.answers.at(0).end.timings.generate_ms == 60.0);

  bench.lender.model.answers = {{"no"}, {"no"}, {"no"}, {R"({"age": 7})"}};
  const Heard refused = bench.ask(turn);
  REQUIRE(refused.error);
  CHECK(refused.error->kind() == ErrorKind::kInvalidAnswer);
  CHECK(refused.events == 0);
}

TEST_CASE("an answer that has to be a call is asked for again until it is one, and nothing else of it is told") {
  Bench bench;
  Turn turn = asking("Hi");
  turn.tools = {{.name = "weather"}, {.name = "time"}};
  turn.tool_choice.use = ToolUse::kRequired;
  // The beginning of the call was forced: "<tool_call>\n{\"name\": \"".
  bench.lender.model.answers = {
      {"I cannot", " do that."}, {R"(wether", "arguments": {}})", "\n</tool_call>"}, {R"(time", "arguments": {}})"}};
  const Heard heard = bench.ask(turn);
  REQUIRE_FALSE(heard.error);
  CHECK(heard.events == 1);
  CHECK(heard.answers.at(0).text.empty());
  CHECK(heard.answers.at(0).calls.at(0).name == "time");
  CHECK(heard.answers.at(0).end.finish == Finish::kToolCalls);
  CHECK_THAT(bench.lender.model.runs.at(2).prompt, test::has_text("wether"));
  CHECK(bench.lender.model.runs.at(2).options.sampling.temperature <
        bench.lender.model.runs.at(0).options.sampling.temperature);

  bench.lender.model.answers = {{"no"}, {"no"}, {"no"}, {R"(time", "arguments": {}})"}};
  const Heard refused = bench.ask(turn);
  REQUIRE(refused.error);
  CHECK(refused.error->kind() == ErrorKind::kInvalidAnswer);
  CHECK_THAT(std::string(refused.error->what()), test::has_text("has not called a tool as was asked for"));
  CHECK(refused.events == 0);

  bench.lender.model.answers = {{"ti", "me", "\", \"arg", "uments\": {\"a\""}};
  turn.max_tokens = 3;
  const Heard cut = bench.ask(turn);
  REQUIRE(cut.error);
  CHECK_THAT(std::string(cut.error->what()), test::has_text("the limit of 3 tokens came before its end"));
  CHECK(cut.events == 0);
}

TEST_CASE("where a tool is named nothing else is called, and the JSON that was asked for comes with its result") {
  Bench bench;
  Turn turn = asking("Hi");
  turn.tools = {{.name = "weather"}, {.name = "time"}};
  turn.tool_choice = {ToolUse::kNamed, "weather"};
  turn.format.kind = OutputKind::kJsonObject;
  // Behind "<tool_call>\n{\"name\": \"weather\", \"arguments\": ".
  bench.lender.model.answers = {
      {"{\"city\": \"Huế\"}}\n</tool_call>", "\n<tool_call>\n{\"name\": \"time\", \"arguments\": {}}\n</tool_call>"}};
  const Heard heard = bench.ask(turn);
  REQUIRE_FALSE(heard.error);
  REQUIRE(heard.answers.at(0).calls.size() == 1);
  CHECK(heard.answers.at(0).calls.front().name == "weather");
  CHECK(heard.answers.at(0).end.finish == Finish::kToolCalls);
  CHECK_THAT(bench.lender.model.runs.at(0).prompt, !test::has_text("JSON object"));
}

TEST_CASE("several answers come one after the other, and their prompt counts once") {
  Bench bench;
  bench.lender.model.answers = {{"one"}, {"two"}};
  Turn turn = asking("Hi");
  turn.answers = 2;
  const Heard heard = bench.ask(turn);
  REQUIRE(heard.answers.size() == 2);
  CHECK(heard.answers[0].text == "one");
  CHECK(heard.answers[1].text == "two");
  CHECK(heard.sum->generated == 4);
  CHECK(heard.sum->prompt == heard.answers[0].end.usage.prompt);
}

TEST_CASE("a runtime without limits for one run is aborted at the limit, and its sampling is named as ignored") {
  Bench bench;
  bench.lender.model.known.has_run_options = false;
  bench.lender.model.known.runtime_version = "1.2.3";
  bench.lender.model.answers = {{"a", "b", "c", "d", "e", "f"}};
  Turn turn = asking("Hi");
  turn.max_tokens = 3;
  turn.sampling.temperature = 0.5;
  const Heard heard = bench.ask(turn);
  CHECK(heard.answers.at(0).text == "abc");
  CHECK(heard.answers.at(0).end.finish == Finish::kLength);
  CHECK(heard.beginning->ignored == std::vector<std::string>{"sampling"});

  turn.max_tokens.reset();
  turn.sampling = {};
  bench.lender.model.answers = {{"a", "b"}};
  const Heard counted = bench.ask(turn);
  CHECK_FALSE(counted.error);
  CHECK(counted.answers.at(0).text == "ab");
  CHECK(counted.answers.at(0).end.finish == Finish::kStop);

  bench.lender.model.known.has_kv_size = false;
  const Heard old = bench.ask(asking("Hi"));
  REQUIRE(old.error);
  CHECK(std::string(old.error->what()).find("1.2.1") != std::string::npos);
}

TEST_CASE("a slow reader holds the run, and lets it go on") {
  Bench bench;
  bench.lender.model.answers = {{"a", "b", "c"}};
  Heard heard;
  const auto running = bench.host.start(asking("Hi"), {}, "peer", heard);
  while (heard.events < 1) REQUIRE(bench.lender.step());
  running->hold();
  bench.lender.settle();
  CHECK(heard.events == 1);
  CHECK_FALSE(heard.sum);
  running->go_on();
  bench.lender.settle();
  CHECK(heard.answers.at(0).text == "abc");
}

TEST_CASE("a model whose family is not known answers a single message in its own template only") {
  Bench bench;
  bench.lender.info.path = "/models/mystery.rkllm";
  bench.lender.model.answers = {{"Hello"}};
  const Heard heard = bench.ask(asking("Hi"));
  CHECK(heard.answers.at(0).text == "Hello");
  CHECK(bench.lender.model.templates_cleared == 0);
  CHECK(bench.lender.model.runs.at(0).prompt == "Hi");
  Heard nothing;
  CHECK_THROWS_WITH(bench.host.start(going_on(asking("Hi"), "a", "b"), {}, "", nothing),
                    rkllm_mcp::test::has_text("models.NAME.template"));
  Turn to_call = asking("Hi");
  to_call.tool_choice.use = ToolUse::kRequired;
  CHECK_THROWS_WITH(bench.host.start(to_call, {}, "", nothing),
                    rkllm_mcp::test::has_text("there are no tools to be called"));
}

TEST_CASE(
    "a model whose family is not known may begin its answer with thinking, marked as the families that think do") {
  Bench bench;
  bench.lender.info.path = "/models/mystery.rkllm";
  bench.lender.model.answers = {{"<thi", "nk>\nHm.", "</think>\n\n", "Hello <think>"}};
  const Heard heard = bench.ask(asking("Hi"));
  CHECK(heard.answers.at(0).thinking == "Hm.");
  CHECK(heard.answers.at(0).text == "Hello <think>");
  for (const Family& family : built_in_families()) {  // else it could not be told by which marks
    INFO(family.name);
    CHECK((family.thinking.open.empty() || family.thinking.open == "<think>"));
    CHECK((family.thinking.close.empty() || family.thinking.close == "</think>"));
  }
}

TEST_CASE("in the runtime's own template nobody's text is a special token of any family, and thinking is told to it") {
  Bench bench;
  bench.lender.info.path = "/models/mystery.rkllm";
  bench.lender.model.answers = {{"{}"}, {"Hello"}};
  Turn turn = asking("<|im_end|> <｜User｜> <end_of_turn> </s> [gMASK] <b>");
  turn.format = {OutputKind::kJsonSchema, Json{{"title", "<|eot_id|>"}}};
  bench.ask(turn);
  const auto& run = bench.lender.model.runs.at(0);
  CHECK_THAT(run.prompt, rkllm_mcp::test::has_text("< |im_end|> < ｜User｜> < end_of_turn> < /s> [ gMASK] <b>"));
  CHECK_THAT(run.prompt, rkllm_mcp::test::has_text("< |eot_id|>"));
  CHECK_FALSE(run.options.enable_thinking);
  turn = asking("Hi");
  turn.thinking = Thinking::kAsTheModelDoes;
  bench.ask(turn);
  CHECK(bench.lender.model.runs.back().options.enable_thinking);
}

TEST_CASE("a wish about thinking that the model's family cannot be told is named as ignored") {
  const auto ignored = [](const std::string& family, Thinking thinking) {
    Bench bench;
    bench.lender.info.template_name = family;
    bench.lender.model.answers = {{"Hello"}};
    Turn turn = asking("Hi");
    turn.thinking = thinking;
    turn.thinking_field = "think";
    return bench.ask(turn).beginning->ignored;
  };
  const std::vector<std::string> named{"think"};
  CHECK(ignored("qwen2", Thinking::kOn) == named);
  CHECK(ignored("qwen2", Thinking::kOff).empty());
  CHECK(ignored("qwen3_thinking", Thinking::kOff) == named);
  CHECK(ignored("qwen3_thinking", Thinking::kOn).empty());
  CHECK(ignored("qwen3", Thinking::kOff).empty());
}

TEST_CASE("tools are refused where the model hides the tokens that mark its calls, and the error says what to set") {
  Bench bench;
  bench.lender.info.template_name = "internlm2";
  bench.lender.model.answers = {{"Hi", "<|im_end|>"}, {"<|action_start|><|plugin|>\n{\"name\":\"now\"}<|action_end|>"}};
  Turn turn = asking("Hi");
  CHECK(bench.ask(turn).answers.at(0).text == "Hi");
  turn.tools = {FunctionTool{"now"}};
  const Heard refused = bench.ask(turn);
  REQUIRE(refused.error);
  CHECK(refused.error->kind() == ErrorKind::kNotSupported);
  CHECK(refused.error->field() == "tools");
  CHECK_THAT(refused.error->what(), rkllm_mcp::test::has_text("\"skip_special_token\": false"));
  bench.lender.model.known.shows_special_tokens = true;
  CHECK(bench.ask(turn).answers.at(0).calls.at(0).name == "now");

  bench.lender.info.template_name = "llama3";  // whose calls are bare JSON
  bench.lender.model.known.shows_special_tokens = false;
  bench.lender.model.answers = {{"{\"name\": \"now\", \"parameters\": {}}"}};
  CHECK(bench.ask(turn).answers.at(0).calls.at(0).name == "now");
}

TEST_CASE("of a model that shows its special tokens the one that ends an answer reaches nobody") {
  Bench bench;
  bench.lender.model.known.shows_special_tokens = true;
  for (const std::string family : {"qwen2", "internlm2", ""}) {
    bench.lender.info.template_name = family;
    bench.lender.info.path = "/models/mystery.rkllm";
    bench.lender.model.answers = {{"Hi", "<|im_end|>"}, {"Hi", "<|im_end|>"}};
    CHECK(bench.ask(asking("Hello")).answers.at(0).text == "Hi");
    if (family.empty()) continue;
    Turn raw = asking("");
    raw.messages.clear();
    raw.raw_prompt = "Hello";
    CHECK(bench.ask(raw).answers.at(0).text == "Hi");
    bench.lender.model.answers = {{"<bos>x<eos>", "<|im_end|>"}};  // of other families
    CHECK(bench.ask(raw).answers.at(0).text == "<bos>x<eos>");
  }
}

TEST_CASE("what is wrong at once is thrown, and nothing waits") {
  Bench bench;
  Heard heard;
  Turn unknown = asking("Hi");
  unknown.model = "gpt-9";
  CHECK_THROWS_AS(bench.host.start(unknown, {}, "", heard), TurnError);
  Turn picture = asking("Hi");
  picture.messages[0].parts.emplace_back(ImagePart{"image/png", "AAAA"});
  CHECK_THROWS_WITH(bench.host.start(picture, {}, "", heard), rkllm_mcp::test::has_text("vision encoder"));
  picture.prompt_field = "input";
  CHECK_THROWS_WITH(bench.host.start(picture, {}, "", heard), Catch::Matchers::StartsWith("input: "));
  picture.images_field = "images";
  CHECK_THROWS_WITH(bench.host.start(picture, {}, "", heard), Catch::Matchers::StartsWith("images: "));
  CHECK(bench.lender.wishes.empty());
}

TEST_CASE("a request that names no model gets the only one there is") {
  Bench bench;
  bench.lender.model.answers = {{"one"}};
  Turn turn = asking("Hi");
  turn.model.clear();
  CHECK(bench.ask(turn).answers.at(0).text == "one");
}

TEST_CASE("going back to another conversation loads its cache, which only its owner can read") {
  const auto folder = std::filesystem::temp_directory_path() / ("chat-caches-" + std::to_string(::getpid()));
  {
    Bench bench(HostOptions{.caches_folder = folder.string(), .most_cache_bytes = 1000});
    bench.lender.model.when_saving = [&bench](const std::string& path) {
      std::ofstream(path) << bench.lender.model.runs.back().prompt;
    };
    bench.lender.model.text_of_cache = [](const std::string& path) {
      std::ifstream file(path);
      return std::string(std::istreambuf_iterator<char>(file), {});
    };
    bench.lender.model.answers = {{"Hello"}, {"Ho"}, {"Fine"}};
    const Turn first = asking("Hi, I am one");
    bench.ask(first);
    REQUIRE(bench.host.caches().files() == 1);
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      CHECK((file.status().permissions() & std::filesystem::perms::all) ==
            (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
    }
    bench.ask(asking("Another one altogether"));
    const std::size_t runs = bench.lender.model.runs.size();
    bench.ask(going_on(first, "Hello", "And?"));
    CHECK(bench.lender.model.loaded.size() == 1);
    const auto& back = bench.lender.model.runs.at(runs);
    const std::string& cached = bench.lender.model.runs.at(1).prompt;  // the warm-up of the first conversation
    CHECK(back.prefilled == static_cast<std::int64_t>(back.prompt.size() - cached.size()));
    CHECK(bench.host.caches().files() == 2);  // that of the beginning has been replaced

    // One that cannot be loaded is not tried again.
    bench.lender.model.text_of_cache = [](const std::string&) { return std::string(); };
    bench.lender.model.answers = {{"Ho"}};
    const Turn other = going_on(asking("Another one altogether"), "Ho", "And?");
    bench.ask(other);
    CHECK(bench.lender.model.loaded.size() == 2);
    CHECK_FALSE(std::filesystem::exists(bench.lender.model.loaded.back()));

    // All go with a conversation that is deleted, and so does that of a turn which had begun.
    Heard heard;
    bench.lender.model.answers = {{"Well"}};
    const auto running = bench.host.start(asking("A last one"), {}, "peer", heard);
    while (heard.events < 1) REQUIRE(bench.lender.step());
    bench.host.forget_caches();
    bench.lender.settle();
    CHECK(heard.sum);
    CHECK(bench.host.caches().files() == 0);
    CHECK(std::filesystem::is_empty(folder));
  }
  CHECK(std::filesystem::is_empty(folder));
  std::filesystem::remove(folder);
}
