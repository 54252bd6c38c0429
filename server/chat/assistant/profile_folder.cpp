#include "chat/assistant/profile_folder.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

constexpr std::size_t kMostFileBytes = std::size_t{1} << 20U;

std::string whole_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || (!file.eof() && file.fail())) throw std::runtime_error(path.string() + ": cannot be read");
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMostFileBytes) throw std::runtime_error(path.string() + ": longer than 1 MiB");
  return text;
}

}  // namespace

ProfileFolder read_profiles(const std::string& folder) {
  ProfileFolder result;
  if (folder.empty()) return result;
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (auto each = std::filesystem::directory_iterator(folder, error);
       !error && each != std::filesystem::directory_iterator(); each.increment(error)) {
    if (each->path().extension() == ".json") files.push_back(each->path());
  }
  if (error) result.complaints.push_back("chat.profiles_dir: " + folder + ": " + error.message());
  std::ranges::sort(files);
  for (const auto& file : files) {
    try {
      Profile profile = read_profile(file.string(), whole_file(file));
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
