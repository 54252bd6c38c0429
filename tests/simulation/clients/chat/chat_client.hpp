// A client of the chat host over HTTP, in one of its dialects: goes on with one conversation, asks two questions of it
// at once, goes back in it, does not read, and loses interest in the middle of an answer.
#pragma once

#include "chat_answer.hpp"
#include "chat_conversation.hpp"
#include "simulation/clients/client.hpp"
#include "simulation/clients/departure.hpp"
#include "simulation/clients/http_talk.hpp"
#include "simulation/server/sim_server.hpp"
#include "simulation/world/world.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rkllm_mcp::simulation {

class ChatClient : public Client, public std::enable_shared_from_this<ChatClient> {
 public:
  ChatClient(World& world, SimServer& server, std::string name);
  void start() override;

  void settle() override;
  bool is_done() const override;
  std::string owed() const override;
  void check() override;
  void check_end() override { conversation_->check_end(); }

 private:
  // One connection, and the question that is asked on it.
  struct Line {
    std::string peer;
    std::shared_ptr<HttpTalk> talk;
    Departure departure;
    bool told_end = false;
    ChatConversation::Asked asked{};
    std::optional<ChatAnswer> answer{};  // that is awaited
    std::size_t refusals = 0;            // how many there had been when the question was asked

    bool is_open() const { return !told_end && !departure.has_left(); }
  };

  void plan();
  void act();
  Line& connect();
  Line* find_line(bool is_asking);  // that is open; null: there is none
  void ask();
  void answered(Line& line, const HttpTalk::Answer& answer);
  void ended(Line& line);
  [[noreturn]] void complain(const std::string& what, Place place = Place::here()) const;

  World& world_;
  SimServer& server_;
  const std::string name_;
  std::unique_ptr<ChatConversation> conversation_;
  std::vector<std::shared_ptr<Line>> lines_;
  int asked_ = 0;
  bool settled_ = false;
};

}  // namespace rkllm_mcp::simulation
