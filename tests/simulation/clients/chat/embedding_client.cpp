#include "embedding_client.hpp"

#include <rkllm_mcp/json.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace rkllm_mcp::simulation {
namespace {

constexpr std::size_t kMostEmbeddingLines = 4;
constexpr std::uint32_t kMostTexts = 3;

bool is_near(const Json& vector, const std::vector<double>& expected) {
  constexpr double kError = 1e-5;
  if (!vector.is_array() || vector.size() != expected.size()) return false;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::abs(vector[i].get<double>() - expected[i]) > kError) return false;
  }
  return true;
}

}  // namespace

EmbeddingClient::EmbeddingClient(World& world, SimServer& server, std::string name)
    : world_(world), server_(server), name_(std::move(name)) {}

void EmbeddingClient::plan() {
  world_.may_happen(name_ + " acts", [self = shared_from_this()] { self->act(); });
}

void EmbeddingClient::act() {
  if (settled_) return;
  const auto open = std::ranges::find_if(lines_, [](const auto& each) { return is_open(*each); });
  switch (world_.choices().choose(6)) {
    case 0:
    case 1: ask(); break;
    case 2:
      if (open == lines_.end()) break;
      World::saw("a client left that had asked for embeddings");
      (*open)->departure.leave();
      (*open)->talk->connection().close();
      break;
    default: break;  // it waits
  }
  plan();
}

void EmbeddingClient::ask() {
  if (lines_.size() == kMostEmbeddingLines) return;
  Line& line = *lines_.emplace_back(std::make_unique<Line>());
  line.peer = name_ + "/" + std::to_string(lines_.size());
  const std::uint32_t count = 1 + world_.choices().choose(kMostTexts);
  for (std::uint32_t i = 0; i < count; ++i) line.texts.push_back(line.peer + "#" + std::to_string(i));
  line.talk = HttpTalk::start(server_.connect_http(line.peer), [this, &line] {
    if (!is_open(line)) return;
    if (!line.talk->connection().was_left_unread(SimServer::kStall / 4))
      throw Violation{name_ + ": the server has closed instead of telling embeddings"};
    line.departure.leave();
  });
  const Json body{{"model", SimLender::kEmbedder}, {"input", line.texts}};
  line.talk->ask("POST", "/v1/embeddings", {{"Content-Type", "application/json"}}, body.dump(),
                 {[this, &line](const HttpTalk::Answer& answer) { answered(line, answer); }});
}

void EmbeddingClient::answered(Line& line, const HttpTalk::Answer& answer) const {
  line.is_over = true;
  line.talk->connection().finish();
  const Json reply = Json::parse(answer.body);
  if (reply.contains("error")) {
    const auto& embedder = server_.lender().embedder();
    if (std::ranges::any_of(line.texts, [&](const auto& text) { return embedder.has_failed(text); })) return;
    throw Violation{line.peer + ": embeddings are refused: " + answer.body};
  }
  World::saw("embeddings were told");
  const Json& data = reply.at("data");
  if (data.size() != line.texts.size()) throw Violation{line.peer + ": some embeddings are missing: " + answer.body};
  for (std::size_t i = 0; i < data.size(); ++i) {
    const bool is_right =
        data[i].at("index") == i && is_near(data[i].at("embedding"), SimEmbedder::vector_of(line.texts[i]));
    if (!is_right) throw Violation{line.peer + ": an embedding is another text's: " + answer.body};
  }
}

void EmbeddingClient::check() {
  for (const auto& line : lines_) {
    if (line->departure.must_be_noticed(line->talk->connection()) &&
        server_.lender().embedder().places_of(line->peer) > 0)
      throw Violation{"embeddings for " + line->peer + ", which has gone, go on"};
  }
}

void EmbeddingClient::settle() { settled_ = true; }

bool EmbeddingClient::is_done() const {
  return settled_ && std::ranges::none_of(lines_, [](const auto& each) { return is_open(*each); });
}

}  // namespace rkllm_mcp::simulation
