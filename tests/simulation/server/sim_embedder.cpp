#include "sim_embedder.hpp"

#include "faults.hpp"

#include <cmath>
#include <utility>

namespace rkllm_mcp::simulation {
namespace {

// Tells texts apart.
float number_of(const std::string& text) {
  constexpr unsigned kFactor = 31;
  constexpr unsigned kMost = 9973;
  unsigned number = 1;
  for (const char byte : text) number = (number * kFactor + static_cast<unsigned char>(byte)) % kMost;
  return static_cast<float>(number) / kMost;
}

}  // namespace

class SimEmbedder::HeldPlace final : public chat::QueuePlace {
 public:
  HeldPlace(SimEmbedder& embedder, std::uint64_t number) : embedder_(embedder), number_(number) {}
  HeldPlace(const HeldPlace&) = delete;
  HeldPlace& operator=(const HeldPlace&) = delete;
  ~HeldPlace() override {
    embedder_.waiting_.remove_if([this](const Place& each) { return each.number == number_; });
  }

 private:
  SimEmbedder& embedder_;
  const std::uint64_t number_;
};

class SimEmbedder::Lease final : public chat::EmbeddingLease {
 public:
  explicit Lease(SimEmbedder& embedder) : embedder_(embedder) {}
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() override {
    if (!has_fault("the model for embeddings stays with who has had it")) embedder_.holder_.reset();
    embedder_.is_running_ = false;
    ++embedder_.leases_;
    embedder_.offer();
  }

  chat::EmbeddingSeam& model() override { return embedder_; }
  std::optional<double> load_ms() const override { return std::nullopt; }

 private:
  SimEmbedder& embedder_;
};

SimEmbedder::SimEmbedder(World& world) : world_(world) { facts_.max_context_len = 512; }

std::unique_ptr<chat::QueuePlace> SimEmbedder::ask(chat::PlaceWish wish,
                                                   chat::PlaceEvents<chat::EmbeddingLease> events) {
  const std::uint64_t number = ++next_;
  waiting_.push_back({number, wish.peer, std::move(events)});
  offer();
  return std::make_unique<HeldPlace>(*this, number);
}

void SimEmbedder::offer() {
  if (holder_ || waiting_.empty() || std::exchange(is_offered_, true)) return;
  world_.may_happen("the model for embeddings is free", [this] {
    is_offered_ = false;
    if (holder_ || waiting_.empty()) return;
    const Place place = std::move(waiting_.front());
    waiting_.pop_front();
    holder_ = place.peer;
    place.events.granted(std::make_unique<Lease>(*this));
  });
}

void SimEmbedder::hidden_rows(std::string text, std::function<void(chat::HiddenRows)> done) {
  if (std::exchange(is_running_, true)) world_.violates("a model is asked for two embeddings at once");
  world_.may_happen("an embedding is made", [this, lease = leases_, text = std::move(text), done = std::move(done)] {
    if (lease != leases_) return;
    is_running_ = false;
    constexpr int kLong = 400;
    if (has_fault("embeddings are made for long, and for nobody") && ++made_again_ < kLong)
      return hidden_rows(text, done);
    chat::HiddenRows rows;
    if (world_.choices().happens(12)) {
      World::saw("an embedding failed");
      ++failed_[text];
      rows.complaint = "rkllm_run returned -1";
      return done(std::move(rows));
    }
    rows.rows = 2;
    rows.columns = 2;
    rows.values = {0, 1, 1, number_of(text)};
    done(std::move(rows));
  });
}

std::size_t SimEmbedder::places_of(std::string_view peer) const {
  std::size_t count = holder_ == peer ? 1U : 0U;
  for (const Place& place : waiting_) count += place.peer == peer ? 1U : 0U;
  return count;
}

std::vector<double> SimEmbedder::vector_of(const std::string& text) {
  const auto number = static_cast<double>(number_of(text));
  const double length = std::sqrt(1 + number * number);
  return {1 / length, number / length};
}

}  // namespace rkllm_mcp::simulation
