#include "transport/bytes/port_holder.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>
#include <vector>

namespace rkllm_mcp {
namespace {

namespace fs = std::filesystem;

// The port of "0100007F:1F91".
bool is_at(std::string_view address, std::uint16_t port) {
  const auto colon = address.rfind(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view digits = address.substr(colon + 1);
  std::uint16_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return number == port;
}

// What /proc/PID/fd calls the sockets that wait there: "socket:[12345]".
std::set<std::string> sockets_at(const std::string& protocol, std::uint16_t port) {
  constexpr std::size_t kLocalAddress = 1;
  constexpr std::size_t kState = 3;
  constexpr std::size_t kInode = 9;
  constexpr std::string_view kListening = "0A";
  std::set<std::string> names;
  for (const char* version : {"", "6"}) {
    std::ifstream table("/proc/net/" + protocol + version);
    for (std::string line; std::getline(table, line);) {
      std::istringstream words(line);
      std::vector<std::string> row;
      for (std::string word; words >> word;) row.push_back(word);
      if (row.size() <= kInode || !is_at(row[kLocalAddress], port)) continue;
      if (protocol == "tcp" && row[kState] != kListening) continue;
      names.insert("socket:[" + row[kInode] + "]");
    }
  }
  return names;
}

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool has_one_of(const fs::path& process, const std::set<std::string>& sockets) {
  std::error_code error;
  for (fs::directory_iterator file(process / "fd", error); !error && file != fs::directory_iterator();
       file.increment(error)) {
    std::error_code gone;
    if (sockets.contains(fs::read_symlink(file->path(), gone).string())) return true;
  }
  return false;
}

}  // namespace

std::string port_holder(std::string_view protocol, std::uint16_t port) {
  const auto sockets = sockets_at(std::string(protocol), port);
  if (sockets.empty()) return {};
  std::error_code error;
  for (fs::directory_iterator process("/proc", error); !error && process != fs::directory_iterator();
       process.increment(error)) {
    const std::string id = process->path().filename().string();
    if (!is_number(id) || !has_one_of(process->path(), sockets)) continue;
    std::string name;
    std::getline(std::ifstream(process->path() / "comm"), name);
    return "process " + id + " (" + name + ")";
  }
  return {};
}

}  // namespace rkllm_mcp
