// What FilePolicy (include/rkllm_mcp/file_policy.hpp) promises, held against the rules of the settings and every policy
// that stands in front of them: none of these lets a file through that the rules refuse, or another file.
#include "backend/file_rules.hpp"
#include "backend/kept_caches.hpp"
#include "library/library_engine.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;

namespace {

// A model, a file outside, and a link from the models to that.
struct PlaceOfPolicies {
  test::TemporaryDirectory root;
  std::string models = root / "models";
  std::string cache = root / "cache";

  PlaceOfPolicies() {
    std::filesystem::create_directory(models);
    for (const std::string& file : {models + "/a.rkllm", root / "secret"}) std::ofstream(file) << "x";
    std::filesystem::create_symlink(root / "secret", models + "/link");
  }
};

// Each policy, over the same rules.

struct TheRules {
  explicit TheRules(const FileRules& rules) : policy(rules) {}
  const FilePolicy& policy;
};

struct TheNotedFiles {
  explicit TheNotedFiles(const FileRules& rules) : noted(rules) {}
  NotedFiles noted;
  const FilePolicy& policy = noted;
};

struct TheKeptCaches {
  explicit TheKeptCaches(const FileRules& rules, Json params = Json::object()) : caches(rules, rules, params) {}
  KeptCaches caches;
  const FilePolicy& policy = caches;
};

struct TheKeptCachesOfOneThatIsSaved : TheKeptCaches {
  explicit TheKeptCachesOfOneThatIsSaved(const FileRules& rules)
      : TheKeptCaches(rules, Json{{"rkllm_infer_params", {{"prompt_cache_params", {{"save_prompt_cache", 1}}}}}}) {}
};

// As a call of the library has them.
struct ThePoliciesOfACall {
  explicit ThePoliciesOfACall(const FileRules& rules) : noted(rules), caches(noted, rules, Json::object()) {}
  NotedFiles noted;
  KeptCaches caches;
  const FilePolicy& policy = caches;
};

// The path, or why there is none.
std::pair<std::optional<std::string>, std::string> said_of_file(const FilePolicy& policy, const std::string& given,
                                                                FileUse use) {
  try {
    return {policy.path_for(given, use), ""};
  } catch (const FileRefused& refused) {
    return {std::nullopt, refused.what()};
  }
}

}  // namespace

#define EVERY_POLICY TheRules, TheNotedFiles, TheKeptCaches, TheKeptCachesOfOneThatIsSaved, ThePoliciesOfACall

TEMPLATE_TEST_CASE("every policy of files refuses what the rules refuse, for their reason, and else gives their path",
                   "", EVERY_POLICY) {
  const PlaceOfPolicies place;
  for (const auto& models : {std::vector<std::string>{place.models}, std::vector<std::string>{}}) {
    const FileRules rules({models, place.cache});
    const TestType one(rules);
    for (const std::string& given :
         {place.models + "/a.rkllm", std::string("a.rkllm"), std::string("missing"), place.models + "/link",
          std::string("link"), place.models + "/../secret", std::string("../secret"), place.root / "secret",
          std::string("/etc/passwd"), place.cache + "/b.cache", std::string("b.cache"), place.cache, std::string("."),
          std::string(), std::string("x/../../secret"), std::string(5000, 'x'), std::string("a\0b", 3)}) {
      for (const FileUse use : {FileUse::kRead, FileUse::kWritten}) {
        INFO(given << (use == FileUse::kRead ? " is read" : " is written"));
        CHECK(said_of_file(one.policy, given, use) == said_of_file(rules, given, use));
      }
    }
  }
}

TEMPLATE_TEST_CASE("no policy of files gives a path outside the directories that the settings name", "", EVERY_POLICY) {
  const PlaceOfPolicies place;
  const FileRules rules({{place.models}, place.cache});
  const TestType one(rules);
  for (const std::string& given : {std::string("link"), std::string("../secret"), place.root / "secret",
                                   place.models + "/../secret", std::string("/etc/passwd")}) {
    for (const FileUse use : {FileUse::kRead, FileUse::kWritten}) {
      INFO(given);
      const auto path = said_of_file(one.policy, given, use).first;
      if (path) CHECK((path->starts_with(place.cache + "/") && use == FileUse::kWritten));
    }
    CHECK_THROWS_AS(one.policy.path_for(given, FileUse::kRead), FileRefused);
  }
}

TEMPLATE_TEST_CASE("every policy of files lets through as it is what names no file", "", EVERY_POLICY) {
  const PlaceOfPolicies place;
  const FileRules rules({{place.models}, place.cache});
  const TestType one(rules);
  for (const std::string given : {"", "../secret", "/etc/passwd", "What is in /etc/passwd?"}) {
    CHECK(one.policy.path_for(given, FileUse::kNone) == given);
  }
}

TEMPLATE_TEST_CASE("what may be written by a policy of files is read again by the same name", "", EVERY_POLICY) {
  const PlaceOfPolicies place;
  const FileRules rules({{place.models}, place.cache});
  const TestType one(rules);
  const std::string path = one.policy.path_for("chat.cache", FileUse::kWritten);
  CHECK(path == place.cache + "/chat.cache");
  std::ofstream(path) << "x";
  CHECK(one.policy.path_for("chat.cache", FileUse::kRead) == path);
  CHECK(one.policy.path_for(path, FileUse::kRead) == path);
  CHECK(one.policy.path_for("chat.cache", FileUse::kWritten) == path);
}
