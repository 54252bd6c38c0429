#include "pull/hub.hpp"

#include "json_members.hpp"
#include "jsonrpc/bounded_json.hpp"
#include "pull/model_file_name.hpp"
#include "text/ascii.hpp"
#include "text/regular_file.hpp"
#include "text/shown.hpp"

#include <rkllm_mcp/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr std::size_t kLongestList = 8 * 1024 * 1024;  // bytes
constexpr std::size_t kMostNamed = 40;                 // files, in a complaint

// A path in an address: slashes stay.
std::string encoded_path(const std::string& path) {
  std::string encoded;
  std::size_t at = 0;
  for (;;) {
    const auto slash = path.find('/', at);
    encoded += encoded_for_query(std::string_view(path).substr(at, slash == std::string::npos ? slash : slash - at));
    if (slash == std::string::npos) return encoded;
    encoded += '/';
    at = slash + 1;
  }
}

// A mirror may serve the hub below a path of its own.
std::string path_of(const Url& hub) {
  std::string path = hub.target.substr(0, hub.target.find('?'));
  while (!path.empty() && path.back() == '/') path.pop_back();
  return path;
}

std::optional<std::int64_t> size_at(const Json& object) {
  const auto size = integer_in(object, "size");
  return size && *size >= 0 ? size : std::nullopt;
}

bool is_sha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of(kHexDigits) == std::string::npos;
}

HubFile file_from(const Json& sibling, const Url& hub, const std::string& repository, const std::string& revision) {
  HubFile file;
  file.name = text_in(sibling, "rfilename");
  file.bytes = size_at(sibling);
  if (const auto large = sibling.find("lfs"); large != sibling.end() && large->is_object()) {
    file.sha256 = text_in(*large, "sha256");
    if (!is_sha256(file.sha256)) file.sha256.clear();
    if (const auto bytes = size_at(*large)) file.bytes = bytes;
  }
  file.url = hub;
  file.url.target =
      path_of(hub) + "/" + repository + "/resolve/" + encoded_path(revision) + "/" + encoded_path(file.name);
  return file;
}

// Names reach a terminal.
bool is_printable(const std::string& name) { return in_one_line(name) == name; }

std::string name_of(const BoardFacts& board) {
  return board.chip.empty() ? "this machine" : "this board (" + board.chip + ")";
}

std::string words_for(const BoardFacts& board) {
  return board.chip.empty() ? "for this machine" : "for this board, " + board.chip;
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// By the hub's word, else by its name.
std::optional<std::int64_t> bytes_of(const HubFile& file) {
  return file.bytes ? file.bytes : least_bytes_in(file.name);
}

std::string words_of_size(const HubFile& file) {
  if (file.bytes) return ", " + shown_bytes(*file.bytes);
  const auto least = least_bytes_in(file.name);
  return least ? ", at least " + shown_bytes(*least) + " by its name" : std::string();
}

std::vector<const HubFile*> fitting_files(const std::vector<HubFile>& files, const BoardFacts& board) {
  std::vector<const HubFile*> fitting;
  for (const HubFile& each : files) {
    if (why_not(each, board).empty()) fitting.push_back(&each);
  }
  return fitting;
}

// Whether a model leaves memory for what it computes and for other programs; nothing: not known.
std::optional<bool> leaves_memory(const HubFile& file, const BoardFacts& board) {
  const auto bytes = bytes_of(file);
  if (!bytes || !board.memory) return std::nullopt;
  return *bytes <= *board.memory / 4 * 3;
}

// What choose_model() goes by: the greatest is taken.
auto rank_of(const HubFile& file, const BoardFacts& board) {
  const auto leaves = leaves_memory(file, board);
  const int room = !leaves ? 1 : *leaves ? 2 : 0;
  const std::int64_t bytes = bytes_of(file).value_or(0);
  return std::tuple(chip_in_name(file.name) == board.chip, room, room == 0 ? -bytes : bytes,
                    release_in(last_part(file.name)).value_or(Release{}));
}

// Why this file was chosen of several that would do: the first value of rank_of() in which it differs from the others.
std::string reason_of_choice(const HubFile& chosen, std::vector<const HubFile*> rivals, const BoardFacts& board) {
  const auto names_chip = [&board](const HubFile* each) { return chip_in_name(each->name) == board.chip; };
  std::string reason;
  if (names_chip(&chosen) && std::erase_if(rivals, std::not_fn(names_chip)) > 0) {
    if (rivals.size() == 1) return "the only one that names the chip";
    reason = "of those that name the chip ";
  }
  const auto leaves = leaves_memory(chosen, board);
  const auto is_known = [](const HubFile* each) { return bytes_of(*each).has_value(); };
  if (!is_known(&chosen)) {
    reason += "one whose size is not known";
    if (std::ranges::any_of(rivals, is_known)) reason += "; the others leave little memory";
  } else if (leaves && !*leaves) {
    reason += "the smallest, which leaves little memory";
  } else {
    reason += std::ranges::all_of(rivals, is_known) ? "the largest" : "the largest of known size";
    if (leaves) reason += " that leaves a quarter of the memory";
  }
  return reason;
}

// Each on a line of its own, with what speaks against it; the chosen one, if any, is marked.
std::string listed(const std::vector<HubFile>& files, const BoardFacts& board, const HubFile* chosen = nullptr) {
  std::string text;
  std::size_t named = 0;
  std::string why_chosen = words_for(board);
  const auto fitting = fitting_files(files, board);
  if (chosen != nullptr && fitting.size() > 1) why_chosen += ": " + reason_of_choice(*chosen, fitting, board);
  for (const HubFile& each : files) {
    const bool is_chosen = &each == chosen;
    if (!is_chosen && named == kMostNamed) continue;
    ++named;
    const std::string reason = is_chosen ? why_chosen : why_not(each, board);
    text +=
        (is_chosen ? "\n* " : "\n  ") + each.name + words_of_size(each) + (reason.empty() ? "" : "  (" + reason + ")");
  }
  if (named < files.size()) text += "\n  and " + std::to_string(files.size() - named) + " more";
  return text;
}

// The files of this name, in whatever folder.
std::vector<const HubFile*> files_called(const std::string& name, const std::vector<HubFile>& files) {
  std::vector<const HubFile*> found;
  for (const HubFile& each : files) {
    if (last_part(each.name) == name) found.push_back(&each);
  }
  return found;
}

}  // namespace

std::string why_not(const HubFile& file, const BoardFacts& board) {
  const auto chip = chip_in_name(file.name);
  if (chip && !board.chip.empty() && *chip != board.chip) return "for " + *chip;
  const auto bytes = bytes_of(file);
  if (board.memory && bytes && *bytes > *board.memory) {
    return "larger than the memory of " + shown_bytes(*board.memory) + (file.bytes ? "" : ", by its name");
  }
  return {};
}

std::string words_of_gate() {
  return "it wants an access token (export HF_TOKEN=...), and its terms accepted on its page";
}

std::vector<HubFile> models_in_repository(const Url& hub, const std::string& repository,
                                          const std::string& wanted_revision, const WebGet& how) {
  Url list = hub;
  list.target = path_of(hub) + "/api/models/" + repository +
                (wanted_revision.empty() ? std::string() : "/revision/" + encoded_path(wanted_revision)) +
                "?blobs=true";
  WebGet get = how;
  int status = 0;
  get.on_head = [&status](const WebHead& head) {
    status = head.status;
    return true;
  };
  std::string text;
  try {
    text = web_text(list, get, kLongestList);
  } catch (const WebStopped&) {
    throw;
  } catch (const WebFailed&) {
    if (status == 401 || status == 403 || status == 404) {
      throw WebFailed(hub.authority() + " shows no repository " + repository + ": there is none, or " +
                      words_of_gate());
    }
    throw;
  }
  const Json page = parse_bounded(text).value_or(Json());
  const auto siblings = page.is_object() ? page.find("siblings") : page.end();
  if (!page.is_object() || siblings == page.end() || !siblings->is_array()) {
    throw WebFailed(hub.authority() + " answers with something else than a repository's list");
  }
  std::string revision = text_in(page, "sha");
  if (revision.empty()) revision = wanted_revision.empty() ? "main" : wanted_revision;
  std::vector<HubFile> files;
  for (const Json& each : *siblings) {
    const std::string name = each.is_object() ? text_in(each, "rfilename") : std::string();
    if (name.ends_with(".rkllm") && is_printable(name)) {
      files.push_back(file_from(each, hub, repository, revision));
    }
  }
  std::sort(files.begin(), files.end(), [](const HubFile& one, const HubFile& other) { return one.name < other.name; });
  return files;
}

const HubFile& choose_model(const std::vector<HubFile>& files, const std::string& wanted, const BoardFacts& board,
                            const std::string& repository) {
  if (files.empty()) throw std::invalid_argument(repository + " has no .rkllm files");
  if (!wanted.empty()) {
    const auto exact = std::ranges::find(files, wanted, &HubFile::name);
    if (exact != files.end()) return *exact;
    const auto called = files_called(wanted, files);
    if (called.size() == 1) return *called.front();
    throw std::invalid_argument(repository + " has " + (called.empty() ? "no file " : "several files ") + wanted +
                                "; it has:" + listed(files, board));
  }
  const auto fitting = fitting_files(files, board);
  if (fitting.size() == 1) return *fitting.front();
  const std::string board_name = name_of(board);
  if (fitting.empty()) {
    throw std::invalid_argument(repository + " has nothing for " + board_name + " and its memory" +
                                (board.memory ? " of " + shown_bytes(*board.memory) : std::string()) +
                                "; it has:" + listed(files, board));
  }
  if (!board.chip.empty()) {
    return **std::ranges::max_element(fitting, {}, [&board](const HubFile* each) { return rank_of(*each, board); });
  }
  const std::string last = last_part(fitting.front()->name);
  const std::string& name = files_called(last, files).size() == 1 ? last : fitting.front()->name;
  throw std::invalid_argument(repository + " has several models for " + board_name + ":" + listed(files, board) +
                              "\nname one: " + shell_word("hf.co/" + repository + ":" + name));
}

std::string words_of_choice(const std::vector<HubFile>& files, const HubFile& chosen, const BoardFacts& board,
                            const std::string& repository) {
  return repository + " has " + std::to_string(files.size()) + " models:" + listed(files, board, &chosen) +
         "\nTo have another, name it: " + shell_word("hf.co/" + repository + ":FILE");
}

std::string chip_of_board(const std::filesystem::path& root) {
  // "radxa,rock-5b\0rockchip,rk3588\0": the last is the chip.
  constexpr std::size_t kLongest = 4096;
  std::string text = try_read_regular_file((root / "proc/device-tree/compatible").string(), kLongest).value_or("");
  while (!text.empty() && text.back() == '\0') text.pop_back();
  constexpr std::string_view kMaker = "rockchip,";
  const auto at = text.rfind(kMaker);
  if (at == std::string::npos) return {};
  std::string chip = text.substr(at + kMaker.size());
  chip = chip.substr(0, chip.find('\0'));
  return chip == "rk3588s" ? "rk3588" : chip;
}

BoardFacts facts_of_this_board() {
  BoardFacts facts;
  facts.chip = chip_of_board("/");
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) facts.memory = static_cast<std::int64_t>(pages) * page;
  return facts;
}

}  // namespace rkllm_mcp
