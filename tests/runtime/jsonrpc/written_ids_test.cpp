#include "jsonrpc/message.hpp"

#include "support/catch.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

using namespace rkllm_mcp;

namespace {

using IdTexts = std::vector<std::string>;

// Everything that is text of JSON values but hard to tell from what stands around it.
const std::vector<std::string> kOddlyWrittenIds{"7",
                                                "-0",
                                                "1e2",
                                                "123456789012345678901234567890",
                                                "\"\"",
                                                R"("\u00e9")",
                                                R"("a\"b")",
                                                R"("\\")",
                                                R"("},]")",
                                                "\"id\"",
                                                R"("a b, \"id\": 3")",
                                                "null",
                                                "true",
                                                R"([1,{"id":2},"]"])",
                                                R"({"id":{"id":1}})"};

}  // namespace

TEST_CASE("the id of an object is told as it is written, wherever it stands and whatever stands around it") {
  for (const std::string& id : kOddlyWrittenIds) {
    CAPTURE(id);
    CHECK(written_ids("{\"id\":" + id + "}") == IdTexts{id});
    CHECK(written_ids("{\"id\":" + id + R"(,"method":"m"})") == IdTexts{id});
    CHECK(written_ids(R"({"method":"m","id":)" + id + "}") == IdTexts{id});
    CHECK(written_ids("\xEF\xBB\xBF \r\n{\t\"id\" :\r\n" + id + " \t} \n") == IdTexts{id});
  }
}

TEST_CASE("an object without an id has an empty one, and what is deeper inside or only looks like it is none") {
  for (const char* const text :
       {"{}", " { } ", R"({"method":"m"})", R"({"method":"id"})", R"({"params":{"id":1}})",
        R"({"params":[{"id":1}],"result":{"a":{"id":2}}})", R"({"ids":1,"Id":2,"i":3,"d":4,"":5,"\"id":6})",
        R"({"text":"\"id\":7","more":"{\"id\":8}"})", R"({"\\u0069d":9})"}) {
    CAPTURE(text);
    CHECK(written_ids(text) == IdTexts{""});
  }
}

TEST_CASE("the id is found behind values of every kind") {
  for (const char* const value :
       {"0", "-1.5e+3", "true", "null", "\"\"", R"("\\")", R"("\"")", R"("\\\"")", R"("{")", R"("]")", "[]", "{}",
        R"([[],[{}],"]"])", R"({"a":{"b":[1,2,{"c":"}"}]}})", R"([1 , 2 ])"}) {
    CAPTURE(value);
    CHECK(written_ids(std::string(R"({"before":)") + value + R"(,"id":5})") == IdTexts{"5"});
    CHECK(written_ids(std::string(R"({ "before" : )") + value + R"( , "id" : 5 })") == IdTexts{"5"});
  }
}

TEST_CASE("the name of an id may be written with escapes") {
  for (const char* const name : {R"("\u0069d")", R"("i\u0064")", R"("\u0069\u0064")"}) {
    CAPTURE(name);
    CHECK(written_ids(std::string("{\"a\":1,") + name + ":\"x\"}") == IdTexts{"\"x\""});
  }
}

TEST_CASE("an array has an id for each element in turn, an empty one for what is no object or has none") {
  CHECK(written_ids("[]").empty());
  CHECK(written_ids(" [ ] ").empty());
  CHECK(written_ids("[{}]") == IdTexts{""});
  CHECK(written_ids(R"([{"id":1},{"id":"two","a":[]} , {"method":"m"},{"a":{"id":4}},{"id":-0}])") ==
        IdTexts{"1", "\"two\"", "", "", "-0"});
  CHECK(written_ids(R"([7,"id",null,[{"id":1}],"{\"id\":2}","{",{"id":3},[],true])") ==
        IdTexts{"", "", "", "", "", "", "3", "", ""});
}

TEST_CASE("of the beginning of a text an id is told whole or not at all") {
  for (const std::string& id : kOddlyWrittenIds) {
    for (const std::string& text :
         {R"({"a":["x",{"b":1}],"id":)" + id + R"(,"c":"\\"})", R"({"\u0069d":)" + id + " }"}) {
      for (std::size_t bytes = 0; bytes <= text.size(); ++bytes) {
        const std::string beginning = text.substr(0, bytes);
        CAPTURE(beginning);
        const IdTexts ids = written_ids(beginning);
        if (bytes == 0) {
          CHECK(ids.empty());
          continue;
        }
        REQUIRE(ids.size() == 1);
        CHECK((ids[0].empty() || ids[0] == id));
      }
    }
  }
}

TEST_CASE("an id counts as soon as something follows it, and not where the text ends with it") {
  CHECK(written_ids(R"({"id":12)") == IdTexts{""});
  CHECK(written_ids(R"({"id":12,)") == IdTexts{"12"});
  CHECK(written_ids(R"({"id":12 )") == IdTexts{"12"});
  CHECK(written_ids(R"({"id":"ab)") == IdTexts{""});
  CHECK(written_ids(R"({"id":"ab")") == IdTexts{""});
  CHECK(written_ids(R"({"id":"ab","method":"cut o)") == IdTexts{"\"ab\""});
  CHECK(written_ids(R"([{"id":1},{"id":2)") == IdTexts{"1", ""});
  CHECK(written_ids(R"([{"id":1},{"id":2,)") == IdTexts{"1", "2"});
}

TEST_CASE("ids are looked for to the end of any text, also of one that is no JSON") {
  // What is found in these is not promised, but that the search ends is.
  for (const char* const text :
       {"{",       "[",        "{]",        "[}",           "{}}",   "[]]",         "{,",
        "[,,",     "{:",       "{{",        "[[",           "{\"",   "{\"\\",       "{\"a\"",
        "{\"a\":", "{\"a\":}", "{\"a\"}",   "{a b c",       "[1 2]", "[{\"id\":}]", "{\"id\"\"id\"}",
        "[\"{",    "[\"[\\",   "{\x01\xFF", "\xEF\xBB\xBF{"}) {
    CAPTURE(text);
    for (const std::string& id : written_ids(text)) CHECK(id.size() <= std::string_view(text).size());
  }
  CHECK(written_ids("").empty());
  CHECK(written_ids("nonsense").empty());
}
