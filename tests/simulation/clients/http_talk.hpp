// One HTTP connection of a simulated client: requests, which may follow one another without waiting, and their answers
// in the same order, each whole or as a stream of events.
#pragma once

#include "simulation/world/sim_connection.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp::simulation {

class HttpTalk : public std::enable_shared_from_this<HttpTalk> {
 public:
  using Fields = std::map<std::string, std::string>;  // of answers: names in lower case
  struct Answer {
    int status = 0;
    Fields fields{};
    std::string body{};
    bool streamed = false;  // its events have been told one by one
  };
  struct Event {
    std::string id;
    std::string name;
    std::string data;
  };
  struct Hearer {
    std::function<void(const Answer&)> answered;
    std::function<void(const Event&)> event{};  // null: a stream of events is no answer to this request
  };

  // `ended`: the server has closed; what has not been answered then, never is.
  static std::shared_ptr<HttpTalk> start(std::shared_ptr<SimConnection> connection, std::function<void()> ended);

  void ask(std::string_view method, std::string_view path, const Fields& fields, std::string_view body, Hearer hearer);
  // The same text, to be sent in part.
  static std::string request(std::string_view method, std::string_view path, const Fields& fields,
                             std::string_view body);
  static std::string post(std::string_view path, std::string_view json);

  SimConnection& connection() { return *connection_; }
  std::size_t waiting() const { return hearers_.size(); }  // requests without their whole answer

 private:
  explicit HttpTalk(std::shared_ptr<SimConnection> connection) : connection_(std::move(connection)) {}

  void received(std::string_view bytes);
  bool take_head();
  bool take_body();
  bool take_chunk();
  void take_events(std::string_view bytes);
  void take_lines();
  void end();

  const std::shared_ptr<SimConnection> connection_;
  std::deque<Hearer> hearers_;
  std::string input_;   // that has come so far
  std::string events_;  // the end of an event stream so far: an event that has not come whole
  enum class Part { kHead, kBody, kChunks } part_ = Part::kHead;
  Answer answer_;
  std::size_t body_bytes_ = 0;
};

}  // namespace rkllm_mcp::simulation
