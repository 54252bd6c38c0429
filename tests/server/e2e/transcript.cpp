#include "transcript.hpp"

#include "support/live_server.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace rkllm_mcp::test {
namespace {

std::string trimmed(std::string text) {
  text.erase(std::find_if(text.rbegin(), text.rend(), [](unsigned char c) { return !std::isspace(c); }).base(),
             text.end());
  text.erase(text.begin(), std::find_if(text.begin(), text.end(), [](unsigned char c) { return !std::isspace(c); }));
  return text;
}

std::vector<Transport> read_transports(const std::string& names) {
  std::vector<Transport> transports;
  std::istringstream words(names);
  for (std::string word; words >> word;) {
    if (word == "all") return {kAllTransports.begin(), kAllTransports.end()};
    const auto found = std::find_if(kAllTransports.begin(), kAllTransports.end(),
                                    [&](Transport transport) { return name_of(transport) == word; });
    if (found == kAllTransports.end()) throw std::runtime_error("no such transport: " + word);
    transports.push_back(*found);
  }
  return transports;
}

// "all", "1.2.3-" (that one and later), "-1.2.1b1" (that one and earlier).
std::vector<std::string> read_versions(const std::string& range) {
  const std::vector<std::string> all(kRuntimeVersions.begin(), kRuntimeVersions.end());
  if (range == "all") return all;
  const bool until = range.starts_with('-');
  const std::string bound = until ? range.substr(1) : range.substr(0, range.size() - 1);
  const auto at = std::find(all.begin(), all.end(), bound);
  if (at == all.end() || (!until && !range.ends_with('-'))) throw std::runtime_error("no such versions: " + range);
  return until ? std::vector(all.begin(), at + 1) : std::vector(at, all.end());
}

struct Mark {
  std::string_view mark;
  TranscriptLine::Kind kind;
};
constexpr Mark kMarks[] = {{"<1 ", TranscriptLine::Kind::kBegin},   {"<< ", TranscriptLine::Kind::kStream},
                           {"<~ ", TranscriptLine::Kind::kNotices}, {"<!", TranscriptLine::Kind::kSilence},
                           {"< ", TranscriptLine::Kind::kExpect},   {"> ", TranscriptLine::Kind::kSend}};

class Reader {
 public:
  explicit Reader(std::string name) { transcript_.name = std::move(name); }

  void read(const std::string& line, std::size_t number) {
    if (line.empty() || line[0] == '#') return;
    if (line.starts_with("@set ")) return transcript_.settings.push_back(trimmed(line.substr(5)));
    if (line.starts_with("@file ")) return read_file_line(trimmed(line.substr(6)));
    if (line.starts_with("@on ")) {
      transports_ = read_transports(line.substr(4));
      return;
    }
    if (line.starts_with("@versions ")) {
      versions_ = read_versions(trimmed(line.substr(10)));
      return;
    }
    for (const auto& [mark, kind] : kMarks) {
      if (!line.starts_with(mark)) continue;
      return transcript_.lines.push_back({kind, trimmed(line.substr(mark.size())), number, transports_, versions_});
    }
    throw std::runtime_error("neither a message nor a directive");
  }

  // NAME CONTENT
  void read_file_line(const std::string& text) {
    const auto blank = text.find(' ');
    if (blank == std::string::npos) throw std::runtime_error("a file needs a name and its content");
    transcript_.files.push_back({text.substr(0, blank), trimmed(text.substr(blank))});
  }

  Transcript take() { return std::move(transcript_); }

 private:
  Transcript transcript_;
  std::vector<Transport> transports_{kAllTransports.begin(), kAllTransports.end()};
  std::vector<std::string> versions_ = read_versions("all");
};

}  // namespace

bool Transcript::is_for(Transport transport) const {
  return std::any_of(lines.begin(), lines.end(), [&](const TranscriptLine& line) {
    return std::find(line.transports.begin(), line.transports.end(), transport) != line.transports.end();
  });
}

Transcript read_transcript(const std::string& path) {
  Reader reader(std::filesystem::path(path).filename().string());
  std::istringstream file(read_file(path));
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    try {
      reader.read(line, number);
    } catch (const std::exception& error) {
      throw std::runtime_error(path + ":" + std::to_string(number) + ": " + error.what());
    }
  }
  return reader.take();
}

std::vector<Transcript> all_transcripts() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(kSourceDirectory + "/tests/transcripts")) {
    if (entry.path().extension() == ".txt") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Transcript> transcripts;
  for (const auto& path : paths) transcripts.push_back(read_transcript(path));
  return transcripts;
}

}  // namespace rkllm_mcp::test
