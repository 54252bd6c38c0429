#include "chat/assistant/profile_folder.hpp"

#include "text/regular_file.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

constexpr std::size_t kMostFileBytes = std::size_t{1} << 20U;

}  // namespace

ProfileFolder read_profiles(const std::string& folder) {
  ProfileFolder result;
  if (folder.empty()) return result;
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (auto each = std::filesystem::directory_iterator(folder, error);
       !error && each != std::filesystem::directory_iterator(); each.increment(error)) {
    const std::string name = each->path().filename().string();
    if (name.ends_with(".json") && !name.ends_with(".schema.json")) files.push_back(each->path());
  }
  if (error) result.complaints.push_back("chat.profiles_dir: " + folder + ": " + error.message());
  std::ranges::sort(files);
  for (const auto& file : files) {
    try {
      Profile profile = read_profile(file.string(), read_regular_file(file.string(), kMostFileBytes));
      if (std::ranges::find(result.profiles, profile.name, &Profile::name) != result.profiles.end()) {
        throw std::runtime_error(file.string() + ": there is another profile \"" + profile.name + "\"");
      }
      result.profiles.push_back(std::move(profile));
    } catch (const std::exception& refused) {
      result.complaints.emplace_back(refused.what());
    }
  }
  return result;
}

}  // namespace rkllm_mcp::chat
