#include "support/catch.hpp"

#include "documentation.hpp"

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
