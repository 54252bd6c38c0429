#include "chat/tokenizer/text_steps.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

// utf8proc sorts the marks on a character by exchanging neighbours, which takes the square of their number. Unicode's
// stream-safe texts have 30 at most.
void refuse_endless_marks(std::string_view text) {
  constexpr int kMostMarks = 128;
  int marks = 0;
  for (std::size_t at = 0; at < text.size();) {
    utf8proc_int32_t character = 0;
    const std::string_view rest = text.substr(at);
    const utf8proc_ssize_t size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(rest.data()),
                                                   static_cast<utf8proc_ssize_t>(rest.size()), &character);
    if (size <= 0) throw std::runtime_error("a text is not UTF-8");
    at += static_cast<std::size_t>(size);
    marks = utf8proc_get_property(character)->combining_class != 0 ? marks + 1 : 0;
    if (marks > kMostMarks) throw std::runtime_error("a character has more than 128 marks");
  }
}

std::string in_form(const std::string& text, NormalForm form) {
  refuse_endless_marks(text);
  int options = UTF8PROC_STABLE;
  const bool is_composed = form == NormalForm::kNfc || form == NormalForm::kNfkc;
  options |= is_composed ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
  if (form == NormalForm::kNfkc || form == NormalForm::kNfkd) options |= UTF8PROC_COMPAT;
  utf8proc_uint8_t* result = nullptr;
  const utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &result, static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owned(result, std::free);
  if (size < 0) throw std::runtime_error(std::string("a text cannot be normalised: ") + utf8proc_errmsg(size));
  return {reinterpret_cast<const char*>(result), static_cast<std::size_t>(size)};
}

std::string replaced(const std::string& text, const Replace& step) {
  std::string result;
  step.pattern.each_piece(text, [&](std::string_view piece, bool is_match) {
    result += is_match ? step.with : piece;
    if (result.size() > kLongestText) throw std::runtime_error("a text becomes too long");
  });
  return result;
}

struct Piece {
  std::string_view text;
  bool is_match;
};

// A match is joined to what stands before it, unless that is a match, too.
void join_to_previous(const std::vector<Piece>& pieces, std::vector<std::string>& words) {
  bool was_match = false;
  for (const auto& [text, is_match] : pieces) {
    if (is_match && !was_match && !words.empty()) {
      words.back() += text;
    } else {
      words.emplace_back(text);
    }
    was_match = is_match;
  }
}

void join_to_next(const std::vector<Piece>& pieces, std::vector<std::string>& words) {
  for (std::size_t n = 0; n < pieces.size(); ++n) {
    std::string word(pieces[n].text);
    const bool joins = pieces[n].is_match && n + 1 < pieces.size() && !pieces[n + 1].is_match;
    if (joins) word += pieces[++n].text;
    words.push_back(std::move(word));
  }
}

void split(const std::string& text, const Split& step, std::vector<std::string>& words) {
  std::vector<Piece> pieces;
  step.pattern.each_piece(text, [&](std::string_view piece, bool is_match) {
    pieces.push_back({piece, is_match != step.is_inverted});
  });
  switch (step.behavior) {
    case Split::Behavior::kRemoved:
      for (const auto& [piece, is_match] : pieces) {
        if (!is_match) words.emplace_back(piece);
      }
      return;
    case Split::Behavior::kIsolated:
      for (const auto& [piece, is_match] : pieces) words.emplace_back(piece);
      return;
    case Split::Behavior::kMergedWithPrevious: {
      std::vector<std::string> own;
      join_to_previous(pieces, own);
      std::ranges::move(own, std::back_inserter(words));
      return;
    }
    case Split::Behavior::kMergedWithNext: join_to_next(pieces, words); return;
    case Split::Behavior::kContiguous:
      for (std::size_t n = 0; n < pieces.size(); ++n) {
        if (n > 0 && pieces[n].is_match == pieces[n - 1].is_match) {
          words.back() += pieces[n].text;
        } else {
          words.emplace_back(pieces[n].text);
        }
      }
      return;
  }
}

// Each mark begins a word.
void split_at_marks(std::string_view text, std::string_view mark, std::vector<std::string>& words) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(mark, text.starts_with(mark) ? mark.size() : 0), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

std::string with_marks(const std::string& text, bool is_first, const Metaspace& step) {
  std::string marked;
  for (const char character : text) {
    if (character == ' ') {
      marked += step.mark;
    } else {
      marked += character;
    }
  }
  const bool wants_one =
      step.prepend == Metaspace::Prepend::kAlways || (step.prepend == Metaspace::Prepend::kFirst && is_first);
  return wants_one && !marked.starts_with(step.mark) ? step.mark + marked : marked;
}

// Applies one step to one piece; what comes of it is appended.
struct Apply {
  const std::string& piece;
  bool is_first;
  std::vector<std::string>& words;

  void operator()(const Split& step) const { split(piece, step, words); }
  void operator()(const Metaspace& step) const {
    std::string marked = with_marks(piece, is_first, step);
    if (!step.splits) return words.push_back(std::move(marked));
    split_at_marks(marked, step.mark, words);
  }
  void operator()(const LeadingSpace&) const { words.push_back(piece.starts_with(' ') ? piece : ' ' + piece); }
};

}  // namespace

std::string normalised(std::string text, const std::vector<Normalizer>& steps) {
  for (const Normalizer& step : steps) {
    if (const auto* form = std::get_if<NormalForm>(&step)) {
      text = in_form(text, *form);
    } else if (const auto* before = std::get_if<Prepend>(&step)) {
      if (!text.empty()) text.insert(0, before->text);
    } else {
      text = replaced(text, std::get<Replace>(step));
    }
  }
  return text;
}

std::vector<std::string> words_of(std::string piece, bool is_first, const std::vector<PreTokenizer>& steps) {
  std::vector<std::string> words;
  if (piece.empty()) return words;
  words.push_back(std::move(piece));
  for (const PreTokenizer& step : steps) {
    std::vector<std::string> next;
    for (std::size_t n = 0; n < words.size(); ++n) std::visit(Apply{words[n], is_first && n == 0, next}, step);
    words = std::move(next);
  }
  return words;
}

}  // namespace rkllm_mcp::chat
