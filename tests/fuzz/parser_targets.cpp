#include "fuzz/parser_targets.hpp"

#include "fuzz/memory_file.hpp"
#include "jsonrpc/envelope.hpp"
#include "jsonrpc/message.hpp"
#include "settings/document.hpp"
#include "settings/load.hpp"
#include "settings/refused.hpp"
#include "support/frames_in_words.hpp"
#include "transport/http/http_message.hpp"
#include "transport/http/http_parser.hpp"
#include "transport/http/origin_policy.hpp"
#include "transport/lines/line_framer.hpp"
#include "transport/websocket/websocket_protocol.hpp"
#include "worker/reply_reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using Events = std::vector<std::string>;

constexpr std::size_t kLongestMessage = 200;

void require(bool holds, const char* rule) {
  if (!holds) throw std::logic_error(rule);
}

// Calls `read(bytes, piece)` with the whole input at once and in pieces, and compares what it gives.
template <class Read>
void in_pieces(std::string_view input, const Read& read) {
  if (input.empty()) return;
  const auto piece = std::max<std::size_t>(1, static_cast<unsigned char>(input.front()));
  input.remove_prefix(1);
  require(read(input, std::max<std::size_t>(1, input.size())) == read(input, piece), "pieces make a difference");
}

Events read_lines(std::string_view bytes, std::size_t piece) {
  Events events;
  const auto receive = [&events](const std::optional<Received>& received) {
    if (!received) return;
    if (const auto* line = std::get_if<std::string_view>(&*received)) {
      require(line->size() <= kLongestMessage, "a line is longer than the limit");
      require(line->find('\n') == std::string_view::npos, "a line has a newline");
      events.emplace_back(*line);
    } else {
      events.emplace_back("oversized");
    }
  };
  FirstBytes guard;
  LineFramer framer(kLongestMessage);
  bool is_allowed = true;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    std::string_view part = bytes.substr(0, piece);
    for (std::string_view rest = part; !rest.empty();) receive(framer.next(rest));
    is_allowed = guard.allow(part);
  }
  receive(framer.finish());
  events.emplace_back(is_allowed ? "messages" : "another protocol");
  return events;
}

// What is answered before the request reaches a method. No header of it can add one to the answer.
std::string answer_to(const http::Request& request) {
  static const http::OriginPolicy kPolicy({{"https://chat.example"}, {"board.local"}},
                                          http::OriginPolicy::Binding::kLoopback);
  http::Response response = http::plain_response(200, request.bearer_token());
  if (const auto objection = kPolicy.objection(request)) {
    response = http::plain_response(403, *objection);
  } else if (auto preflight = kPolicy.preflight(request)) {
    response = *std::move(preflight);
  } else if (websocket::wants_websocket(request)) {
    response = websocket::handshake(request);
  }
  for (const auto& [name, value] : kPolicy.cors_headers(request)) response.headers.add(name, value);
  std::string text = http::last_response(response);
  const std::string_view head = std::string_view(text).substr(0, text.size() - response.body.size());
  require(head.find("\r\n\r\n") == head.size() - 4, "a header ends the head");
  const auto lines = std::count(head.begin(), head.end(), '\n');
  require(lines == static_cast<std::ptrdiff_t>(response.headers.size()) + 6, "a header adds another");
  return text;
}

Events read_http(std::string_view bytes, std::size_t piece) {
  Events events;
  http::Parser parser({256, 1024, 20, 512});
  for (; !bytes.empty() && !parser.refusal(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    std::string_view rest = bytes.substr(0, piece);
    while (!rest.empty() && !parser.refusal()) {
      rest.remove_prefix(parser.feed(rest));
      if (!parser.complete()) continue;
      const http::Request request = parser.take();
      require(request.body.size() <= 512, "a body is longer than the limit");
      events.push_back(request.method + " " + request.target + " " + request.body);
      events.push_back(answer_to(request));
    }
  }
  if (parser.refusal()) events.push_back(std::to_string(parser.refusal()->status));
  return events;
}

Events read_frames(std::string_view bytes, std::size_t piece) {
  Events events = test::frames_in_words(bytes, piece, kLongestMessage);
  for (const std::string& event : events) {
    if (!event.starts_with("text ")) continue;
    const std::string_view text = std::string_view(event).substr(5);
    require(text.size() <= kLongestMessage, "a message is longer than the limit");
    require(is_valid_utf8(text), "a message is no UTF-8");
  }
  return events;
}

void take_message(std::string_view text) {
  const Message message = parse_message(text, {.max_depth = 64, .max_id_bytes = 256});
  if (const auto* request = std::get_if<Request>(&message)) {
    // What is answered is one line of JSON with the id as it was written.
    const std::string reply = result_message(request->id, Json::object());
    require(Json::accept(reply) && reply.find('\n') == std::string::npos, "the answer is not a line of JSON");
  } else if (const auto* malformed = std::get_if<Malformed>(&message)) {
    require(Json::accept(error_message(malformed->id, malformed->error)), "the error is no JSON");
  }
}

void take_settings(std::string_view text) {
  try {
    const Document document("settings.json", text);
    require(document.value().is_object(), "settings are no object");
    for (const auto& [section, value] : document.value().items()) document.place_of(section);
    const MemoryFile file(text);
    const LoadedSettings loaded = load_settings({.path = file.path(), .assignments = {}, .environment = {}});
    settings_report(loaded);
    Settings running;
    reload(running, loaded.values);
    require(reload(running, loaded.values).changed.empty(), "settings change for ever");
  } catch (const SettingsRefused&) {
    // as it should be
  }
}

class TokenEvents final : public CallObserver {
 public:
  void on_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t id) noexcept override {
    all.push_back(std::to_string(batch) + " " + std::to_string(id) + " " + std::string(text.value_or("none")));
  }
  void on_rows(const FloatRows& rows) noexcept override {
    const std::string_view bytes(reinterpret_cast<const char*>(rows.values), rows.rows * rows.columns * sizeof(float));
    all.push_back(std::string(rows.field) + " " + std::string(bytes));
  }
  void on_done(CallOutcome) noexcept override {}

  Events all;
};

// A run's frames from a worker that has gone mad.
Events read_worker(std::string_view bytes, std::size_t piece) {
  constexpr std::size_t kEntries = 4;
  TokenEvents events;
  ReplyReader::Run run{1, events, kEntries, [] { return true; }};
  ReplyReader reply(1, &run);
  FrameReader frames;
  try {
    while (!bytes.empty()) {
      const auto room = frames.room();
      const auto part = bytes.substr(0, std::min(piece, room.size()));
      std::memcpy(room.data(), part.data(), part.size());
      frames.filled(part.size());
      bytes.remove_prefix(part.size());
      while (const auto frame = frames.next()) {
        if (reply.take(*frame)) return std::move(events.all);
      }
    }
  } catch (const BadFrame& error) {
    events.all.emplace_back(error.what());
  }
  return std::move(events.all);
}

constexpr std::array kTargets{
    ParserTarget{"line", [](std::string_view input) { in_pieces(input, read_lines); }},
    ParserTarget{"http", [](std::string_view input) { in_pieces(input, read_http); }},
    ParserTarget{"websocket", [](std::string_view input) { in_pieces(input, read_frames); }},
    ParserTarget{"message", take_message},
    ParserTarget{"settings", take_settings},
    ParserTarget{"worker", [](std::string_view input) { in_pieces(input, read_worker); }},
};

}  // namespace

std::span<const ParserTarget> parser_targets() { return kTargets; }

}  // namespace rkllm_mcp::test
