#include "sim_worker.hpp"

#include "sim_backend.hpp"

#include "faults.hpp"
#include "worker/control_socket.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

namespace rkllm_mcp::simulation {
namespace {

constexpr std::chrono::seconds kLeftBehind{30};
// Who has had something to do for so long, on any of its sockets, may be taken for one that hangs: the schedule made it
// slow.
constexpr std::chrono::seconds kSlow{25};
constexpr int kCallFailed = 4001;

Descriptor duplicate(const Descriptor& descriptor) {
  return Descriptor(::fcntl(descriptor.number(), F_DUPFD_CLOEXEC, 0));
}

bool has_news(const Descriptor& descriptor) {
  pollfd asked{descriptor.number(), POLLIN, 0};
  return descriptor.number() >= 0 && ::poll(&asked, 1, 0) > 0;
}

std::string head(FrameType type, std::uint16_t flags, std::uint32_t call, std::size_t bytes) {
  const FrameHead head{static_cast<std::uint32_t>(bytes), type, flags, call};
  return {reinterpret_cast<const char*>(&head), sizeof head};
}

std::size_t some_of(Choices& choices, std::size_t most) {
  switch (choices.choose(4)) {
    case 1: return 1;
    case 2: return std::min<std::size_t>(most, 1 + choices.choose(64));
    default: return most;
  }
}

}  // namespace

const std::shared_ptr<SimWorker>& SimWorkers::start(const Descriptor& control, const Descriptor& log) {
  const auto id = static_cast<pid_t>(all_.size() + 1);
  const auto& worker = all_.emplace_back(std::make_shared<SimWorker>(world_, id, control, log));
  if (behave_) worker->behave();
  if (fail_rarely_) worker->fail_rarely();
  world_.before_each_step(worker, [worker = worker.get()] { worker->look(); });
  return worker;
}

void SimWorkers::fail_rarely() {
  fail_rarely_ = true;
  for (const auto& worker : all_) worker->fail_rarely();
}

void SimWorkers::behave(bool well) {
  behave_ = well;
  for (const auto& worker : all_) worker->behave(well);
}

SimWorker::SimWorker(World& world, pid_t id, const Descriptor& control, const Descriptor& log)
    : world_(world), id_(id), control_(duplicate(control)), log_(duplicate(log)), end_news_(make_pipe()) {}

Descriptor SimWorker::end_news() const { return duplicate(end_news_.first); }

void SimWorker::look() {
  if (end_ && leaves_open_ && Clock::now() - died_ >= kLeftBehind) close_all();
  if (!works()) return;
  if (!behaves_ && world_.choices().happens(256)) {
    has_failed_ = true;
    World::saw("a worker died although nothing was asked of it");
    return die({SIGBUS, 0});
  }
  if (!control_offered_ && has_news(control_)) {
    control_offered_ = true;
    world_.may_happen(said() + " hears the server", [self = shared_from_this()] {
      self->control_offered_ = false;
      if (self->works()) self->take_place();
    });
  }
  bool is_idle = true;
  for (Place& place : places_) {
    for (const Line* line : {&place.turn, &place.beside}) {
      is_idle = is_idle && line->out.empty() && !has_news(line->socket);
    }
    is_idle = is_idle && place.calls.empty();
    offer(place, place.turn);
    offer(place, place.beside);
    if (place.calls.empty() || place.offered) continue;
    place.offered = true;
    world_.may_happen(said() + " goes on with " + place.calls.front().method + " " + place.calls.front().name,
                      [self = shared_from_this(), &place] {
                        place.offered = false;
                        if (self->works()) self->go_on(place);
                      });
  }
  if (is_idle) last_idle_ = Clock::now();
}

void SimWorker::take_place() {
  auto passed = take_sockets(control_);
  if (!passed) return die({0, 0});  // the server needs it no more
  handles_.insert(passed->label);
  const int little = 1;  // of which the system makes the least that there is
  for (const Descriptor* const end : {&passed->ends.first, &passed->ends.second}) {
    ::setsockopt(end->number(), SOL_SOCKET, SO_SNDBUF, &little, sizeof little);
  }
  places_.push_back(Place{passed->label, Line{std::move(passed->ends.first)}, Line{std::move(passed->ends.second)}});
}

void SimWorker::offer(Place& place, Line& line) {
  if (!line.read_offered && has_news(line.socket)) {
    line.read_offered = true;
    world_.may_happen(said() + " reads", [self = shared_from_this(), &place, &line] {
      line.read_offered = false;
      if (self->works()) self->read(place, line);
    });
  }
  if (line.out.empty() || line.write_offered) return;
  line.write_offered = true;
  world_.may_happen("bytes come from " + said(), [self = shared_from_this(), &line] {
    line.write_offered = false;
    if (!self->works() || line.out.empty()) return;
    const std::size_t bytes = some_of(self->world_.choices(), line.out.size());
    const ssize_t sent = ::send(line.socket.number(), line.out.data(), bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) return World::saw("a worker found its socket full, or closed");
    if (static_cast<std::size_t>(sent) < line.out.size()) World::saw("a frame came in pieces");
    line.out.erase(0, static_cast<std::size_t>(sent));
  });
}

void SimWorker::read(Place& place, Line& line) {
  const auto room = line.reader.room();
  const std::size_t bytes = std::min(room.size(), some_of(world_.choices(), room.size()));
  const ssize_t got = ::recv(line.socket.number(), room.data(), bytes, MSG_DONTWAIT);
  if (got <= 0) {
    line.socket.close();
    line.out.clear();
    if (&line == &place.beside) return;  // calls without a handle have none
    // The model is destroyed, and its place is nobody's. What is offered for it may still be called.
    place.beside.socket.close();
    place.beside.out.clear();
    place.calls.clear();
    return;
  }
  line.reader.filled(static_cast<std::size_t>(got));
  while (const auto frame = line.reader.next()) take(place, line, *frame);
}

void SimWorker::take(Place& place, Line& line, const Frame& frame) {
  if (frame.head.type == FrameType::kStop) {
    World::saw("a worker was told to stop a run");
    place.stopped = frame.head.call;
    return;
  }
  const auto name_bytes = static_cast<unsigned char>(frame.content[1]);
  Call call{frame.head.call, std::string(frame.content.substr(2, name_bytes)), {}};
  if (!call.method.empty()) call.params = Json::parse(frame.content.substr(2U + name_bytes));
  const std::string prompt = call.params.is_object() ? call.params.value("prompt", "") : std::string();
  const std::size_t colon = std::min(prompt.find(':'), prompt.size());
  call.name = prompt.substr(0, colon);
  if (call.method == "run") call.tokens = std::stoul(prompt.substr(colon + 1));
  if (&line == &place.turn) {
    place.calls.push_back(std::move(call));
    return;
  }
  const bool runs = !place.calls.empty() && place.calls.front().method == "run";
  if (call.method == "abort" && runs) place.stopped = place.calls.front().number;
  end_call(line, call.number, {{"result", {{"status", 0}, {"name", call.name}}}});
}

void SimWorker::go_on(Place& place) {
  if (place.calls.empty() || suffers(place)) return;
  Call& call = place.calls.front();
  const bool is_stopped = place.stopped == call.number;
  if (call.given < call.tokens && !is_stopped) return give_tokens(place, call);
  make(place, call);
  place.calls.pop_front();
}

// What may befall it in the middle of a call. True: it does not go on.
bool SimWorker::suffers(Place& place) {
  if (behaves_) return false;
  const auto fails = [this](const char* what) {
    has_failed_ = true;
    World::saw(what);
    return true;
  };
  switch (fails_once_in_ - world_.choices().choose(fails_once_in_)) {
    case 1: die({SIGSEGV, 0}); return fails("a worker died in a call");
    case 2:
      print("E worker: the library is no library");
      die({0, 3});
      return fails("a worker exited in a call");
    case 3:
      world_.tell(said() + " hangs");
      hangs_ = true;
      return fails("a worker hung");
    case 4:
      world_.tell(said() + " is stopped");
      is_stopped_ = true;
      return fails("a worker was stopped by a signal");
    case 5:
      place.turn.out += head(static_cast<FrameType>(99), 0, place.calls.front().number, 0);
      return fails("a worker spoke nonsense");
    case 6: print("I rkllm: still here"); return false;
    case 7: print("E rkllm: this went wrong"); return false;
    default: return false;
  }
}

void SimWorker::give_tokens(Place& place, Call& call) {
  std::string records;
  for (auto more = 1 + world_.choices().choose(3); more > 0 && call.given < call.tokens; --more, ++call.given) {
    const bool is_another = has_fault("a worker tells another token");
    const std::string text = SimBackend::token(call.name, call.given + (is_another ? 1 : 0));
    append_token(records, {0, text, static_cast<std::int32_t>(call.given)});
  }
  place.turn.out += head(FrameType::kTokens, 0, call.number, records.size()) + records;
  if (!call.has_given_rows && world_.choices().happens(8)) give_rows(place, call);
}

void SimWorker::give_rows(Place& place, const Call& call) {
  place.calls.front().has_given_rows = true;
  const float last = has_fault("a worker tells other rows") ? 7 : 6;
  const std::array<float, 6> values{1, 2, 3, 4, 5, last};
  std::string rows;
  const std::size_t count = has_fault("a worker tells one row less") ? 1 : 2;
  append_rows_head(rows, FloatRows{"f", "v", "r", "c", values.data(), count, 3});
  const auto* const bytes = reinterpret_cast<const char*>(values.data());
  rows.append(bytes, sizeof(float));
  const std::string_view rest(bytes + sizeof(float), (count * 3 - 1) * sizeof(float));
  place.turn.out += head(FrameType::kRows, kBegins, call.number, rows.size()) + rows;
  place.turn.out += head(FrameType::kRows, 0, call.number, rest.size()) + std::string(rest);
}

void SimWorker::make(Place& place, Call& call) {
  const std::string name = has_fault("a worker answers for another call") ? "somebody" : call.name;
  Json end{{"result", {{"status", 0}, {"name", name}}}};
  if (call.method == "init") {
    place.loaded = behaves_ || !world_.choices().happens(12);
    if (!place.loaded) {
      World::saw("a model could not be loaded");
      const int code = has_fault("a worker tells an error of a kind that there is not") ? 1 : kCallFailed;
      end = {{"error", {{"code", code}, {"message", "no such file"}, {"data", {{"name", name}}}}}};
    }
  }
  if (call.method == "destroy") place.loaded = false;
  if (call.method == "run") {
    end["state"] = "FINISH";
    end["aborted"] =
        place.stopped == call.number || has_fault("a worker says that a run was stopped, and nobody has stopped it");
  }
  end["loaded"] = place.loaded;
  end["session"] = Json::object();
  end_call(place.turn, call.number, std::move(end));
}

void SimWorker::end_call(Line& line, std::uint32_t number, Json end) {
  const std::string text = end.dump();
  const std::size_t half = world_.choices().happens(8) ? text.size() / 2 : text.size();
  if (half < text.size()) line.out += head(FrameType::kEnd, kMoreFollows, number, half) + text.substr(0, half);
  const std::size_t begin = half < text.size() ? half : 0;
  line.out += head(FrameType::kEnd, 0, number, text.size() - begin) + text.substr(begin);
}

void SimWorker::print(std::string_view line) const {
  const std::string whole = std::string(line) + "\n";
  [[maybe_unused]] const ssize_t written = ::write(log_.number(), whole.data(), whole.size());
}

void SimWorker::kill() {
  if (end_) return;
  if (Clock::now() - last_idle_ >= kSlow) has_failed_ = true;
  die({SIGKILL, 0});
}

void SimWorker::die(ChildProcess::End end) {
  if (end_) return;
  end_ = end;
  died_ = Clock::now();
  world_.tell(said() + " ends");
  leaves_open_ = !behaves_ && world_.choices().happens(8);
  if (leaves_open_) World::saw("a worker left a process behind that holds its sockets");
  const auto tell_end = [self = shared_from_this()] {
    self->end_is_told_ = true;
    self->end_news_.second.close();
  };
  world_.may_happen("the end of " + said() + " is told", tell_end);
  if (!leaves_open_) {
    world_.may_happen("the sockets of " + said() + " close", [self = shared_from_this()] { self->close_all(); });
  }
}

void SimWorker::close_all() {
  control_.close();
  log_.close();
  for (Place& place : places_) {
    place.turn.socket.close();
    place.beside.socket.close();
  }
  leaves_open_ = false;
}

}  // namespace rkllm_mcp::simulation

namespace rkllm_mcp {

using simulation::SimWorkers;

ChildProcess::ChildProcess(const Command& /*command*/, const Descriptor& control, const Descriptor& log)
    : id_(SimWorkers::current->start(control, log)->id()) {}

Descriptor ChildProcess::end_news() const { return SimWorkers::current->find(id_).end_news(); }

bool ChildProcess::is_stopped() const {
  const auto& worker = SimWorkers::current->find(id_);
  return worker.is_stopped() && !worker.has_ended();
}

bool ChildProcess::has_ended(Wait wait) const {
  const auto& worker = SimWorkers::current->find(id_);
  if (wait == Wait::kYes) simulation::SimThreads::current->wait([&worker] { return worker.has_ended(); });
  return worker.has_ended();
}

void ChildProcess::kill() const { SimWorkers::current->find(id_).kill(); }

ChildProcess::End ChildProcess::reap() const {
  const auto& worker = SimWorkers::current->find(id_);
  simulation::SimThreads::current->wait([&worker] { return worker.has_ended(); });
  return worker.end();
}

}  // namespace rkllm_mcp
