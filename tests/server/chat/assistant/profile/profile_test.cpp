// Profiles as files: what they may say, where they are wrong, and those that come with this program.
#include "chat/assistant/profile/profile.hpp"
#include "chat/structured/json_schema.hpp"

#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"

#include <sys/stat.h>

#include <rkllm_mcp/json.hpp>

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

using namespace rkllm_mcp::chat;
using rkllm_mcp::Json;
using rkllm_mcp::test::has_text;

namespace {

std::string complaint_of(const std::string& text) {
  try {
    read_profile("/p/x.json", text);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("a profile needs no more than the words of its answers") {
  const Profile profile = read_profile("/p/helper.json", R"({"prompts":{"en":{"answer":["{question}","Answer:"]}}})");
  CHECK(profile.name == "helper");
  CHECK(profile.provider == ProviderKind::kRuntime);
  CHECK(profile.default_language == Language::kEnglish);
  CHECK_FALSE(profile.guardrail);
  CHECK(profile.answers_tasks);
  CHECK_FALSE(profile.search);
  CHECK(profile.summary == SummaryUse::kNone);
  CHECK(profile.prompt(Purpose::kAnswer, Language::kVietnamese) == "{question}\nAnswer:");
}

TEST_CASE("where there is a guardrail, nothing goes past it unless the profile says so") {
  const auto answers_tasks = [](const std::string& more) {
    return read_profile("/p/x.json", "{" + more + R"("prompts":{"en":{"answer":"a","guardrail":"g","refusal":"r"}}})")
        .answers_tasks;
  };
  CHECK_FALSE(answers_tasks(R"("guardrail":{},)"));
  CHECK_FALSE(answers_tasks(R"("guardrail":{"fail":"open"},)"));
  CHECK(answers_tasks(R"("guardrail":{},"tasks":true,)"));
  CHECK_FALSE(answers_tasks(R"("tasks":false,)"));
}

TEST_CASE("a mistake in a profile is told with file, line and member") {
  CHECK_THAT(complaint_of("{\n\"prompts\":{},\n"), has_text("/p/x.json:3:"));
  CHECK(complaint_of("[]") == "/p/x.json:1: expected an object, found array");
  CHECK(complaint_of("{\n}") == "/p/x.json: prompts: missing");
  CHECK(complaint_of("{\n\"prompts\":{\"en\":{\"answer\":\"a\"}},\n\"gardrail\":{}}") ==
        "/p/x.json:3: gardrail: there is no such member; did you mean \"guardrail\"?");
  CHECK(
      complaint_of("{\"prompts\":{\"en\":{\"answer\":\"a\"}},\n\n\"search\":{\"tool\":\"t\",\n\"max_results\":99}}") ==
      "/p/x.json:4: search.max_results: expected integer from 1 to 10, found 99");
  CHECK(complaint_of("{\"guardrail\":{},\"prompts\":{\n\"vi\":{\"answer\":\"a\",\"refusal\":\"r\"}}}") ==
        "/p/x.json:2: prompts.vi.guardrail: missing");
  CHECK(complaint_of(R"({"prompts":{"fr":{"answer":"a"}}})") == "/p/x.json:1: prompts.fr: expected vi or en");
  CHECK(complaint_of(R"({"provider":"ollama","model":"m","prompts":{"en":{"answer":"a"}}})") ==
        "/p/x.json: url: missing");
  CHECK(complaint_of(R"({"url":"http://x","prompts":{"en":{"answer":"a"}}})") ==
        "/p/x.json:1: url: is for the providers ollama and openai");
  CHECK(complaint_of(R"({"summary":"always","prompts":{"en":{"answer":"a"}}})") ==
        "/p/x.json:1: summary: expected one of none, each_response, threshold, found \"always\"");
  CHECK(complaint_of(R"({"default_language":"vi","prompts":{"en":{"answer":"a"}}})") ==
        "/p/x.json:1: default_language: there are no prompts in it");
}

TEST_CASE("the profiles that come with this program can be read, and differ in what they search with") {
  const ProfileFolder folder = read_profiles(rkllm_mcp::test::kSourceDirectory + "/examples/profiles");
  CHECK(folder.complaints.empty());
  REQUIRE(folder.profiles.size() == 2);
  CHECK(folder.profiles[0].name == "dental-duckduckgo");
  CHECK(folder.profiles[0].search->tool == "duckduckgo_search");
  CHECK(folder.profiles[1].name == "dental-google");
  CHECK(folder.profiles[1].search->tool == "google_search");
  for (const Profile& profile : folder.profiles) {
    CHECK(profile.default_language == Language::kVietnamese);
    CHECK(profile.wordings.size() == 2);
    CHECK(profile.summary == SummaryUse::kEachResponse);
    CHECK_FALSE(profile.guardrail->lets_pass);
  }
}

TEST_CASE("of a folder each wrong file is complained of, and the others are there") {
  const rkllm_mcp::test::TemporaryDirectory directory;
  rkllm_mcp::test::write_file(directory / "a.json", R"({"name":"one","prompts":{"en":{"answer":"a"}}})");
  rkllm_mcp::test::write_file(directory / "b.json", R"({"name":"one","prompts":{"en":{"answer":"b"}}})");
  rkllm_mcp::test::write_file(directory / "c.json", "{");
  rkllm_mcp::test::write_file(directory / "notes.txt", "no profile");
  REQUIRE(::mkfifo((directory / "pipe.json").c_str(), 0600) == 0);  // which nobody writes to
  const ProfileFolder folder = read_profiles(directory.path());
  REQUIRE(folder.profiles.size() == 1);
  CHECK(folder.profiles[0].prompt(Purpose::kAnswer, Language::kEnglish) == "a");
  REQUIRE(folder.complaints.size() == 3);
  CHECK_THAT(folder.complaints[2], has_text("pipe.json"));
  CHECK_THAT(folder.complaints[0], has_text("b.json: there is another profile \"one\""));
  CHECK_THAT(folder.complaints[1], has_text("c.json:1:"));
  CHECK(read_profiles("").complaints.empty());
  CHECK_THAT(read_profiles(directory / "none").complaints.at(0), has_text("chat.profiles_dir: "));
}

TEST_CASE("the schema of profiles that comes with this program is the reader's, and is no profile") {
  const std::string folder = rkllm_mcp::test::kSourceDirectory + "/examples/profiles";
  std::ifstream file(folder + "/profile.schema.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  INFO("write it anew: it is the expected text");
  CHECK(text == profile_schema().dump(2) + "\n");
  for (const char* const name : {"dental-duckduckgo", "dental-google"}) {
    std::ifstream profile(folder + "/" + name + ".json");
    const Json json = Json::parse(profile);
    CHECK(json["$schema"] == "./profile.schema.json");
    CHECK(JsonSchema(profile_schema(), "schema").complaint(json).value_or("none") == "none");
  }
}

TEST_CASE("the schema of profiles takes what the reader takes, and refuses what it refuses") {
  const JsonSchema schema(profile_schema(), "schema");
  const auto agree = [&](const Json& profile, bool is_right) {
    const std::string complaint = complaint_of(profile.dump());
    const std::string of_schema = schema.complaint(profile).value_or("none");
    INFO(profile.dump() << "\nreader: " << complaint << "\nschema: " << of_schema);
    CHECK((complaint == "none") == is_right);
    CHECK((of_schema == "none") == is_right);
  };
  const Json whole = Json::parse(R"({
    "$schema": "./profile.schema.json", "name": "n", "description": "d", "provider": "runtime", "model": "m",
    "max_tokens": 1, "temperature": 2, "language": "model", "default_language": "vi",
    "guardrail": {"model": "g", "max_tokens": 2, "fail": "open"}, "tasks": true,
    "search": {"server": "s", "tool": "t", "max_results": 10, "max_bytes": 100},
    "tools": {"allow": ["a*"], "rounds": 20, "max_bytes": 1000000}, "summary": "threshold",
    "prompts": {"vi": {"language": "l", "guardrail": ["g", "h"], "answer": "a", "refusal": "r", "summary": "s",
                       "shorter_summary": "t", "user": "u", "assistant": "v"}}})");
  agree(whole, true);
  // Each member: missing, of every other type, at its bounds and beyond them, with a word that is none of its own.
  std::vector<Json> values{true, 0, 1, 2, 10, 11, 20, 21, 99, 100, 1'000'000, 1'000'001, -1, 0.5, 2.5, "", "en", "vi"};
  for (const char* const word : {"runtime", "ollama", "openai", "script", "model", "none", "each_response", "threshold",
                                 "open", "closed", "x"}) {
    values.emplace_back(word);
  }
  for (const char* const text : {"[]", R"(["a"])", "[1]", "{}"}) values.push_back(Json::parse(text));
  const Json leaves = whole.flatten();
  for (const auto& [path, member] : leaves.items()) {
    for (Json::json_pointer at(path); !at.empty(); at.pop_back()) {
      CAPTURE(at.to_string());
      Json less = whole;
      Json& parent = less.at(at.parent_pointer());
      if (parent.is_array()) {
        parent.erase(std::stoul(at.back()));
      } else {
        parent.erase(at.back());
      }
      agree(less, complaint_of(less.dump()) == "none");
      for (const Json& value : values) {
        Json other = whole;
        other.at(at) = value;
        agree(other, complaint_of(other.dump()) == "none");
      }
    }
  }
  // What goes together, and what does not.
  const Json words = Json::parse(R"({"en":{"answer":"a"}})");
  const auto with = [&](const char* text) {
    Json profile{{"prompts", words}};
    profile.update(Json::parse(text));
    return profile;
  };
  agree(with("{}"), true);
  agree(with(R"({"provider":"ollama","url":"http://x","model":"m","key_file":"k"})"), true);
  agree(with(R"({"provider":"ollama","model":"m"})"), false);
  agree(with(R"({"provider":"openai","url":"http://x"})"), false);
  agree(with(R"({"provider":"openai","url":"http://x","model":"m","tools":{"allow":["a"]}})"), false);
  agree(with(R"({"url":"http://x"})"), false);
  agree(with(R"({"key_file":"k"})"), false);
  agree(with(R"({"guardrail":{}})"), false);
  agree(with(R"({"summary":"each_response"})"), false);
  agree(with(R"({"language":"model"})"), false);
  agree(with(R"({"default_language":"vi"})"), false);
  agree(with(R"({"default_language":"en"})"), true);
  agree(with(R"({"gardrail":{}})"), false);
  agree(with(R"({"prompts":{"fr":{"answer":"a"}}})"), false);
  agree(with(R"({"prompts":{}})"), false);
}

TEST_CASE("a profile's own model for the guardrail comes before that of the settings, which no answer is made by") {
  Profile profile{.model = "large"};
  CHECK(profile.model_for(Purpose::kGuardrail) == "large");
  CHECK(profile.model_for(Purpose::kSummary, "small") == "small");
  CHECK(profile.model_for(Purpose::kTask, "small") == "small");
  CHECK(profile.model_for(Purpose::kAnswer, "small") == "large");
  profile.guardrail = Guardrail{.model = "own"};
  CHECK(profile.model_for(Purpose::kLanguage, "small") == "own");
  CHECK(profile.model_for(Purpose::kShorterSummary, "small") == "small");
}
