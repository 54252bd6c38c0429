#include "chat/tokenizer/byte_pairs.hpp"

#include "text/utf8.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <queue>
#include <tuple>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

constexpr std::size_t kBytes = 256;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

std::string byte_token(std::size_t byte) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "<0x%02zX>", byte);
  return text.data();
}

// A pair that may be joined: `left` is the place of its first half.
struct Candidate {
  std::uint32_t rank;
  std::size_t left;
  TokenId id;  // of the joined pair

  // The pair learnt first is joined first; of equal ones, the first in the word.
  bool operator<(const Candidate& other) const { return std::tie(other.rank, other.left) < std::tie(rank, left); }
};

}  // namespace

void BytePairs::add_token(std::string text, TokenId id) { ids_.emplace(std::move(text), id); }

bool BytePairs::add_pair(std::string_view left, std::string_view right) {
  const auto first = find(left);
  const auto second = find(right);
  const auto both = find(std::string(left) + std::string(right));
  if (!first || !second || !both) return false;
  pairs_.emplace(key_of(*first, *second), Joined{static_cast<std::uint32_t>(pairs_.size()), *both});
  return true;
}

void BytePairs::set_rules(const Rules& rules) {
  rules_ = rules;
  byte_tokens_.clear();
  if (!rules.has_byte_tokens) return;
  for (std::size_t byte = 0; byte < kBytes; ++byte) byte_tokens_.push_back(find(byte_token(byte)));
}

std::optional<TokenId> BytePairs::find(std::string_view token) const {
  const auto found = ids_.find(std::string(token));
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

std::uint64_t BytePairs::key_of(TokenId left, TokenId right) {
  return std::uint64_t{static_cast<std::uint32_t>(left)} << 32U | static_cast<std::uint32_t>(right);
}

const BytePairs::Joined* BytePairs::joined(TokenId left, TokenId right) const {
  const auto found = pairs_.find(key_of(left, right));
  return found == pairs_.end() ? nullptr : &found->second;
}

void BytePairs::encode(std::string_view word, std::vector<TokenId>& tokens) const {
  if (word.empty()) return;
  if (rules_.takes_whole_words) {
    if (const auto whole = find(word)) return tokens.push_back(*whole);
  }
  std::vector<TokenId> parts = parts_of(word);
  join(parts);
  tokens.insert(tokens.end(), parts.begin(), parts.end());
}

std::vector<TokenId> BytePairs::parts_of(std::string_view word) const {
  std::vector<TokenId> parts;
  bool was_unknown = false;
  for (std::size_t at = 0; at < word.size();) {
    std::size_t end = at + 1;
    while (!rules_.of_bytes && end < word.size() && continues_character(word[end])) ++end;
    const std::string_view part = word.substr(at, end - at);
    at = end;
    if (const auto id = find(part)) {
      parts.push_back(*id);
      was_unknown = false;
    } else {
      add_unknown(part, was_unknown, parts);
    }
  }
  return parts;
}

void BytePairs::add_unknown(std::string_view character, bool& was_unknown, std::vector<TokenId>& parts) const {
  const auto token_of = [this](char byte) { return byte_tokens_[static_cast<unsigned char>(byte)]; };
  if (rules_.has_byte_tokens && std::ranges::all_of(character, [&](char byte) { return token_of(byte).has_value(); })) {
    for (const char byte : character) parts.push_back(*token_of(byte));
    was_unknown = false;
    return;
  }
  const bool goes_on = std::exchange(was_unknown, true) && rules_.joins_unknown;
  if (rules_.unknown && !goes_on) parts.push_back(*rules_.unknown);
}

// `next` and `previous` are a linked list of the parts: for each the places of its neighbours.
void BytePairs::join(std::vector<TokenId>& parts) const {
  if (parts.size() < 2) return;
  std::vector<std::size_t> next(parts.size());
  std::vector<std::size_t> previous(parts.size());
  for (std::size_t n = 0; n < parts.size(); ++n) {
    next[n] = n + 1 < parts.size() ? n + 1 : kNone;
    previous[n] = n > 0 ? n - 1 : kNone;
  }
  std::priority_queue<Candidate> candidates;
  const auto consider = [&](std::size_t left) {
    if (left == kNone || next[left] == kNone) return;
    if (const Joined* both = joined(parts[left], parts[next[left]])) candidates.push({both->rank, left, both->id});
  };
  for (std::size_t n = 0; n + 1 < parts.size(); ++n) consider(n);

  constexpr TokenId kGone = -1;
  while (!candidates.empty()) {
    const Candidate best = candidates.top();
    candidates.pop();
    if (parts[best.left] == kGone || next[best.left] == kNone) continue;
    const std::size_t right = next[best.left];
    const Joined* both = joined(parts[best.left], parts[right]);
    if (both == nullptr || both->id != best.id) continue;  // one of them has been joined to another one since
    parts[best.left] = best.id;
    parts[right] = kGone;
    next[best.left] = next[right];
    if (next[right] != kNone) previous[next[right]] = best.left;
    consider(previous[best.left]);
    consider(best.left);
  }
  std::erase(parts, kGone);
}

}  // namespace rkllm_mcp::chat
