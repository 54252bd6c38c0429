// The models by name, as the chat host asks for them (ModelLender): "a" is loaded, "b" has to be loaded first. Each has
// a queue; its first place becomes a lease some time, and who gives one back lets the next one in.
#pragma once

#include "sim_chat_model.hpp"
#include "sim_embedder.hpp"
#include "simulation/world/world.hpp"

#include "chat/turn/model_lender.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::simulation {

class SimLender final : public chat::ModelLender {
 public:
  static constexpr std::string_view kModels[] = {"a", "b"};
  static constexpr std::string_view kEmbedder = "embedder";
  static constexpr std::size_t kPlaces = 5;  // places of one model, for all clients together

  explicit SimLender(World& world);
  SimLender(const SimLender&) = delete;
  SimLender& operator=(const SimLender&) = delete;

  void refresh(std::function<void()> then) override;
  std::vector<chat::ModelDescription> models(const chat::Asker& asker) const override;
  std::optional<chat::ModelDescription> find(std::string_view name, const chat::Asker& asker) const override;
  std::unique_ptr<chat::QueuePlace> ask(chat::PlaceWish wish, chat::PlaceEvents<chat::ModelLease> events) override;
  std::unique_ptr<chat::QueuePlace> ask_for_embeddings(chat::PlaceWish wish,
                                                       chat::PlaceEvents<chat::EmbeddingLease> events) override;
  std::unique_ptr<chat::QueuePlace> load(chat::PlaceWish wish, chat::PlaceEvents<chat::OnlyLoaded> events) override;
  void unload(std::string name, chat::Asker asker, std::function<void(std::optional<chat::TurnError>)> done) override;

  const SimChatModel& model(std::string_view name) const { return *models_.find(name)->second.seam; }
  const SimEmbedder& embedder() const { return embedder_; }
  // Places and leases, of clients whose address is `peer`, or of all.
  std::size_t places_of(std::string_view peer) const;
  std::size_t places() const;
  // How often who asks from there has been told that there is no place, or no model.
  std::size_t refusals_of(const std::string& peer) const;

 private:
  struct Place {
    std::uint64_t number = 0;
    chat::PlaceWish wish{};
    chat::PlaceEvents<chat::ModelLease> events{};
  };
  struct Model {
    chat::ModelDescription info{};
    std::unique_ptr<SimChatModel> seam{};
    std::list<Place> waiting{};
    std::optional<std::string> holder{};  // the peer that has the lease; nothing: there is no lease
    std::uint64_t load = 1;
    bool is_offered = false;
  };
  class HeldPlace;
  class Lease;

  Place* find_place(std::uint64_t number);
  void offer(Model& model);
  void go_on(Model& model);
  void loaded(Model& model);
  void grant(Model& model);
  void refuse(Model& model, std::uint64_t number, const chat::TurnError& why);
  void give_back(Model& model, const std::optional<chat::KeepAlive>& keep_alive);

  World& world_;
  SimEmbedder embedder_;
  std::map<std::string, Model, std::less<>> models_;
  std::uint64_t next_ = 0;
  std::map<std::string, std::size_t> refusals_;
};

}  // namespace rkllm_mcp::simulation
