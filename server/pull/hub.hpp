// The hub's list of a repository's models, which board this is, and which of them is for it.
//
// Facts of the hub's interface (huggingface.co/docs/hub/api): GET /api/models/OWNER/NAME[/revision/REVISION]?blobs=true
// has "sha" (the revision) and "siblings", each with "rfilename", "size" and, for large files, "lfs":{"sha256","size"};
// a file is at /OWNER/NAME/resolve/REVISION/FILE, which redirects to where it is kept.
#pragma once

#include "pull/web_get.hpp"
#include "text/url.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace rkllm_mcp {

struct HubFile {
  std::string name{};  // with its folders in the repository
  std::optional<std::int64_t> bytes{};
  std::string sha256{};  // empty: the hub does not say
  Url url{};
};

// What ends in .rkllm, by name. Throws WebFailed; its words say what can be done where the hub asks for a token.
// `revision`: a branch, tag or commit; empty: the repository's own choice.
std::vector<HubFile> models_in_repository(const Url& hub, const std::string& repository, const std::string& revision,
                                          const WebGet& how);
// What can be done about a repository or a file that is not shown.
std::string words_of_gate();

struct BoardFacts {
  std::string chip{};                    // "rk3588"; empty: this is no such board
  std::optional<std::int64_t> memory{};  // bytes in all
};

// Why a file is not for this board, by its name and size; empty if nothing speaks against it.
std::string why_not(const HubFile& file, const BoardFacts& board);
// The file of that name, or, where `wanted` is empty, the one that is for this board and fits its memory. Of several
// such, where it is known which board this is: one that names its chip before one that names none; the largest that
// takes at most three quarters of the memory, since the more of a model is kept the better are its answers; else the
// smallest; of one size the toolkit's newest release. Throws std::invalid_argument with the list of what there is.
const HubFile& choose_model(const std::vector<HubFile>& files, const std::string& wanted, const BoardFacts& board,
                            const std::string& repository);
// The list of what there is, for people: the file that choose_model() has taken (one of `files`) is marked, with the
// reason where others would do; the others have what speaks against them, and it ends with how to get one of those.
std::string words_of_choice(const std::vector<HubFile>& files, const HubFile& chosen, const BoardFacts& board,
                            const std::string& repository);

// --- the board that this program runs on, as far as the choice of a model depends on it. Any thread

// "rk3588", by <root>/proc/device-tree/compatible; "" if this is no such board.
std::string chip_of_board(const std::filesystem::path& root);

BoardFacts facts_of_this_board();

}  // namespace rkllm_mcp
