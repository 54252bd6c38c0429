// The profiles of a folder. Reads files, so it blocks: at the start of the server, and at SIGHUP, as the settings do.
#pragma once

#include "chat/assistant/profile.hpp"

#include <string>
#include <vector>

namespace rkllm_mcp::chat {

struct ProfileFolder {
  std::vector<Profile> profiles{};        // by name
  std::vector<std::string> complaints{};  // of files that are no profiles, and of the folder
};

// All "*.json" of it but "*.schema.json"; an empty name: there is none, and nothing is complained of.
ProfileFolder read_profiles(const std::string& folder);

}  // namespace rkllm_mcp::chat
