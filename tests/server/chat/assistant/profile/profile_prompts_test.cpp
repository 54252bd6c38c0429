#include "chat/assistant/profile/profile_prompts.hpp"

#include "mcp/tools/invocation.hpp"
#include "runtime/fake_backend.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using Names = std::vector<std::string>;

// One wording in English, and perhaps one in Vietnamese.
chat::Profile profile_saying(std::map<chat::Purpose, std::string> english) {
  chat::Profile profile;
  profile.name = "butler";
  // A profile that was read has all of them, empty where it does not need one.
  for (const auto purpose : {chat::Purpose::kLanguage, chat::Purpose::kGuardrail, chat::Purpose::kAnswer,
                             chat::Purpose::kRefusal, chat::Purpose::kSummary, chat::Purpose::kShorterSummary}) {
    english.emplace(purpose, "");
  }
  profile.wordings[chat::Language::kEnglish].prompts = std::move(english);
  return profile;
}

std::vector<Immutable<mcp::Prompt>> prompts_from(const chat::Profile& profile) {
  return chat::prompts_of({Immutable(profile)});
}

Names names_of_prompts(const std::vector<Immutable<mcp::Prompt>>& prompts) {
  Names names;
  for (const auto& prompt : prompts) names.push_back(prompt->name);
  return names;
}

Names arguments_of_prompt(const mcp::Prompt& prompt) {
  Names names;
  for (const auto& argument : prompt.arguments) names.push_back(argument.name + (argument.required ? "!" : ""));
  return names;
}

// Keeps the one result.
class GotPrompt final : public mcp::Requester {
 public:
  explicit GotPrompt(Json& got) : got_(got) {}

  void result(Json body) override { got_ = std::move(body); }
  void error(const RpcError& error) override { got_ = Json{{"error", error.what()}, {"data", error.data()}}; }
  void ask(mcp::Invocation& /*invocation*/, mcp::InputRequests /*requests*/, Json /*state*/) override {}
  void notify(std::string_view /*method*/, const Json& /*params*/) override {}
  bool ready() const override { return true; }

 private:
  Json& got_;
};

Json got_from(const mcp::Prompt& prompt, const Json& arguments) {
  const auto table = std::make_shared<RequestTable>();
  const auto peer = std::make_shared<FakePeer>();
  mcp::InvocationRequest request;
  request.session = std::make_shared<Session>(table);
  request.reply = std::make_shared<Reply>(*peer, "1");
  request.method = "prompts/get";
  request.name = prompt.name;
  request.arguments = arguments;
  Json got;
  std::make_shared<mcp::Invocation>(std::move(request), std::make_unique<GotPrompt>(got), prompt.run)->run();
  return got;
}

// The text of the prompt for an answer.
std::string text_got(const chat::Profile& profile, const Json& arguments) {
  const Json got = got_from(*prompts_from(profile).at(0), arguments);
  return got.at("messages").at(0).at("content").at("text").get<std::string>();
}

chat::Profile profile_of_both_languages() {
  chat::Profile profile = profile_saying({{chat::Purpose::kAnswer, "Answer {question}"}});
  profile.wordings[chat::Language::kVietnamese] = profile.wordings[chat::Language::kEnglish];
  profile.wordings[chat::Language::kVietnamese].prompts[chat::Purpose::kAnswer] = "Tr\u1ea3 l\u1eddi {question}";
  return profile;
}

}  // namespace

TEST_CASE("a profile has a prompt for each text that it has, and none for those that it has not") {
  CHECK(names_of_prompts(prompts_from(profile_saying({{chat::Purpose::kLanguage, "a"},
                                                      {chat::Purpose::kGuardrail, "b"},
                                                      {chat::Purpose::kAnswer, "c"},
                                                      {chat::Purpose::kRefusal, "d"},
                                                      {chat::Purpose::kSummary, "e"},
                                                      {chat::Purpose::kShorterSummary, "f"}}))) ==
        Names{"butler_language", "butler_guardrail", "butler_answer", "butler_refusal", "butler_summary",
              "butler_shorter"});
  CHECK(names_of_prompts(prompts_from(profile_saying({{chat::Purpose::kAnswer, "a"}}))) == Names{"butler_answer"});
  CHECK(prompts_from(profile_saying({})).empty());
  CHECK(chat::prompts_of({}).empty());
}

TEST_CASE("the prompts of several profiles have different names, also where one's name begins with another's") {
  auto one = profile_saying({{chat::Purpose::kSummary, "a"}, {chat::Purpose::kShorterSummary, "b"}});
  auto other = one;
  other.name = "butler_shorter";
  Names names = names_of_prompts(chat::prompts_of({Immutable(one), Immutable(other)}));
  REQUIRE(names.size() == 4);
  std::ranges::sort(names);
  CHECK(std::ranges::adjacent_find(names) == names.end());
}

TEST_CASE("a prompt asks for what fills its holes, of which only the question is needed, and for the language") {
  const auto prompts = prompts_from(profile_saying(
      {{chat::Purpose::kAnswer, "{search} {summary} {history} {question}"}, {chat::Purpose::kRefusal, "No {other}."}}));
  REQUIRE(prompts.size() == 2);
  CHECK(arguments_of_prompt(*prompts[0]) == Names{"question!", "history", "summary", "search", "language"});
  CHECK(arguments_of_prompt(*prompts[1]) == Names{"language"});
  for (const auto& argument : prompts[0]->arguments) CHECK_FALSE(argument.description.empty());
  CHECK(prompts[0]->title == "Answer (butler)");
}

TEST_CASE("languages are completed from those that the profile has") {
  const auto prompts = prompts_from(profile_of_both_languages());
  const auto& complete = prompts.at(0)->arguments.back().complete;
  REQUIRE(complete);
  CHECK(complete("", Json::object()).size() == 2);
  CHECK(complete("v", Json::object()) == Names{"vi"});
  CHECK(complete("x", Json::object()).empty());
  const auto one = prompts_from(profile_saying({{chat::Purpose::kAnswer, "a"}}));
  CHECK(one.at(0)->arguments.back().complete("", Json::object()) == Names{"en"});
}

TEST_CASE("a prompt is told with its holes filled, and one that was not given is empty") {
  const auto profile = profile_saying({{chat::Purpose::kAnswer, "Of:\n{history}\n\nFound: {search}\n\n{question}!"}});
  CHECK(text_got(profile, {{"question", "Why"}, {"search", "{history}"}}) == "Found: {history}\n\nWhy!");
  CHECK(text_got(profile, {{"question", "Why"}, {"history", "Hi"}}) == "Of:\nHi\n\nWhy!");
}

TEST_CASE("a refusal is what the assistant says, and all else is what it is asked") {
  const auto prompts = prompts_from(profile_saying(
      {{chat::Purpose::kAnswer, "a"}, {chat::Purpose::kRefusal, "No."}, {chat::Purpose::kSummary, "s"}}));
  REQUIRE(prompts.size() == 3);
  CHECK(got_from(*prompts[0], Json::object())["messages"][0]["role"] == "user");
  CHECK(got_from(*prompts[1], Json::object())["messages"][0]["role"] == "assistant");
  CHECK(got_from(*prompts[2], Json::object())["messages"][0]["role"] == "user");
  CHECK(got_from(*prompts[1], Json::object())["description"] == prompts[1]->description);
}

TEST_CASE("the language is the one that is named, else that of the question, else the profile's own") {
  const chat::Profile profile = profile_of_both_languages();
  const std::string question = "Th\u1eddi ti\u1ebft h\u00f4m nay th\u1ebf n\u00e0o?";
  CHECK(text_got(profile, {{"question", question}}) == "Tr\u1ea3 l\u1eddi " + question);
  CHECK(text_got(profile, {{"question", question}, {"language", "en"}}) == "Answer " + question);
  CHECK(text_got(profile, {{"question", "42"}, {"language", "vi"}}) == "Tr\u1ea3 l\u1eddi 42");
  CHECK(text_got(profile, {{"question", "42"}}) == "Answer 42");
}

TEST_CASE("a language that is none of the assistant's is refused with its place") {
  const auto prompts = prompts_from(profile_of_both_languages());
  const Json got = got_from(*prompts.at(0), {{"question", "Why"}, {"language", "fr"}});
  CHECK_THAT(got.value("error", ""), has_text("params.arguments.language: expected vi or en"));
}

TEST_CASE("a prompt outlives the profiles that it was made of") {
  std::vector<Immutable<mcp::Prompt>> prompts;
  {
    const std::vector<Immutable<chat::Profile>> profiles{Immutable(profile_of_both_languages())};
    prompts = chat::prompts_of(profiles);
  }
  CHECK_THAT(got_from(*prompts.at(0), {{"question", "Why"}}).dump(), has_text("Answer Why"));
}

}  // namespace rkllm_mcp::test
