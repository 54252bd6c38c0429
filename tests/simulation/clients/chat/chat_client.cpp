#include "chat_client.hpp"

#include <algorithm>
#include <utility>

namespace rkllm_mcp::simulation {
namespace {

constexpr int kMostQuestions = 6;
constexpr std::size_t kMostLines = 5;
constexpr std::size_t kLongAnswer = 40;
constexpr std::size_t kTries = 3;  // for an answer that has to be JSON
// Tokens that a model may have made before their reader has them: what the server and the network hold for it.
constexpr std::size_t kMostAhead = 20;

}  // namespace

ChatClient::ChatClient(World& world, SimServer& server, std::string name)
    : world_(world), server_(server), name_(std::move(name)) {}

void ChatClient::start() {
  switch (world_.choices().choose(3)) {
    case 0: conversation_ = make_sent_conversation(world_); break;
    case 1: conversation_ = make_kept_conversation(world_, server_); break;
    default: conversation_ = make_remembered_conversation(world_, server_, name_); break;
  }
  connect();
  plan();
}

void ChatClient::plan() {
  world_.may_happen(name_ + " acts", [self = shared_from_this()] { self->act(); });
}

ChatClient::Line& ChatClient::connect() {
  const auto line = std::make_shared<Line>();
  line->peer = name_ + "/" + std::to_string(lines_.size());
  line->talk = HttpTalk::start(server_.connect_http(line->peer), [this, weak = std::weak_ptr(line)] {
    if (const auto alive = weak.lock()) ended(*alive);
  });
  lines_.push_back(line);
  return *line;
}

ChatClient::Line* ChatClient::find_line(bool is_asking) {
  for (const auto& line : lines_) {
    if (line->is_open() && line->answer.has_value() == is_asking) return line.get();
  }
  return nullptr;
}

void ChatClient::act() {
  if (settled_) return;
  Line* const asking = find_line(true);
  switch (world_.choices().choose(12)) {
    case 0:
    case 1:
    case 2:
      if (asking == nullptr) ask();
      break;
    case 3: ask(); break;
    case 4:
      if (asking != nullptr) asking->talk->connection().set_reading(false);
      break;
    case 5:
    case 6:
      for (const auto& line : lines_) line->talk->connection().set_reading(true);
      break;
    case 7:
    case 8: {
      if (asking == nullptr || !world_.choices().happens(3)) break;
      world_.saw("a client left in the middle of an answer");
      asking->departure.leave();
      conversation_->left();
      world_.choices().happens(2) ? asking->talk->connection().reset() : asking->talk->connection().close();
      break;
    }
    case 9: conversation_->go_back(); break;
    default: break;  // it waits
  }
  plan();
}

void ChatClient::ask() {
  if (asked_ == kMostQuestions) return;
  Line* free = find_line(false);
  if (free == nullptr) {
    if (lines_.size() == kMostLines) return;
    free = &connect();
  }
  if (find_line(true) != nullptr) world_.saw("a client asked two questions at once");
  ChatQuestion question;
  question.name = name_ + "." + std::to_string(++asked_);
  question.tokens = world_.choices().happens(8) ? kLongAnswer : world_.choices().choose(SimBackend::kTokens);
  question.streams = world_.choices().choose(3) != 0;
  constexpr std::uint32_t kLeast = 2;
  if (world_.choices().happens(4)) question.limit = kLeast + world_.choices().choose(SimBackend::kTokens);
  question.may_call = conversation_->may_call();
  if (question.may_call && world_.choices().happens(3)) {
    question.form = ChatForm::kCall;
  } else if (conversation_->may_want_json() && world_.choices().happens(5)) {
    question.form = ChatForm::kJson;
  }
  if (question.form != ChatForm::kText) {  // which are whole, or nothing
    question.limit.reset();
    question.tokens %= SimBackend::kTokens;
  }
  free->asked = conversation_->ask(std::move(question));
  free->refusals = server_.lender().refusals_of(free->peer);
  const ChatDialect dialect = conversation_->dialect();
  free->answer.emplace(dialect, free->asked.question);
  HttpTalk::Fields fields = free->asked.fields;
  fields["Content-Type"] = "application/json";
  free->talk->ask("POST", path_of(dialect), fields, free->asked.body.dump(),
                  {[this, free](const HttpTalk::Answer& answer) { answered(*free, answer); },
                   [free](const HttpTalk::Event& event) { free->answer->event(event); }});
}

void ChatClient::answered(Line& line, const HttpTalk::Answer& answer) {
  line.answer->answered(answer);
  const ChatAnswer whole = *std::exchange(line.answer, std::nullopt);
  const ChatQuestion& question = whole.question();
  const SimChatModel& model = server_.lender().model(conversation_->model());
  if (whole.error().empty()) {
    if (model.has_failed_to_answer(question.name)) complain(question.name + " has failed, and looks whole");
    world_.saw(question.streams ? "an answer was streamed" : "an answer came as a whole");
    if (question.is_cut()) world_.saw("an answer reached its limit");
    if (question.form == ChatForm::kJson) {
      world_.saw("an answer was JSON");
    }
    conversation_->answered(line.asked, whole, model.prompt_of(question.name));
  } else {
    world_.saw("a turn failed");
    const bool is_excused = model.has_failed(question.name) || model.wrong_answers(question.name) >= kTries ||
                            server_.lender().refusals_of(line.peer) > line.refusals;
    if (!conversation_->excuses(line.asked, whole.error()) && !is_excused) {
      complain("to " + question.name + " it is told " + whole.error());
    }
  }
  if (settled_) line.talk->connection().finish();
}

void ChatClient::ended(Line& line) {
  line.told_end = true;
  if (line.departure.has_left() || !line.answer) return;
  if (!line.talk->connection().was_left_unread(SimServer::kStall / 2)) {
    complain("the server has closed instead of answering " + line.answer->question().name);
  }
  world_.saw("a client that did not read its answer was given up");
  conversation_->left();
  line.answer.reset();
}

void ChatClient::check() {
  for (const auto& line : lines_) {
    if (line->is_open() && line->answer && line->answer->question().streams) {
      const std::string& name = line->answer->question().name;
      if (server_.lender().model(conversation_->model()).given_of(name) > line->answer->tokens() + kMostAhead) {
        throw Violation{"tokens of " + name + " that nobody reads go on"};
      }
    }
    if (conversation_->is_summed_up()) continue;
    if (line->departure.must_be_noticed(line->talk->connection()) && server_.lender().places_of(line->peer) > 0) {
      throw Violation{"turns of " + line->peer + ", which has gone, go on"};
    }
  }
}

void ChatClient::settle() {
  settled_ = true;
  for (const auto& line : lines_) {
    if (!line->is_open()) continue;
    line->talk->connection().set_reading(true);
    if (!line->answer) line->talk->connection().finish();
  }
}

bool ChatClient::is_done() const {
  return settled_ && std::none_of(lines_.begin(), lines_.end(), [](const auto& line) { return line->is_open(); });
}

std::string ChatClient::owed() const {
  for (const auto& line : lines_) {
    if (line->is_open()) return line->peer + (line->answer ? ": " + line->answer->question().name : "");
  }
  return name_;
}

void ChatClient::complain(const std::string& what, Place place) const { throw Violation{name_ + ": " + what, place}; }

}  // namespace rkllm_mcp::simulation
