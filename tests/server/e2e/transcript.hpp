// A dialogue between a client and the server as a file, and how it is played. tests/transcripts/README.md documents
// the form of the files.
#pragma once

#include "support/transport.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace rkllm_mcp::test {

struct TranscriptLine {
  enum class Kind {
    kSend,     // > a message, exactly as written
    kExpect,   // < the answer to a request, or the next notification
    kBegin,    // <1 a stream of replies, until its first chunk has come
    kStream,   // << a stream of replies, to its end
    kNotices,  // <~ a stream of notifications, to its end
    kSilence,  // <! nothing more is on its way
  };
  Kind kind;
  std::string text;
  std::size_t number;                 // in the file
  std::vector<Transport> transports;  // that this line is for, as the next
  std::vector<std::string> versions;  // of the runtime
};

// A file that is there before the dialogue begins; its path is a variable of that name.
struct PreparedFile {
  std::string name;
  std::string content;
};

struct Transcript {
  std::string name;
  std::vector<std::string> settings;  // the server's
  std::vector<PreparedFile> files;
  std::vector<TranscriptLine> lines;

  // Whether any line is.
  bool is_for(Transport transport) const;
};

// Throws std::runtime_error with file and line.
Transcript read_transcript(const std::string& path);
// All of tests/transcripts, by name.
std::vector<Transcript> all_transcripts();

// Plays it against a server of its own, on the simulator of that version. Throws std::runtime_error with file, line,
// and what was found.
void play(const Transcript& transcript, Transport transport, const std::string& version);

}  // namespace rkllm_mcp::test
