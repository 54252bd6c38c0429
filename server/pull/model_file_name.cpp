#include "pull/model_file_name.hpp"

#include <rkllm_mcp/lower_case.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>
#include <string>

namespace rkllm_mcp {
namespace {

// "1_8" is 1.8 in some names, and a release and a size in others ("Llama_3_2_1B"): the smaller of both is true of each.
double least_number_in(std::string text) {
  const auto underscore = text.find('_');
  if (underscore == std::string::npos) return std::stod(text);
  const double last = std::stod(text.substr(underscore + 1));
  text[underscore] = '.';
  return std::min(std::stod(text), last);
}

}  // namespace

std::optional<std::string> chip_in_name(std::string_view name) {
  constexpr std::array kChips{"rk3588", "rk3576", "rk3562", "rv1126b", "rk3568", "rk3566"};
  const std::string lower = in_lower_case(name);
  for (const char* const chip : kChips) {
    if (lower.find(chip) != std::string::npos) return chip;
  }
  return std::nullopt;
}

std::optional<std::int64_t> least_bytes_in(std::string_view name) {
  static const std::regex kWeights("(^|[^0-9A-Za-z.])([0-9]{1,4}([._][0-9]{1,3})?)([BbMm])([^0-9A-Za-z.]|[.][^0-9]|$)");
  static const std::regex kBits("(^|[^0-9A-Za-z])[Ww](4|8|16)[Aa](4|8|16)([^0-9A-Za-z]|$)");
  std::match_results<std::string_view::const_iterator> weights;
  std::match_results<std::string_view::const_iterator> bits;
  if (!std::regex_search(name.begin(), name.end(), weights, kWeights)) return std::nullopt;
  if (!std::regex_search(name.begin(), name.end(), bits, kBits)) return std::nullopt;
  constexpr double kMillion = 1e6;
  constexpr double kBillion = 1e9;
  constexpr double kBitsOfByte = 8;
  const char unit = *weights[4].first;
  const double number = least_number_in(weights[2].str()) * (unit == 'B' || unit == 'b' ? kBillion : kMillion);
  return static_cast<std::int64_t>(number * std::stod(bits[2].str()) / kBitsOfByte);
}

std::optional<Release> release_in(std::string_view name) {
  constexpr unsigned kMajor = 1;   // of all releases of the toolkit
  constexpr unsigned kMost = 100;  // the year of a date is larger
  const auto is_within_word = [](unsigned char before) { return before == '.' || std::isalnum(before) != 0; };
  std::optional<Release> last;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (std::isdigit(static_cast<unsigned char>(name[at])) == 0) continue;
    const std::size_t word = at > 0 && (name[at - 1] == 'v' || name[at - 1] == 'V') ? at - 1 : at;
    if (word > 0 && is_within_word(static_cast<unsigned char>(name[word - 1]))) continue;
    const auto release = release_at_start(name.substr(at));
    if (release && (*release)[0] == kMajor && (*release)[1] < kMost && (*release)[2] < kMost) last = release;
  }
  return last;
}

}  // namespace rkllm_mcp
