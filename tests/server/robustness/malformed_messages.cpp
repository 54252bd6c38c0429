#include "malformed_messages.hpp"

#include <array>
#include <initializer_list>
#include <string_view>

namespace rkllm_mcp::test {
namespace {

constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParams = -32602;
constexpr int kUnknownHandle = 4002;
constexpr int kTooLarge = 4006;

struct Source {
  std::mt19937& random;
  std::string id;
  std::size_t limit;

  std::size_t below(std::size_t bound) const { return random() % bound; }
  std::string one_of(std::initializer_list<std::string_view> choices) const {
    return std::string(choices.begin()[below(choices.size())]);
  }
  std::string letters(std::size_t count) const {
    std::string text(count, 'a');
    for (char& letter : text) letter = static_cast<char>('a' + below(26));
    return text;
  }
  std::string call(const std::string& method, const std::string& params) const {
    return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"(","params":)" + params + "}";
  }
};

using Kind = MalformedMessage (*)(const Source&);

MalformedMessage unfinished(const Source& source) {
  const std::string whole = source.call("ping", R"({"x":[1,"two",{"three":null}]})");
  return {whole.substr(0, 1 + source.below(whole.size() - 1)), "null", kParseError};
}

MalformedMessage more_than_one(const Source& source) {
  return {source.call("ping", "{}") + source.one_of({"}", "]", ",", "{}", "null", source.call("ping", "{}")}), "null",
          kParseError};
}

MalformedMessage noise(const Source& source) {
  std::string text = "!";
  while (text.size() < 2 + source.below(200)) text += static_cast<char>(' ' + source.below(0x7F - ' '));
  return {text, "null", kParseError};
}

MalformedMessage not_a_value(const Source& source) {
  const std::string value = source.one_of({"NaN", "-Infinity", "0x10", "01", "+1", ".5", "1.", "1e", "1e999", "-1e400",
                                           "'x'", "tru", "nul", R"("\u12")", R"("\x41")", R"("\ud800")",
                                           std::string_view("\"\0\"", 3), "\"\t\"", std::string(400, '9')});
  return {source.call("ping", "{\"x\":" + value + "}"), "null", kParseError};
}

MalformedMessage not_utf8(const Source& source) {
  const std::string bytes = source.one_of({"\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf0\x9f\x98", "\xf4\x90\x80\x80",
                                           "\x80", "\xe2\x82", "\xf8\x88\x80\x80\x80"});
  return {source.call("ping", "{\"x\":\"" + source.letters(source.below(50)) + bytes + "\"}"), "null", kParseError,
          false};
}

MalformedMessage too_deep(const Source& source) {
  const std::size_t depth = 65 + source.below(900);
  const bool closed = source.below(2) == 0;
  const std::string nest =
      source.below(2) == 0 ? std::string(depth, '[') + (closed ? std::string(depth, ']') : "") : [&] {
        std::string objects;
        for (std::size_t i = 0; i < depth; ++i) objects += R"({"a":)";
        return objects + "1" + (closed ? std::string(depth, '}') : "");
      }();
  return {source.call("ping", "{\"x\":" + nest + "}"), "null", kInvalidRequest};
}

MalformedMessage wrong_id(const Source& source) {
  const std::string id = source.one_of({"null", "true", "false", "[]", "{}", "[1]", R"({"id":1})",
                                        std::string(300, '7'), "\"" + source.letters(300) + "\""});
  return {.text = R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"ping"})",
          .id = "null",
          .code = kInvalidRequest,
          .wrong_over_http = id != "null"};
}

MalformedMessage no_request(const Source& source) {
  return {source.one_of({"{\"id\":" + source.id + R"(,"method":"ping"})",
                         R"({"jsonrpc":"1.0","method":"ping","id":)" + source.id + "}",
                         R"({"jsonrpc":2.0,"method":"ping","id":)" + source.id + "}",
                         R"({"jsonrpc":"2.0","id":)" + source.id + "}",
                         R"({"jsonrpc":"2.0","method":7,"id":)" + source.id + "}",
                         R"({"jsonrpc":"2.0","method":null,"id":)" + source.id + "}",
                         R"({"jsonrpc":"2.0","result":1,"error":{},"id":)" + source.id + "}", source.call("ping", "5"),
                         source.call("ping", R"("x")"), source.call("ping", "true")}),
          source.id, kInvalidRequest};
}

MalformedMessage no_object(const Source& source) {
  return {source.one_of({"0", "-1.5e3", "\"ping\"", "null", "true", "{}", R"({"a":1})"}), "null", kInvalidRequest};
}

MalformedMessage batch(const Source& source) {
  std::string text = "[";
  for (std::size_t left = source.below(20); left > 0; --left) {
    text += source.call("ping", "{}") + (left > 1 ? "," : "");
  }
  return {text + "]", "null", kInvalidRequest};
}

MalformedMessage said_twice(const Source& source) {
  return {source.one_of({R"({"jsonrpc":"2.0","id":1,"id":2,"method":"ping"})",
                         R"({"jsonrpc":"2.0","id":1,"method":"ping","method":"rkllm_destroy"})",
                         source.call("rkllm_destroy", R"({"handle":"a","handle":"llm-1"})"),
                         source.call("ping", R"({"x":{"y":[{"z":1,"z":1}]}})")}),
          "null", kInvalidRequest};
}

MalformedMessage oversize(const Source& source) {
  std::string text =
      source.call("ping", R"({"x":")" + std::string(source.limit + source.below(source.limit), 'x') + "\"}");
  return {std::move(text), "null", kTooLarge};
}

MalformedMessage no_method(const Source& source) {
  return {source.call(source.one_of({"", "rkllm_", "rkllm_runn", "pinG", "ping\\u0000", "\\ud83d\\ude00", "../run",
                                     source.letters(1 + source.below(2000))}),
                      "{}"),
          source.id, kMethodNotFound};
}

MalformedMessage wrong_params(const Source& source) {
  const std::string params =
      source.one_of({R"({"handle":7})", R"({"handle":null,"x":1})", R"({"handle":["llm-1"]})", R"({"hndle":"llm-1"})",
                     R"([1,2,3])", R"({"handle":"llm-1","userdata":5})", R"({"":"llm-1"})"});
  return {source.call("rkllm_is_running", params), source.id, kInvalidParams};
}

MalformedMessage wrong_input(const Source& source) {
  const std::string input = source.one_of(
      {"7", R"("Hello")", "[]", R"({"prompt_input":7})", R"({"prompt_input":"a\u0000b"})", R"({"prompt":"Hello"})",
       R"({"input_type":"RKLLM_INPUT_NOTHING"})", R"({"input_type":99999999999999999999})",
       R"({"input_type":"RKLLM_INPUT_EMBED","embed_input":{"embed":{"base64":"?","dtype":"float32"},"n_tokens":1}})"});
  return {source.call("rkllm_run", R"({"handle":"llm-1","rkllm_input":)" + input + "}"), source.id, kInvalidParams};
}

MalformedMessage unknown_handle(const Source& source) {
  return {source.call(
              source.one_of({"rkllm_is_running", "rkllm_abort", "rkllm_destroy"}),
              R"({"handle":")" + source.one_of({"", "llm-0", "llm-99", "LLM-1", "llm-18446744073709551617"}) + "\"}"),
          source.id, kUnknownHandle};
}

MalformedMessage unasked_answer(const Source& source) {
  return {source.one_of({R"({"jsonrpc":"2.0","result":{},"id":)" + source.id + "}",
                         R"({"jsonrpc":"2.0","error":{"code":1,"message":"x"},"id":)" + source.id + "}",
                         R"({"jsonrpc":"2.0","error":"x"})"}),
          "", std::nullopt};
}

MalformedMessage unknown_notification(const Source& source) {
  return {
      R"({"jsonrpc":"2.0","method":")" +
          source.one_of(
              {"", "x", "notifications/", "notifications/cancelled", "rkllm_is_running", source.letters(100)}) +
          R"(","params":)" +
          source.one_of({"[]", R"({"requestId":{}})", R"({"requestId":)" + source.id + "}", R"({"handle":"nobody"})"}) +
          "}",
      "", std::nullopt};
}

constexpr std::array<Kind, 18> kKinds{
    unfinished, more_than_one, noise,       not_a_value,    not_utf8,       too_deep,
    wrong_id,   no_request,    no_object,   batch,          said_twice,     oversize,
    no_method,  wrong_params,  wrong_input, unknown_handle, unasked_answer, unknown_notification};

}  // namespace

MalformedMessage MalformedMessages::next() {
  const auto kind = kKinds[random_() % kKinds.size()];
  return kind({random_, std::to_string(++id_), limit_});
}

}  // namespace rkllm_mcp::test
