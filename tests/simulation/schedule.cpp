#include "schedule.hpp"

#include "simulation/clients/chat/chat_client.hpp"
#include "simulation/clients/chat/embedding_client.hpp"
#include "simulation/clients/direct_client.hpp"
#include "simulation/clients/http_client.hpp"
#include "simulation/clients/mcp/mcp_client.hpp"
#include "simulation/clients/mcp/stateless_client.hpp"
#include "simulation/clients/mcp/task_client.hpp"
#include "simulation/clients/poll_client.hpp"
#include "simulation/clients/worker_client.hpp"
#include "simulation/failures/death.hpp"
#include "simulation/server/news_source.hpp"
#include "simulation/server/sim_server.hpp"
#include "simulation/world/sim_heap.hpp"
#include "simulation/world/world.hpp"

#include "faults.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>

namespace rkllm_mcp::simulation {
namespace {

constexpr std::uint32_t kLeastSteps = 40;
constexpr std::uint32_t kMoreSteps = 200;
constexpr int kStepsToSettle = 3'000;
// A client that looks again and again has an event in each step: after so many, time passes all the same.
constexpr int kStepsWithoutTime = 2'000;
// After that every time-out of the server's has passed, those that follow one another, too.
constexpr std::chrono::seconds kLongestTimeout{700};

class Schedule {
 public:
  explicit Schedule(World& world) : Schedule(world, kKinds[world.choices().choose(std::size(kKinds))]) {}

  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;
  ~Schedule() {
    for (const auto& client : clients_) client->abandon();
    server_.abandon();
  }

  void run() {
    const std::uint32_t steps = kLeastSteps + world_.choices().choose(kMoreSteps);
    for (std::uint32_t i = 0; i < steps; ++i) {
      world_.step();
      check();
    }
    world_.tell("the faults end");
    server_.behave();
    for (const auto& client : clients_) client->settle();
    for (int i = 0; i < kStepsToSettle && !is_done(); ++i) {
      // For those who wait for a time-out.
      if (!world_.has_events() || i >= kStepsWithoutTime) world_.pass(std::chrono::seconds(1));
      world_.step();
      check();
    }
    for (const auto& client : clients_) {
      if (!client->is_done()) throw Violation{"the server still owes " + client->owed()};
    }
    for (int i = 0; i < kStepsToSettle && (world_.has_events() || server_.backend().calls() > 0); ++i) world_.step();
    for (auto passed = std::chrono::seconds(0); passed < kLongestTimeout; passed += std::chrono::seconds(5)) {
      world_.pass(std::chrono::seconds(5));
      while (world_.has_events()) world_.step();
    }
    server_.forget_sessions();
    while (world_.has_events()) world_.step();  // what they have still held ends
    server_.end_models();
    check_end();
  }

 private:
  // What has nothing to do with the rest has schedules of its own: these are shorter, and so more of them are seen.
  enum class Kind { kClients, kClientsOfWorkers, kWorkers, kLeases, kChatHost };
  static constexpr Kind kKinds[] = {Kind::kClients, Kind::kClients,  Kind::kClients,          Kind::kClients,
                                    Kind::kWorkers, Kind::kChatHost, Kind::kClientsOfWorkers, Kind::kLeases,
                                    Kind::kClients, Kind::kClients,  Kind::kWorkers,          Kind::kChatHost};

  Schedule(World& world, Kind kind)
      : world_(world),
        server_(world,
                kind == Kind::kClientsOfWorkers ? SimServer::Models::kInWorkers : SimServer::Models::kSimulated) {
    switch (kind) {
      case Kind::kClients: add_clients(2, true); break;
      case Kind::kClientsOfWorkers: add_clients(1, false); break;
      case Kind::kWorkers: add_models(WorkerClient::Leases::kNone); break;
      case Kind::kLeases: add_models(WorkerClient::Leases::kSome); break;
      case Kind::kChatHost: add_chat_host(); break;
    }
  }

  void add_models(WorkerClient::Leases leases) {
    add("models", 1, 1,
        [this, leases](const auto& name) { return std::make_shared<WorkerClient>(world_, name, leases); });
  }
  // At most so many of MCP over HTTP, and of plain HTTP: schedules with workers are long.
  void add_clients(std::uint32_t most, bool with_news) {
    add("client", 1, 3, [this](const std::string& name) {
      auto wire = world_.choices().choose(2) == 0 ? make_lines(server_) : make_websocket(world_, server_);
      return std::make_shared<DirectClient>(world_, server_, std::move(wire), name);
    });
    add<PollClient>("poller", 0, 1);
    add<McpClient>("agent", 0, most);
    add<StatelessClient>("visitor", 0, 1);
    add<TaskClient>("errands", 0, 1);
    if (with_news) add<NewsSource>("news", 0, 1);
    add<HttpClient>("web", 0, most);
  }
  void add_chat_host() {
    add<ChatClient>("chatter", 1, 3);
    add<EmbeddingClient>("reader", 0, 1);
    add<HttpClient>("web", 0, 1);
  }

  // From `least` to `most` clients of a kind.
  template <class Kind>
  void add(const char* name, std::uint32_t least, std::uint32_t most) {
    add(name, least, most, [this](const std::string& full) { return std::make_shared<Kind>(world_, server_, full); });
  }
  template <class Make>
  void add(const std::string& name, std::uint32_t least, std::uint32_t most, const Make& make) {
    const std::uint32_t count = least + world_.choices().choose(most - least + 1);
    for (std::uint32_t i = 0; i < count; ++i) {
      clients_.push_back(make(name + std::to_string(i)));
      clients_.back()->start();
    }
  }

  bool is_done() const {
    return std::all_of(clients_.begin(), clients_.end(), [](const auto& client) { return client->is_done(); });
  }

  // What always holds.
  void check() {
    if (has_fault("the program crashes")) std::abort();
    volatile bool goes_on = true;  // compilers may leave out a loop that does nothing
    while (has_fault("a step never ends") && goes_on) {
    }
    if (has_fault("a schedule is not the same twice")) {
      static int step = 0;
      world_.tell("step " + std::to_string(++step) + " of all schedules");
    }
    for (const auto& client : clients_) client->check();
    server_.check();
    if (server_.memory_used() > kMostMemory) {
      throw Violation{"the server holds " + std::to_string(server_.memory_used()) + " bytes for a few small requests"};
    }
    // What the memory budget does not count is here, too.
    if (const std::size_t allocated = allocated_bytes() - allocated_before_; allocated > kMostAllocated) {
      throw Violation{std::to_string(allocated) + " bytes are allocated for a few small requests"};
    }
  }

  void check_end() const {
    const auto none = [](std::size_t count, const char* what, Place place = Place::here()) {
      if (count > 0) throw Violation{std::to_string(count) + what, place};
    };
    none(server_.backend().calls(), " calls go on although all clients have gone");
    none(server_.turns(), " turns, or requests for them, are left");
    none(server_.lender().places(), " places in queues of models, or leases, are left");
    none(server_.connections(), " connections are left");
    none(server_.asking().open(), " calls still ask clients that have gone");
    none(server_.upstream().calls(), " calls of another server's tools go on for nobody");
    none(server_.upstream().questions(), " questions of another server are never answered");
    none(server_.stream_memory_used(), " bytes of streams are left");
    none(server_.memory_used(), " bytes of memory are held for nobody");
    for (const auto& client : clients_) client->check_end();
  }

  static constexpr std::size_t kMostMemory = std::size_t{1} << 20U;
  static constexpr std::size_t kMostAllocated = std::size_t{8} << 20U;

  const std::size_t allocated_before_ = allocated_bytes();

  World& world_;
  SimServer server_;
  std::vector<std::shared_ptr<Client>> clients_;
};

// Each schedule takes the memory that the one before has given back, instead of asking the system for it again.
void keep_freed_memory() {
  constexpr int kNever = 1 << 30;
  ::mallopt(M_MMAP_THRESHOLD, kNever);
  ::mallopt(M_TRIM_THRESHOLD, kNever);
}

}  // namespace

Outcome run_schedule(Choices choices, WholeStory* whole) {
  [[maybe_unused]] static const bool once = (keep_freed_memory(), true);
  Outcome outcome;
  auto owned = std::make_unique<World>(choices);
  World& world = *owned;
  const Watched watched(choices, world);
  if (whole != nullptr) world.keep_whole_story();
  try {
    world.run([&world] { Schedule(world).run(); });
  } catch (const Violation& violation) {
    outcome.violation = violation.what;
    outcome.place = violation.place;
  } catch (const std::exception& fault) {
    outcome.violation = std::string("an exception reached the loop: ") + fault.what();
  }
  const auto& story = world.story();
  for (std::size_t i = 0; whole != nullptr && i < story.size(); ++i) {
    whole->push_back({story.at(i), world.story_hashes().at(i)});
  }
  const auto last = static_cast<std::ptrdiff_t>(std::min(story.size(), World::kStoryLines));
  outcome.story.assign(story.end() - last, story.end());
  outcome.trace_hash = world.trace_hash();
  outcome.choices = choices.made();
  static auto* const stuck = new std::vector<std::unique_ptr<World>>();
  if (world.is_stuck()) stuck->push_back(std::move(owned));
  return outcome;
}

Outcome run_seed(std::uint64_t seed) {
  if (seed % 50 != 0) return run_schedule(Choices(seed));
  WholeStory first;
  Outcome outcome = run_schedule(Choices(seed), &first);
  if (!outcome.violation.empty()) return outcome;
  WholeStory second;
  if (run_schedule(Choices(seed), &second).trace_hash != outcome.trace_hash) {
    outcome.violation = "it is not the same twice: " + difference(first, second);
  }
  return outcome;
}

std::string difference(const WholeStory& first, const WholeStory& second) {
  std::size_t same = 0;
  while (same < std::min(first.size(), second.size()) && first[same].hash == second[same].hash) ++same;
  const auto step = [same](const WholeStory& story) {
    return same < story.size() ? '"' + story[same].line + '"' : std::string("the end");
  };
  std::string text = "step " + std::to_string(same + 1) + " of its story, behind " +
                     (same > 0 ? '"' + first[same - 1].line + '"' : "nothing") + ", is " + step(first) + ", and then ";
  text += step(first) == step(second) ? "the same, but before it a client has read something else" : step(second);
  return text;
}

namespace {

// What is the same of a violation whoever is concerned: the words, without numbers.
std::string kind_of(const std::string& violation) {
  std::string kind;
  for (const char byte : violation.substr(0, violation.find('"'))) {
    if (byte == ':' || (byte >= 'a' && byte <= 'z')) kind += byte;
  }
  return kind.substr(0, 32);
}

}  // namespace

bool is_alike(const std::string& violation, const std::string& other) { return kind_of(violation) == kind_of(other); }

Outcome shrink(const Outcome& failed, std::size_t tries) {
  Outcome best = failed;
  // What is easier to understand is less: few choices that are not harmless, then few choices, then small ones.
  const auto weight = [](const Choices::Made& choices) {
    const auto harmless = static_cast<std::size_t>(std::count(choices.begin(), choices.end(), 0U));
    return std::tuple(choices.size() - harmless, choices.size(),
                      std::accumulate(choices.begin(), choices.end(), std::uint64_t{0}));
  };
  const auto attempt = [&](Choices::Made made) {
    if (tries == 0) return false;
    --tries;
    Outcome outcome = run_schedule(Choices(std::move(made)));
    if (!is_alike(outcome.violation, failed.violation)) return false;
    while (!outcome.choices.empty() && outcome.choices.back() == 0) outcome.choices.pop_back();
    if (weight(outcome.choices) >= weight(best.choices)) return false;
    best = std::move(outcome);
    return true;
  };
  // What comes last is left out.
  const auto shorten = [&] {
    for (std::size_t part = best.choices.size() / 2; part > 0; part /= 2) {
      while (best.choices.size() > part &&
             attempt({best.choices.begin(), best.choices.end() - static_cast<std::ptrdiff_t>(part)})) {
      }
    }
  };
  // `change` makes less of each part of so many choices.
  using Choice = Choices::Made::iterator;
  const auto change_parts = [&](std::size_t part, const auto& change) {
    for (std::size_t begin = 0; begin < best.choices.size() && tries > 0;) {
      Choices::Made made = best.choices;
      const std::size_t end = std::min(begin + part, made.size());
      change(made, made.begin() + static_cast<std::ptrdiff_t>(begin), made.begin() + static_cast<std::ptrdiff_t>(end));
      const bool is_less = made != best.choices && attempt(std::move(made));
      if (!is_less) begin = end;
    }
  };
  for (Choices::Made before; before != best.choices && tries > 0;) {
    before = best.choices;
    shorten();
    for (std::size_t part = best.choices.size() / 2; part > 0; part /= 2) {
      change_parts(part, [](Choices::Made& made, Choice begin, Choice end) { made.erase(begin, end); });
      change_parts(part, [](Choices::Made&, Choice begin, Choice end) { std::fill(begin, end, 0); });
    }
  }
  return best;
}

}  // namespace rkllm_mcp::simulation
