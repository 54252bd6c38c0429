// What the sources of the simulation note as seen, read from the sources themselves: see World::saw().
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>

namespace rkllm_mcp::simulation {

// The literals within saw(...), and within fails(...) of a simulated worker, which notes why it has failed. One that
// ends with a blank is only the beginning of a note.
std::set<std::string> notes_in(std::string_view source);
// Those of all sources in the folder but tests, and each limit that may be reached.
std::set<std::string> notes_of(const std::filesystem::path& folder);

}  // namespace rkllm_mcp::simulation
