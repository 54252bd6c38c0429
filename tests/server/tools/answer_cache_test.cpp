#include "tools/answer_cache.hpp"

#include "support/catch.hpp"

#include <chrono>
#include <cstddef>
#include <string>

namespace rkllm_mcp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kPlenty = std::size_t{1} << 20U;
constexpr Clock::time_point kBegin{};

ToolAnswer answer_with(const std::string& text) { return {text, Json{{"said", text}}}; }

// What the cache counts for one answer.
std::size_t bytes_of(const std::string& question, const ToolAnswer& answer) {
  AnswerCache cache(kPlenty, seconds(10));
  cache.keep(question, answer, kBegin);
  return cache.bytes();
}

}  // namespace

TEST_CASE("an answer that was kept is found by its question, whole, and by no other") {
  AnswerCache cache(kPlenty, seconds(10));
  CHECK_FALSE(cache.find("q", kBegin));
  cache.keep("q", answer_with("a"), kBegin);
  const auto found = cache.find("q", kBegin);
  REQUIRE(found);
  CHECK(found->text == "a");
  CHECK(found->structured == Json{{"said", "a"}});
  CHECK_FALSE(cache.find("q ", kBegin));
  CHECK_FALSE(cache.find("", kBegin));
}

TEST_CASE("an answer is kept for its life and no longer, however often it is asked for") {
  AnswerCache cache(kPlenty, seconds(10));
  cache.keep("q", answer_with("a"), kBegin);
  CHECK(cache.find("q", kBegin + seconds(5)));
  CHECK(cache.find("q", kBegin + seconds(10) - milliseconds(1)));
  CHECK_FALSE(cache.find("q", kBegin + seconds(10)));
  CHECK(cache.bytes() == 0);
}

TEST_CASE("a newer answer to the same question replaces the older one, and lives as long as any") {
  AnswerCache cache(kPlenty, seconds(10));
  cache.keep("q", answer_with("first, and longer"), kBegin);
  cache.keep("q", answer_with("second"), kBegin + seconds(5));
  CHECK(cache.bytes() == bytes_of("q", answer_with("second")));
  const auto found = cache.find("q", kBegin + seconds(14));
  REQUIRE(found);
  CHECK(found->text == "second");
}

TEST_CASE("where there is no room, the answer that has not been asked for longest goes") {
  AnswerCache cache(2 * bytes_of("1", answer_with("a")), seconds(10));
  cache.keep("1", answer_with("a"), kBegin);
  cache.keep("2", answer_with("b"), kBegin);
  CHECK(cache.find("1", kBegin));
  cache.keep("3", answer_with("c"), kBegin);
  CHECK(cache.find("1", kBegin));
  CHECK_FALSE(cache.find("2", kBegin));
  CHECK(cache.find("3", kBegin));
}

TEST_CASE("as many go as a large answer needs room") {
  const auto large = answer_with(std::string(100, 'x'));
  AnswerCache cache(bytes_of("4", large) + bytes_of("3", answer_with("c")), seconds(10));
  for (const std::string question : {"1", "2", "3"}) cache.keep(question, answer_with("c"), kBegin);
  cache.keep("4", large, kBegin);
  CHECK_FALSE(cache.find("1", kBegin));
  CHECK_FALSE(cache.find("2", kBegin));
  CHECK(cache.find("3", kBegin));
  CHECK(cache.find("4", kBegin));
  CHECK(cache.bytes() == bytes_of("4", large) + bytes_of("3", answer_with("c")));
}

TEST_CASE("an answer as large as the cache is kept, and one that is a byte larger leaves the others where they are") {
  AnswerCache cache(bytes_of("q", answer_with("12345")), seconds(10));
  cache.keep("q", answer_with("12345"), kBegin);
  CHECK(cache.find("q", kBegin));
  // The text is there twice: once for people and once for programs.
  cache.keep("Q", {"123456", Json{{"said", "12345"}}}, kBegin);
  CHECK_FALSE(cache.find("Q", kBegin));
  CHECK(cache.find("q", kBegin));
}

TEST_CASE("an answer that is out of date is not given because the newer one has no room") {
  AnswerCache cache(bytes_of("q", answer_with("12345")), seconds(10));
  cache.keep("q", answer_with("12345"), kBegin);
  cache.keep("q", answer_with("123456"), kBegin);
  CHECK_FALSE(cache.find("q", kBegin));
  CHECK(cache.bytes() == 0);
}

TEST_CASE("answers without a life are not kept") {
  AnswerCache cache(kPlenty, seconds(0));
  cache.keep("q", answer_with("a"), kBegin);
  CHECK(cache.bytes() == 0);
  CHECK_FALSE(cache.find("q", kBegin));
}

}  // namespace rkllm_mcp
