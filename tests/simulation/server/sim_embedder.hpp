// A model for embeddings as the chat host asks for it (ModelLender, EmbeddingSeam): one lease at a time, a run for each
// text, which tells its rows some time, and fails at times. Of each text it has another row.
#pragma once

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

class SimEmbedder final : public chat::EmbeddingSeam {
 public:
  explicit SimEmbedder(World& world);

  const chat::EmbeddingFacts& facts() const override { return facts_; }
  void hidden_rows(std::string text, std::function<void(chat::HiddenRows)> done) override;

  std::unique_ptr<chat::QueuePlace> ask(chat::PlaceWish wish, chat::PlaceEvents<chat::EmbeddingLease> events);
  // Places and leases, of clients whose address is `peer`, or of all.
  std::size_t places_of(std::string_view peer) const;
  std::size_t places() const { return waiting_.size() + (holder_ ? 1U : 0U); }
  bool has_failed(const std::string& text) const { return failed_.count(text) > 0; }

  // What must come of a text.
  static std::vector<double> vector_of(const std::string& text);

 private:
  struct Place {
    std::uint64_t number = 0;
    std::string peer{};
    chat::PlaceEvents<chat::EmbeddingLease> events{};
  };
  class HeldPlace;
  class Lease;

  void offer();

  World& world_;
  chat::EmbeddingFacts facts_;
  std::list<Place> waiting_;
  std::optional<std::string> holder_;
  bool is_offered_ = false;
  bool is_running_ = false;
  int made_again_ = 0;  // by a fault that is put back
  std::uint64_t leases_ = 0;
  std::uint64_t next_ = 0;
  std::map<std::string, std::size_t> failed_;
};

}  // namespace rkllm_mcp::simulation
