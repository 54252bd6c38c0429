#include "chat/structured/json_prefix.hpp"

#include "support/catch.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

// An event as a word, with its text or value.
std::string word_of_event(const JsonEvent& event) {
  switch (event.kind) {
    case JsonEvent::Kind::kBeginObject: return "{";
    case JsonEvent::Kind::kEndObject: return "}";
    case JsonEvent::Kind::kBeginArray: return "[";
    case JsonEvent::Kind::kEndArray: return "]";
    case JsonEvent::Kind::kKey: return "key " + event.text;
    case JsonEvent::Kind::kBeginOfString: return "begin " + event.text;
    case JsonEvent::Kind::kScalar: return event.value.dump();
  }
  return "";
}

// A text that is read, and all that it consists of.
struct ReadPrefix {
  std::vector<std::string> events{};
  JsonPrefix prefix{[this](const JsonEvent& event) {
    events.push_back(word_of_event(event));
    return true;
  }};
};

bool is_json(const std::string& text) {
  ReadPrefix read;
  return read.prefix.feed(text) && read.prefix.finish();
}

bool may_become_json(const std::string& text) { return ReadPrefix().prefix.feed(text); }

}  // namespace

TEST_CASE("a text is told as what it consists of, in its order") {
  ReadPrefix read;
  CHECK(read.prefix.feed(R"( {"a" : [1, true, null, -2.5e1], "b":{}} )"));
  CHECK(read.prefix.finish());
  CHECK(read.events ==
        std::vector<std::string>{"{", "key a", "[", "1", "true", "null", "-25.0", "]", "key b", "{", "}", "}"});
}

TEST_CASE("a string is told from its beginning on, as long as it is short and has no escapes") {
  ReadPrefix read;
  CHECK(read.prefix.feed(R"("ab")"));
  CHECK(read.events == std::vector<std::string>{"begin ", "begin a", "begin ab", R"("ab")"});
  ReadPrefix escaped;
  CHECK(escaped.prefix.feed(R"("a\nb")"));
  CHECK(escaped.events == std::vector<std::string>{"begin ", "begin a", R"("a\nb")"});
}

TEST_CASE("a text says the same wherever it is cut") {
  const std::string text = R"({"é":["\u00e9\ud83d\ude00 ế", -0.5E+2, false]})";
  ReadPrefix whole;
  CHECK(whole.prefix.feed(text));
  ReadPrefix cut;
  for (const char byte : text) CHECK(cut.prefix.feed(std::string(1, byte)));
  CHECK(cut.events == whole.events);
  CHECK(cut.prefix.value_bytes() == text.size());
  CHECK(cut.prefix.is_complete());
}

TEST_CASE("what follows a whole value is not read, and does not count") {
  ReadPrefix read;
  CHECK_FALSE(read.prefix.is_complete());
  CHECK(read.prefix.feed(" [1]x{"));
  CHECK(read.prefix.is_complete());
  CHECK(read.prefix.value_bytes() == 4);
  CHECK(read.prefix.feed("]"));
  CHECK(read.prefix.finish());
  CHECK(read.events == std::vector<std::string>{"[", "1", "]"});
}

TEST_CASE("a number alone ends with the text or with space, and with nothing else") {
  ReadPrefix read;
  CHECK(read.prefix.feed("12"));
  CHECK_FALSE(read.prefix.is_complete());
  CHECK(read.events.empty());
  CHECK(read.prefix.finish());
  CHECK(read.events == std::vector<std::string>{"12"});
  CHECK(is_json("12 "));
  CHECK_FALSE(may_become_json("12,"));
  CHECK_FALSE(may_become_json("12]"));
}

TEST_CASE("what can no longer become JSON is refused at once, and stays refused") {
  for (const std::string text : {"x",    "nul0", "+1",  "01",    "-x",       ".5",       "1.x",
                                 "1e+x", "[1 2", "[,",  "[1,]",  "{1",       "{\"a\" 1", "{\"a\":1,}",
                                 "{]",   "[}",   "[1}", "\"\\x", "\"\\u12g", "\"a\nb",   "{\"a\":1,\"a\"",
                                 "'a'"}) {
    CAPTURE(text);
    ReadPrefix read;
    CHECK_FALSE(read.prefix.feed(text));
    const auto events = read.events;
    CHECK_FALSE(read.prefix.feed("[]"));
    CHECK_FALSE(read.prefix.finish());
    CHECK_FALSE(read.prefix.is_complete());
    CHECK(read.events == events);
  }
}

TEST_CASE("a text that ends within its value is none, though it might have become one") {
  for (const std::string text :
       {"", " ", "[", "[1", "[1,", "{", "{\"a\"", "{\"a\":", "\"a", "\"a\\", "tru", "-", "1.", "1e", "1e-"}) {
    CAPTURE(text);
    CHECK(may_become_json(text));
    CHECK_FALSE(is_json(text));
  }
}

TEST_CASE("a string has to be UTF-8, and a surrogate pair whole") {
  CHECK(is_json(R"("\ud83d\ude00")"));
  CHECK_FALSE(may_become_json(R"("\ud83d")"));
  CHECK_FALSE(may_become_json(R"({"\ud83d")"));
  CHECK_FALSE(may_become_json("\"\xFF\""));
  CHECK(may_become_json("\"\xC3"));
}

TEST_CASE("names are compared as what they mean, and within one object only") {
  CHECK_FALSE(may_become_json(R"({"a":1,"\u0061")"));
  CHECK(is_json(R"({"a":{"a":1},"b":[{"a":1},{"a":1}]})"));
}

TEST_CASE("what is refused by whoever hears it ends the text") {
  std::size_t heard = 0;
  JsonPrefix prefix([&heard](const JsonEvent& event) {
    ++heard;
    return event.kind != JsonEvent::Kind::kKey;
  });
  CHECK_FALSE(prefix.feed(R"({"a":1})"));
  CHECK_FALSE(prefix.feed(R"("b":2})"));
  CHECK_FALSE(prefix.finish());
  CHECK(heard == 2);
}

TEST_CASE("space, digits and depth have an end, and up to it they are right") {
  CHECK(is_json(std::string(512, ' ') + "[" + std::string(512, '\n') + "]"));
  CHECK_FALSE(may_become_json(std::string(513, ' ')));
  CHECK(is_json("[0." + std::string(398, '1') + "]"));
  CHECK_FALSE(may_become_json("[0." + std::string(399, '1')));
  CHECK_FALSE(may_become_json(std::string(10'000, '[')));
}
