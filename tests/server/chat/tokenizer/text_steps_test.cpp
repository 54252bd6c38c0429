#include "chat/tokenizer/text_steps.hpp"

#include "support/catch.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

using WordList = std::vector<std::string>;

// Lists of initializers would have to copy the steps.
template <class Step>
std::string after_step(Step step, const std::string& text) {
  std::vector<Normalizer> steps;
  steps.emplace_back(std::move(step));
  return normalised(text, steps);
}

template <class... Steps>
WordList words_after(const std::string& text, bool is_first, Steps... step) {
  std::vector<PreTokenizer> steps;
  (steps.emplace_back(std::move(step)), ...);
  return words_of(text, is_first, steps);
}

// "e" with so many marks on it.
std::string marked_letter(int marks) {
  std::string text = "e";
  for (int mark = 0; mark < marks; ++mark) text += "\xCC\xA3";
  return text;
}

const std::string kComposed = "\xC3\xA9";      // é
const std::string kDecomposed = "e\xCC\x81";   // e and the mark
const std::string kLigature = "\xEF\xAC\x81";  // fi

}  // namespace

TEST_CASE("a text without steps is as it was") {
  CHECK(normalised("Hu\xE1\xBA\xBF", {}) == "Hu\xE1\xBA\xBF");
  CHECK(words_after("a b", true) == WordList{"a b"});
  CHECK(words_after("", true).empty());
}

TEST_CASE("the four forms of Unicode differ in marks and in what only looks alike") {
  CHECK(after_step(NormalForm::kNfc, kDecomposed) == kComposed);
  CHECK(after_step(NormalForm::kNfd, kComposed) == kDecomposed);
  CHECK(after_step(NormalForm::kNfc, kLigature) == kLigature);
  CHECK(after_step(NormalForm::kNfd, kLigature) == kLigature);
  CHECK(after_step(NormalForm::kNfkc, kLigature + kDecomposed) == "fi" + kComposed);
  CHECK(after_step(NormalForm::kNfkd, kLigature + kComposed) == "fi" + kDecomposed);
  CHECK(after_step(NormalForm::kNfc, "").empty());
}

TEST_CASE("a character may have 128 marks, and no more, and those of another one do not count") {
  CHECK(after_step(NormalForm::kNfd, marked_letter(128)) == marked_letter(128));
  CHECK(after_step(NormalForm::kNfd, marked_letter(128) + marked_letter(128)).size() == 2 * marked_letter(128).size());
  CHECK_THROWS_WITH(after_step(NormalForm::kNfd, marked_letter(129)), "a character has more than 128 marks");
}

TEST_CASE("a text that is not UTF-8 is refused before it is put into a form") {
  for (const std::string text : {"\xFF", "a\xC3", "\xED\xA0\x80", "\xC0\x80"}) {
    CHECK_THROWS_WITH(after_step(NormalForm::kNfc, text), "a text is not UTF-8");
  }
}

TEST_CASE("what is put before a text is put before none that is empty") {
  CHECK(after_step(Prepend{"_"}, "a") == "_a");
  CHECK(after_step(Prepend{"_"}, "_a") == "__a");
  CHECK(after_step(Prepend{"_"}, "").empty());
}

TEST_CASE("what a pattern finds is replaced everywhere, and the steps come one after the other") {
  CHECK(after_step(Replace{Pattern(" +"), "_"}, "a  b c") == "a_b_c");
  CHECK(after_step(Replace{Pattern::of_text("."), ""}, "a.b.") == "ab");
  std::vector<Normalizer> steps;
  steps.emplace_back(Prepend{" "});
  steps.emplace_back(Replace{Pattern::of_text(" "), "_"});
  CHECK(normalised("a b", steps) == "_a_b");
}

TEST_CASE("a replaced text may have four megabytes, and no more") {
  const std::size_t half = kLongestText / 2;
  CHECK(after_step(Replace{Pattern::of_text("a"), "bb"}, std::string(half, 'a')).size() == kLongestText);
  CHECK_THROWS_WITH(after_step(Replace{Pattern::of_text("a"), "bb"}, std::string(half + 1, 'a')),
                    "a text becomes too long");
}

TEST_CASE("what lies between the matches may be what is looked for") {
  using Behavior = Split::Behavior;
  const auto digits = [](Behavior behavior, bool is_inverted) {
    return words_after("a12b", true, Split{Pattern("[0-9]+"), behavior, is_inverted});
  };
  CHECK(digits(Behavior::kRemoved, false) == WordList{"a", "b"});
  CHECK(digits(Behavior::kRemoved, true) == WordList{"12"});
  CHECK(digits(Behavior::kMergedWithPrevious, false) == WordList{"a12", "b"});
  CHECK(digits(Behavior::kMergedWithPrevious, true) == WordList{"a", "12b"});
  CHECK(digits(Behavior::kMergedWithNext, true) == WordList{"a12", "b"});
  CHECK(digits(Behavior::kIsolated, true) == WordList{"a", "12", "b"});
  CHECK(digits(Behavior::kContiguous, false) == WordList{"a", "12", "b"});
  CHECK(words_after("112", true, Split{Pattern("[0-9]"), Behavior::kContiguous}) == WordList{"112"});
}

TEST_CASE("of several matches in a row only the one beside a text is joined to it") {
  const auto commas = [](Split::Behavior behavior) {
    return words_after("a,,,b", true, Split{Pattern::of_text(","), behavior});
  };
  CHECK(commas(Split::Behavior::kMergedWithPrevious) == WordList{"a,", ",", ",", "b"});
  CHECK(commas(Split::Behavior::kMergedWithNext) == WordList{"a", ",", ",", ",b"});
}

TEST_CASE("a mark stands for each space, and before a text as it is asked for") {
  using Mark = Metaspace::Prepend;
  const auto marked = [](const std::string& text, Mark prepend, bool is_first = true) {
    return words_after(text, is_first, Metaspace{"_", prepend});
  };
  CHECK(marked("a b", Mark::kAlways) == WordList{"_a", "_b"});
  CHECK(marked(" a", Mark::kAlways) == WordList{"_a"});
  CHECK(marked("a b", Mark::kNever) == WordList{"a", "_b"});
  CHECK(marked("a", Mark::kFirst) == WordList{"_a"});
  CHECK(marked("a", Mark::kFirst, false) == WordList{"a"});
  CHECK(marked("a", Mark::kAlways, false) == WordList{"_a"});
  CHECK(words_after("a b", true, Metaspace{"_", Mark::kAlways, false}) == WordList{"_a_b"});
}

TEST_CASE("only the first word of a text stands at its beginning") {
  const WordList words = words_after("a-b", true, Split{Pattern::of_text("-"), Split::Behavior::kRemoved},
                                     Metaspace{"_", Metaspace::Prepend::kFirst});
  CHECK(words == WordList{"_a", "b"});
}

TEST_CASE("a space is put before each piece that has none") {
  CHECK(words_after("a", true, LeadingSpace{}) == WordList{" a"});
  CHECK(words_after(" a", false, LeadingSpace{}) == WordList{" a"});
  CHECK(words_after("\ta", true, LeadingSpace{}) == WordList{" \ta"});
}
