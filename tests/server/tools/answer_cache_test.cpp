#include "tools/answer_cache.hpp"

#include "support/catch.hpp"

#include <chrono>
#include <string>

using namespace rkllm_mcp;
using namespace std::chrono_literals;

namespace {

const Clock::time_point kFirstKept = Clock::time_point() + 1h;

// With an object of two characters beside it.
ToolAnswer short_answer(const std::string& text) { return {text, Json::object()}; }

std::string kept_text(AnswerCache& cache, const std::string& question, Clock::time_point now = kFirstKept) {
  const auto found = cache.find(question, now);
  return found ? found->text : "(none)";
}

}  // namespace

TEST_CASE("an answer is found until its life is over, and takes no memory after that") {
  AnswerCache cache(1000, 10s);
  CHECK(kept_text(cache, "a") == "(none)");
  cache.keep("a", {"one", Json{{"n", 1}}}, kFirstKept);
  CHECK(cache.find("a", kFirstKept)->structured == Json{{"n", 1}});
  CHECK(kept_text(cache, "a", kFirstKept + 10s - 1ns) == "one");
  CHECK(cache.bytes() > 0);
  CHECK(kept_text(cache, "a", kFirstKept + 10s) == "(none)");
  CHECK(cache.bytes() == 0);
}

TEST_CASE("a newer answer to a question takes the place of the older one, and lives anew") {
  AnswerCache cache(1000, 10s);
  cache.keep("a", short_answer("old"), kFirstKept);
  const auto bytes = cache.bytes();
  cache.keep("a", short_answer("new"), kFirstKept + 9s);
  CHECK(cache.bytes() == bytes);
  CHECK(kept_text(cache, "a", kFirstKept + 18s) == "new");
}

TEST_CASE("where there is no room the answer goes that has not been asked for longest") {
  AnswerCache cache(3 * 9, 10s);  // three of two characters' question twice, five of text, two of the object
  for (const auto* question : {"a", "b", "c"}) cache.keep(question, short_answer("12345"), kFirstKept);
  CHECK(cache.bytes() == 27);
  CHECK(kept_text(cache, "a") == "12345");
  cache.keep("d", short_answer("12345"), kFirstKept);
  CHECK(kept_text(cache, "b") == "(none)");
  CHECK(kept_text(cache, "a") == "12345");
  CHECK(kept_text(cache, "c") == "12345");
  CHECK(kept_text(cache, "d") == "12345");
  CHECK(cache.bytes() == 27);
}

TEST_CASE("an answer that is larger than the cache is not kept, and drives out none but its predecessor") {
  AnswerCache cache(9, 10s);
  cache.keep("a", short_answer("12345"), kFirstKept);
  cache.keep("b", short_answer("123456"), kFirstKept);
  CHECK(kept_text(cache, "b") == "(none)");
  CHECK(kept_text(cache, "a") == "12345");
  cache.keep("a", short_answer("123456"), kFirstKept);
  CHECK(kept_text(cache, "a") == "(none)");  // what it says is not true any more
  CHECK(cache.bytes() == 0);
}

TEST_CASE("a cache whose answers live no time keeps none") {
  AnswerCache cache(1000, 0s);
  cache.keep("a", short_answer("one"), kFirstKept);
  CHECK(kept_text(cache, "a") == "(none)");
  CHECK(cache.bytes() == 0);
}
