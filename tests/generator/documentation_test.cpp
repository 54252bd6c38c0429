#include "support/catch.hpp"
#include "temporary.hpp"

#include "bindgen_json.hpp"
#include "emit/method_schema.hpp"
#include "generate.hpp"
#include "read/documentation.hpp"
#include "read/header.hpp"

#include <functional>

using namespace bindgen;

TEST_CASE("a comment becomes paragraphs") {
  CHECK(parse_comment("/** One line. */").text == "One line.");
  CHECK(parse_comment("/// One.\n/// Two.").text == "One. Two.");
  CHECK(parse_comment("/**\n * One\n * two.\n *\n * Three.\n */").text == "One two.\n\nThree.");
  CHECK(parse_comment("///< Behind.").text == "Behind.");
  CHECK(parse_comment("").text.empty());
}

TEST_CASE("parameters and the returned value are told apart") {
  const Documentation documentation = parse_comment(
      "/**\n * @brief Does it.\n *\n * @param a the first,\n *        on two lines.\n * @param[in] b the second.\n"
      " * @return 0.\n */");
  CHECK(documentation.text == "Does it.");
  CHECK(documentation.of_param("a") == "the first, on two lines.");
  CHECK(documentation.of_param("b") == "the second.");
  CHECK(documentation.of_param("c").empty());
  CHECK(documentation.returns == "0.");
}

TEST_CASE("the comment above a line is found, another comment is not taken for it") {
  const std::vector<std::string> lines = {"/** A. */",   "#define A 1", "/* no documentation */", "#define B 2",
                                          "#define C 3", "/** D",       "    goes on. */",        "#define D 4"};
  CHECK(parse_comment(comment_above(lines, 2)).text == "A.");
  CHECK(comment_above(lines, 4).empty());
  CHECK(comment_above(lines, 5).empty());
  CHECK(parse_comment(comment_above(lines, 8)).text == "D goes on.");
}

TEST_CASE("what is deprecated says so, by a comment") {
  const Documentation gone = parse_comment("/** Runs.\n * @deprecated say walk\n * @return 0 */");
  CHECK(gone.text == "Runs.\n\nDeprecated: say walk");
  CHECK(gone.is_deprecated);
  CHECK(gone.returns == "0");
  CHECK(parse_comment("/** @deprecated */").text == "Deprecated.");
  CHECK(parse_comment("/** Runs. @deprecated say walk */").text == "Runs.\n\nDeprecated: say walk");
  CHECK_FALSE(parse_comment("/** Runs. */").is_deprecated);
}

TEST_CASE("what is deprecated says so in the schemas of calls and of tools") {
  const auto folder = test::scratch("deprecated");
  const std::string header = test::file(folder, "x.h",
                                        "/** Old. @deprecated Say g. */\nint f(int a);\n"
                                        "typedef struct { int a; /** @deprecated */ int b; } S;\nint g(S s);\n");
  const std::string overlay = test::file(folder, "o.json", test::overlay(""));
  std::string schemas;
  for (const File& file : generate({{header, "1"}}, overlay)) {
    if (file.path.ends_with("schemas.hpp")) schemas = file.text;
  }
  const Api api = read_api({header, "1"}, read_overlay(overlay));
  const auto tool = [&api](const char* name) {
    return tool_input_schema(api, *c::find<c::Function>(api.header, name));
  };
  CHECK(tool("f")["deprecated"] == true);
  const Json g = tool("g");
  CHECK_FALSE(g.contains("deprecated"));
  CHECK(g["properties"]["s"]["properties"]["b"]["deprecated"] == true);
  CHECK_FALSE(g["properties"]["s"]["properties"]["a"].contains("deprecated"));
  CHECK_THAT(schemas, rkllm_mcp::test::has_text("deprecated"));
}

TEST_CASE("the comment on one enumerator is not that on the next") {
  const c::Header header = read_header(test::file(test::scratch("enumerators"), "x.h",
                                                  "enum E {\n  /** A. */ kA,\n  kB,\n  kC, /**< C. */\n  kD "
                                                  "__attribute__((deprecated)),\n  /** E. */ kE = 5, kF };\n"));
  std::vector<std::string> said;
  for (const c::Enumerator& one : c::find<c::Enum>(header, "E")->enumerators) said.push_back(one.documentation.text);
  CHECK(said == std::vector<std::string>{"A.", "", "C.", "Deprecated.", "E.", ""});
}

TEST_CASE("every key of the overlay is in the guide") {
  const std::string guide = read_text(std::string(REPOSITORY) + "/docs/generator.md");
  const Json schema = Json::parse(read_text(std::string(REPOSITORY) + "/generator/overlay/overlay.schema.json"));
  std::size_t keys = 0;
  const std::function<void(const Json&)> inspect = [&](const Json& at) {
    if (!at.is_structured()) return;
    if (at.is_object() && at.contains("properties")) {
      for (const auto& [key, value] : at["properties"].items()) {
        if (key == "$schema") continue;
        ++keys;
        INFO(key);
        const bool is_told =
            guide.find("`" + key + "`") != std::string::npos || guide.find("\"" + key + "\"") != std::string::npos;
        CHECK(is_told);
      }
    }
    for (const Json& inner : at) inspect(inner);
  };
  inspect(schema);
  CHECK(keys > 60);
}
