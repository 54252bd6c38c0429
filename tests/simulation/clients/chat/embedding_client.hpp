// A client that wants embeddings, of a few texts at a time: each text gets its own, in their order. It leaves at times.
#pragma once

#include "simulation/clients/client.hpp"
#include "simulation/clients/departure.hpp"
#include "simulation/clients/http_talk.hpp"
#include "simulation/server/sim_server.hpp"
#include "simulation/world/world.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace rkllm_mcp::simulation {

class EmbeddingClient : public Client, public std::enable_shared_from_this<EmbeddingClient> {
 public:
  EmbeddingClient(World& world, SimServer& server, std::string name);
  void start() override { plan(); }

  void settle() override;
  bool is_done() const override;
  std::string owed() const override { return name_; }
  void check() override;

 private:
  struct Line {
    std::string peer;
    std::shared_ptr<HttpTalk> talk{};
    Departure departure{};
    std::vector<std::string> texts{};
    bool is_over = false;
  };

  void plan();
  void act();
  void ask();
  void answered(Line& line, const HttpTalk::Answer& answer) const;
  static bool is_open(const Line& line) { return !line.is_over && !line.departure.has_left(); }

  World& world_;
  SimServer& server_;
  const std::string name_;
  std::vector<std::unique_ptr<Line>> lines_;
  bool settled_ = false;
};

}  // namespace rkllm_mcp::simulation
