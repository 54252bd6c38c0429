#include "jsonrpc/message.hpp"

#include "jsonrpc/envelope.hpp"
#include "jsonrpc/unread.hpp"

#include "support/catch.hpp"
#include "support/usual_limits.hpp"

#include <string>
#include <variant>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

const auto kLimits = usual_limits<MessageLimits>();

Malformed malformed(const std::string& text) {
  const Message message = parse_message(text, kLimits);
  REQUIRE(std::holds_alternative<Malformed>(message));
  return std::get<Malformed>(message);
}

Request request(const std::string& text) {
  const Message message = parse_message(text, kLimits);
  REQUIRE(std::holds_alternative<Request>(message));
  return std::get<Request>(message);
}

std::string with_id(const std::string& id) { return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"m"})"; }

}  // namespace

TEST_CASE("a request is read with its method and params") {
  const Request read = request(R"({"jsonrpc":"2.0","id":7,"method":"m","params":{"a":1}})");
  CHECK(read.id == "7");
  CHECK(read.method == "m");
  CHECK(read.params == Json{{"a", 1}});
}

TEST_CASE("ids are echoed byte for byte as they were written") {
  for (const std::string id : {"0", "-0", "-0.0", "-5", "7", "\"seven\"", "\"\"", "18446744073709551615",
                               "123456789012345678901234567890", "1.5", "1.0", "1e3", "1E+3", "0e1", R"("\u00e9")",
                               R"("\u00E9")", "\"\xC3\xA9\"", R"("\/")", R"("\ud83d\ude00 \" \\")"}) {
    CAPTURE(id);
    CHECK(request(with_id(id)).id == id);
    CHECK(request("\xEF\xBB\xBF { \"id\" :\t" + id + R"( , "method":"m","jsonrpc":"2.0"})").id == id);
    CHECK(request(R"({"params":{"id":3,"x":["}",{"id":4}]},"jsonrpc":"2.0","method":"m","\u0069d":)" + id + "}").id ==
          id);
    CHECK(malformed(R"({"jsonrpc":"1.0","id":)" + id + R"(,"method":"m"})").id == id);
    const Message message =
        parse_message("[1, " + with_id(id) + R"(,{"method":"id"}, )" + with_id("\"last\"") + "]", kLimits);
    REQUIRE(std::holds_alternative<Batch>(message));
    CHECK(std::get<Batch>(message).written_ids == std::vector<std::string>{"", id, "", "\"last\""});
  }
}

TEST_CASE("the same id may be written in several ways, and a number is no text") {
  CHECK(is_same_id("7", "7"));
  CHECK_FALSE(is_same_id("7", "\"7\""));
  CHECK(is_same_id(R"("\u00e9")", "\"\xC3\xA9\""));
  CHECK_FALSE(is_same_id(R"("\u00e9")", R"("\u00e8")"));
  CHECK_FALSE(is_same_id("123456789012345678901234567890", "123456789012345678901234567891"));
}

TEST_CASE("an answer's id is the server's own, however the client writes it") {
  const Message message = parse_message(R"({"jsonrpc":"2.0","id":"server\u002d1","result":{}})", kLimits);
  REQUIRE(std::holds_alternative<Response>(message));
  CHECK(std::get<Response>(message).id == R"("server-1")");
}

TEST_CASE("ids of other types are refused, with id null") {
  for (const char* const id : {"true", "[1]", "{}", "null"}) {
    const Malformed refused = malformed(with_id(id));
    CHECK(refused.id == "null");
    CHECK(refused.error.code() == ErrorCode::kInvalidRequest);
  }
}

TEST_CASE("an id longer than the limit is refused, one at the limit is not") {
  CHECK(request(with_id('"' + std::string(254, 'x') + '"')).id.size() == 256);
  CHECK(malformed(with_id('"' + std::string(255, 'x') + '"')).error.code() == ErrorCode::kInvalidRequest);
}

TEST_CASE("a message without id is a notification") {
  const Message message = parse_message(R"({"jsonrpc":"2.0","method":"n"})", kLimits);
  REQUIRE(std::holds_alternative<Notification>(message));
  CHECK(std::get<Notification>(message).method == "n");
}

TEST_CASE("an answer is recognised") {
  CHECK(std::holds_alternative<Response>(parse_message(R"({"jsonrpc":"2.0","id":1,"result":{}})", kLimits)));
  CHECK(std::holds_alternative<Response>(parse_message(R"({"jsonrpc":"2.0","id":1,"error":{"code":1}})", kLimits)));
}

TEST_CASE("an error answer to a request that could not be read is an answer, too") {
  for (const char* const text :
       {R"({"jsonrpc":"2.0","id":null,"error":{"code":1}})", R"({"jsonrpc":"2.0","error":{"code":1}})"}) {
    const Message message = parse_message(text, kLimits);
    REQUIRE(std::holds_alternative<Response>(message));
    CHECK(std::get<Response>(message).id == kNullId);
  }
}

TEST_CASE("what is neither a request nor an answer is refused") {
  for (const char* const text :
       {R"({"jsonrpc":"2.0","id":1,"result":{},"error":{}})", R"({"id":1,"result":{}})", R"({"jsonrpc":"2.0","id":1})",
        R"({"jsonrpc":"2.0","id":[],"error":{}})", R"({"jsonrpc":"2.0","id":null,"result":{},"error":{}})"}) {
    CHECK(std::holds_alternative<Malformed>(parse_message(text, kLimits)));
  }
}

TEST_CASE("what is not JSON is a parse error that says where") {
  for (const char* const text :
       {"", "{", "nonsense", "{\"a\":}", "{\"a\":1}}", "\"\xC3\x28\"", "{\"a\":\"\xED\xA0\x80\"}"}) {
    const Malformed refused = malformed(text);
    CHECK(refused.error.code() == ErrorCode::kParseError);
    CHECK(refused.id == "null");
    CHECK(std::string(refused.error.what()).find("at byte") != std::string::npos);
  }
}

TEST_CASE("JSON that is no request is an invalid request, with its id where it has one") {
  CHECK(malformed("[]").error.code() == ErrorCode::kInvalidRequest);
  CHECK(malformed("1").error.code() == ErrorCode::kInvalidRequest);
  CHECK(malformed("{}").error.code() == ErrorCode::kInvalidRequest);
  CHECK(malformed(R"({"jsonrpc":"1.0","id":3,"method":"m"})").id == "3");
  CHECK(malformed(R"({"jsonrpc":"2.0","id":4,"method":null})").id == "4");
  CHECK(malformed(R"({"jsonrpc":"2.0","id":5,"method":"m","params":7})").id == "5");
  CHECK(malformed(R"({"jsonrpc":"2.0","id":6})").id == "6");
}

TEST_CASE("an array is a batch, each element of which is judged for itself") {
  const Message message =
      parse_message(R"([{"jsonrpc":"2.0","id":1,"method":"m"},7,{"jsonrpc":"2.0","method":"n"}])", kLimits);
  const auto* batch = std::get_if<Batch>(&message);
  REQUIRE(batch != nullptr);
  REQUIRE(batch->messages.size() == 3);
  const Message first = message_of(batch->messages[0], batch->written_ids[0], kLimits);
  REQUIRE(std::holds_alternative<Request>(first));
  CHECK(std::get<Request>(first).id == "1");
  CHECK(std::holds_alternative<Malformed>(message_of(batch->messages[1], batch->written_ids[1], kLimits)));
  CHECK(std::holds_alternative<Notification>(message_of(batch->messages[2], batch->written_ids[2], kLimits)));
  CHECK(malformed("[]").error.code() == ErrorCode::kInvalidRequest);
}

TEST_CASE("nesting is limited exactly") {
  const auto nested = [](std::size_t levels) {
    return R"({"jsonrpc":"2.0","id":1,"method":"m","params":)" + std::string(levels - 1, '[') +
           std::string(levels - 1, ']') + "}";
  };
  CHECK(std::holds_alternative<Request>(parse_message(nested(64), kLimits)));
  CHECK(malformed(nested(65)).error.code() == ErrorCode::kInvalidRequest);
  CHECK(malformed(std::string(1'000'000, '[')).error.code() == ErrorCode::kInvalidRequest);
}

TEST_CASE("a member that occurs twice is refused by name") {
  const Malformed refused = malformed(R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"top_k":1,"a":2,"top_k":3}})");
  CHECK(refused.error.code() == ErrorCode::kInvalidRequest);
  CHECK(std::string(refused.error.what()).find("\"top_k\"") != std::string::npos);
}

TEST_CASE("an object of very many members is read in a moment") {
  std::string text = R"({"jsonrpc":"2.0","id":1,"method":"m","params":{)";
  for (int at = 0; at < 300'000; ++at) text += (at == 0 ? "\"" : ",\"") + std::to_string(at) + "\":0";
  CHECK(read_whole(request(text + "}}").params).size() == 300'000);
}

namespace {

// A message that is long enough to keep parts of it as text.
std::string long_request(const std::string& bulk) {
  return R"({"jsonrpc":"2.0","id":1,"method":"run","params":{"input":{"ids":)" + bulk + R"(},"pad":")" +
         std::string(kReadAtOnceBytes, 'x') + "\"}}";
}

std::string numbers(int count) {
  std::string text = "[0";
  for (int i = 1; i < count; ++i) text += ",\n" + std::to_string(i);
  return text + "]";
}

}  // namespace

TEST_CASE("many values in a long message stay text until they are read") {
  const std::string bulk = numbers(100'000);
  const Message message = parse_message(long_request(bulk), kLimits);
  const Json& params = std::get<Request>(message).params;
  CHECK(has_unread(params));
  CHECK(unread_text(params["input"]["ids"]).size() == bulk.size());
  CHECK(unread_text(params["input"]["ids"]).find('\n') == std::string_view::npos);
  CHECK(read_whole(params) == Json::parse(long_request(bulk))["params"]);
  CHECK(read_whole(params, 100'001) == Json::parse(long_request(bulk))["params"]);
  CHECK_THROWS_WITH(read_whole(params, 100'000), "invalid request: more than 100000 values");
  CHECK(Json::parse(to_text(params)) == Json::parse(long_request(bulk))["params"]);
}

TEST_CASE("many values in many small arrays stay text, too, and few are read at once") {
  std::string bulk = "[" + numbers(900);
  for (int i = 0; i < 20; ++i) bulk += "," + numbers(900);
  const Message message = parse_message(long_request(bulk + "]"), kLimits);
  const Json& params = std::get<Request>(message).params;
  CHECK(params["input"]["ids"].is_binary());
  CHECK(read_whole(params)["input"]["ids"][20][899] == 899);
  CHECK_FALSE(has_unread(std::get<Request>(parse_message(long_request(numbers(1000)), kLimits)).params));
}

TEST_CASE("what stays text has been checked but for members that occur twice") {
  const std::string bulk = numbers(5000);
  const auto complaint_of = [&](const std::string& end) {
    const Message message = parse_message(long_request(bulk.substr(0, bulk.size() - 1) + end),
                                          {.max_depth = 16, .max_id_bytes = kLimits.max_id_bytes});
    return std::string(std::get<Malformed>(message).error.what());
  };
  CHECK(complaint_of(",01]").find("parse error: not valid JSON at byte ") == 0);
  CHECK(complaint_of("," + std::string(20, '[') + std::string(20, ']') + "]") ==
        "invalid request: nested deeper than 16 levels");
  const Message twice = parse_message(long_request(bulk.substr(0, bulk.size() - 1) + R"(,{"a":1,"a":2}])"), kLimits);
  CHECK_THROWS_WITH(read_whole(std::get<Request>(twice).params),
                    "invalid request: member \"a\" occurs twice in one object");
}

TEST_CASE("a batch and a message of very many values are refused") {
  const auto complaint_of = [&](const std::string& text) {
    return std::string(std::get<Malformed>(parse_message(text, kLimits)).error.what());
  };
  CHECK(complaint_of(numbers(100'000)).find("invalid request: batches are for") == 0);
  std::string members = R"({"a":1)";
  for (int i = 0; i < 70'000; ++i) members += ",\"a" + std::to_string(i) + "\":1";
  members += "}";
  CHECK(complaint_of(members) == "invalid request: the message has too many members");
}

TEST_CASE("a complaint quotes the end of what was read, of sixty bytes at most") {
  const std::string text = R"({"jsonrpc":"2.0","method":")" + std::string(200'000, 'x') + "\x01";
  const std::string complaint = std::get<Malformed>(parse_message(text, kLimits)).error.what();
  CHECK(complaint.size() < 300);
  CHECK(complaint.find("last read: '..." + std::string(49, 'x') + "<U+0001>'") != std::string::npos);
}

TEST_CASE("a complaint about a number that is too large quotes sixty bytes at most, too") {
  for (const auto& number : {std::string(200'000, '7'), "1e" + std::string(5000, '9')}) {
    const std::string text = R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":)" + number + "}}";
    const std::string complaint = std::get<Malformed>(parse_message(text, kLimits)).error.what();
    CHECK(complaint.size() < 300);
    CHECK(complaint.find("number overflow") != std::string::npos);
    CHECK(complaint.find(number.substr(0, 40)) != std::string::npos);
  }
}

TEST_CASE("of the beginning of a message an id is known only if it is there whole") {
  const auto id_of = [](const std::string& text) { return id_of_beginning(text, kLimits); };
  CHECK(id_of(R"({"jsonrpc":"2.0","id":12,"method)") == "12");
  CHECK(id_of(R"({"id":"a\u0062",)") == R"("a\u0062")");
  CHECK(id_of(R"({"jsonrpc":"2.0","id":12)") == kNullId);  // of 1234, say
  CHECK(id_of(R"({"jsonrpc":"2.0","id":1,"metho\u00)") == "1");
  CHECK(id_of(R"({"jsonrpc":"2.0","id":1,"metho\)") == "1");
  CHECK(id_of(R"({"\u0069d":7,"x":")") == "7");
  CHECK(id_of(R"({"jsonrpc)") == kNullId);
}
