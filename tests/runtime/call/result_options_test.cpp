#include "call/result_options.hpp"

#include "runtime/fake_backend.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <string>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

const Method& plain_method() { return kFakeMethods[0]; }
const Method& streaming_method() { return kFakeMethods[1]; }

// Where the options are refused; empty if they are taken.
std::string refused_option(Json params) {
  try {
    take_result_options(streaming_method(), params);
    return {};
  } catch (const InvalidParams& error) {
    return error.data()["path"].get<std::string>();
  }
}

}  // namespace

TEST_CASE("a call that streams takes how its results are wanted, and leaves the C parameters") {
  Json params{
      {"prompt", "x"}, {"include", {"token_id", "queue_position"}}, {"handle", "h"}, {"encoding", "base64"}, {"n", 1}};
  const auto options = take_result_options(streaming_method(), params);
  CHECK(options.encoding == ArrayEncoding::kBase64);
  CHECK(options.keep_tokens);
  CHECK(options.queue_position);
  CHECK(params.dump() == R"({"prompt":"x","handle":"h","n":1})");
}

TEST_CASE("what a call does not say of its results has its default, null and an empty list included") {
  for (Json params : {Json::object(), Json{{"encoding", nullptr}, {"include", nullptr}},
                      Json{{"encoding", "json"}, {"include", Json::array()}}}) {
    const auto options = take_result_options(streaming_method(), params);
    CHECK(options.encoding == ArrayEncoding::kJson);
    CHECK_FALSE(options.keep_tokens);
    CHECK_FALSE(options.queue_position);
    CHECK(params == Json::object());
  }
}

TEST_CASE("a call that does not stream has no such options: its parameters stay as they are") {
  Json params{{"include", 5}, {"encoding", "other"}};
  const Json before = params;
  CHECK_FALSE(take_result_options(plain_method(), params).keep_tokens);
  CHECK(params == before);
}

TEST_CASE("options of the wrong form are refused with their place") {
  for (const Json& encoding : {Json("BASE64"), Json(""), Json(5), Json::object(), Json(false)}) {
    CHECK(refused_option({{"encoding", encoding}}) == "params.encoding");
  }
  for (const Json& include : {Json("token_id"), Json(5), Json::object(), Json(true)}) {
    CHECK(refused_option({{"include", include}}) == "params.include");
  }
  CHECK(refused_option({{"include", {"token_id", "TOKEN_ID"}}}) == "params.include[1]");
  CHECK(refused_option({{"include", {nullptr}}}) == "params.include[0]");
  CHECK(refused_option({{"include", {"token_id", "token_id", Json::array({"token_id"})}}}) == "params.include[2]");
  CHECK(refused_option({{"include", {"queue_position", "queue_position"}}}).empty());
}

TEST_CASE("a member is taken once, and null is none") {
  Json object{{"a", 1}, {"b", nullptr}};
  CHECK(take_member(object, "a") == Json(1));
  CHECK_FALSE(take_member(object, "a"));
  CHECK_FALSE(take_member(object, "b"));
  CHECK(object == Json::object());
  for (Json other : {Json(nullptr), Json::array({"a"}), Json("a"), Json(5)}) CHECK_FALSE(take_member(other, "a"));
}
