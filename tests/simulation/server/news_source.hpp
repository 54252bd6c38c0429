// Documents and lists that change now and then, for whoever has asked to be told.
#pragma once

#include "sim_server.hpp"
#include "simulation/clients/client.hpp"
#include "simulation/world/world.hpp"

#include <memory>
#include <string>

namespace rkllm_mcp::simulation {

class NewsSource : public Client, public std::enable_shared_from_this<NewsSource> {
 public:
  NewsSource(World& world, SimServer& server, std::string name)
      : world_(world), server_(server), name_(std::move(name)) {}

  void start() override { plan(); }
  void settle() override { settled_ = true; }
  bool is_done() const override { return settled_; }
  std::string owed() const override { return name_; }
  void check_end() override {
    if (server_.is_watched("news://")) throw Violation{"documents are watched for nobody"};
  }

 private:
  void plan() {
    world_.may_happen(name_ + " goes on", [self = shared_from_this()] { self->act(); });
  }
  void act() {
    constexpr int kMost = 12;
    if (settled_ || published_ == kMost) return;
    switch (world_.choices().choose(6)) {
      case 1: publish(SimServer::kDocuments[world_.choices().choose(2)]); break;
      case 2: publish(SimServer::kLists[world_.choices().choose(3)]); break;
      default: break;  // nothing is new
    }
    plan();
  }
  void publish(std::string_view what) {
    ++published_;
    world_.tell(std::string(what) + " is new");
    server_.publish(std::string(what));
  }

  World& world_;
  SimServer& server_;
  const std::string name_;
  int published_ = 0;
  bool settled_ = false;
};

}  // namespace rkllm_mcp::simulation
