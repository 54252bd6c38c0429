// `rkllm-mcp chat` and `rkllm-mcp ask`, with a server that says what the test wants, and on a terminal.
#include "cli/input_lines.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"
#include "support/terminal_process.hpp"

#include <rkllm_mcp/json.hpp>

#include <httplib.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>

using namespace rkllm_mcp::test;
using rkllm_mcp::Json;

namespace {

// Has the models "small" and "thinker", and answers what it is asked with what it has been asked.
class ChatServer {
 public:
  ChatServer() {
    server_.Get("/v1/models", [](const httplib::Request&, httplib::Response& response) {
      response.set_content(R"({"object":"list","data":[{"id":"small"},{"id":"thinker"}]})", "application/json");
    });
    server_.Get("/health", [this](const httplib::Request&, httplib::Response& response) {
      Json health{{"status", "healthy"}, {"version", "1"}, {"models", Json::array()}, {"loading", Json::array()}};
      const std::lock_guard lock(mutex_);
      if (is_loading_) {
        health["loading"].push_back(Json{{"name", "small"},
                                         {"path", "/models/small.rkllm"},
                                         {"bytes", 1'500'000'000},
                                         {"total", 3'000'000'000},
                                         {"seconds_left", 12.5}});
      }
      response.set_content(health.dump(), "application/json");
    });
    server_.Post("/v1/chat/completions", [this](const httplib::Request& request, httplib::Response& response) {
      answer(Json::parse(request.body), response);
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
  }
  ~ChatServer() {
    server_.stop();
    thread_.join();
  }

  std::string place() const { return "127.0.0.1:" + std::to_string(port_); }
  // Waits until so many questions have been asked, and gives the bodies.
  std::vector<Json> asked(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, Process::kPatience, [&] { return asked_.size() >= count; });
    return asked_;
  }
  // Waits until a client has left an endless answer.
  bool was_left() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, Process::kPatience, [this] { return was_left_; });
  }
  // What it was asked about a cold model is answered.
  void end_load() {
    const std::lock_guard lock(mutex_);
    is_loading_ = false;
    changed_.notify_all();
  }

 private:
  void answer(const Json& body, httplib::Response& response) {
    const std::string question = body["messages"].back()["content"];
    {
      const std::lock_guard lock(mutex_);
      asked_.push_back(body);
      is_loading_ = question == "cold";
      changed_.notify_all();
    }
    const auto event = [](const Json& data) { return "data: " + data.dump() + "\n\n"; };
    const auto delta = [event](const char* kind, const std::string& text) {
      return event(Json{{"choices", {{{"index", 0}, {"delta", {{kind, text}}}}}}});
    };
    if (question == "refuse me") {
      response.status = 503;
      response.set_content(R"({"error":{"message":"busy"}})", "application/json");
      return;
    }
    response.set_chunked_content_provider("text/event-stream", [=, this](std::size_t, httplib::DataSink& sink) {
      const auto send = [&sink](const std::string& text) { return sink.write(text.data(), text.size()); };
      if (question.find("endless") != std::string::npos) {
        int tokens = 0;
        // A token each time that it looks whether the client has left.
        eventually(
            [&] {
              Json chunk{{"choices", {{{"index", 0}, {"delta", {{"content", "and so on "}}}}}}};
              ++tokens;
              if (body.value("timings_per_token", false)) {
                chunk["timings"] =
                    Json{{"predicted_n", tokens}, {"predicted_per_second", tokens > 1 ? Json(7.5) : Json(nullptr)}};
              }
              return !send(event(chunk));
            },
            std::chrono::hours(1));
        const std::lock_guard lock(mutex_);
        was_left_ = true;
        changed_.notify_all();
        return false;
      }
      {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, Process::kPatience, [this] { return !is_loading_; });
      }
      if (question == "break off") {
        send(delta("content", "hello "));
        send(event(Json{{"error", {{"message", "the runtime has died"}}}}));
        sink.done();
        return true;
      }
      if (body["model"] == "thinker") send(delta("reasoning_content", "let me see"));
      if (question == "only think") {
        send("data: [DONE]\n\n");
        sink.done();
        return true;
      }
      send(delta("content", "You said: "));
      send(delta("content", question));
      send(event(Json{{"choices", Json::array()},
                      {"usage", {{"prompt_tokens", 3}, {"completion_tokens", 7}}},
                      {"timings", {{"predicted_per_second", 12.5}}}}));
      send("data: [DONE]\n\n");
      sink.done();
      return true;
    });
  }

  httplib::Server server_;
  std::thread thread_;
  int port_ = 0;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<Json> asked_;
  bool was_left_ = false;
  bool is_loading_ = false;  // the model "small"
};

class Person {
 public:
  Process::Options options(std::vector<std::string> args) const {
    args.insert(args.begin(), kProgram);
    return {.args = std::move(args),
            .env = {{"HOME", home_.path()}, {"TERM", "xterm"}, {"LC_ALL", "C.UTF-8"}},
            .unset = {"XDG_CONFIG_HOME", "XDG_STATE_HOME", "RKLLM_MCP_SETTINGS", "NO_COLOR"},
            .directory = home_.path(),
            .input = Process::Options::Input::kNull};
  }
  EndedProcess run(std::vector<std::string> args) const { return run_to_end(options(std::move(args))); }
  std::string file(const std::string& name) const { return home_ / name; }

 private:
  TemporaryDirectory home_;
};

}  // namespace

TEST_CASE("ask prints the answer alone where nobody looks, and everything as JSON with --json") {
  const ChatServer server;
  const Person person;
  const auto answered = person.run({"ask", "How", "are", "you?", "--to", server.place()});
  CHECK(answered.err.empty());
  CHECK(answered.out == "You said: How are you?\n");
  CHECK(answered.status == 0);
  const auto json =
      person.run({"ask", "Hello", "--model", "thinker", "--system", "Be short", "--json", "--to", server.place()});
  const Json report = Json::parse(json.out);
  CHECK(report["model"] == "thinker");
  CHECK(report["answer"] == "You said: Hello");
  CHECK(report["thinking"] == "let me see");
  CHECK(report["tokens"] == 7);
  CHECK(report["tokens_per_second"] == 12.5);
  CHECK(report["complete"] == true);
}

TEST_CASE("ask adds what is piped in to the question") {
  ChatServer server;
  const Person person;
  auto options = person.options({"ask", "Explain", "--to", server.place()});
  options.input = Process::Options::Input::kPipe;
  Process process(options);
  REQUIRE(process.write("error: 42\n"));
  process.close_input();
  CHECK_THAT(process.read_rest(), has_text("You said: Explain\n\nerror: 42"));
  CHECK(process.wait() == 0);
}

TEST_CASE(
    "ask takes what comes late into its pipe, and asks without it only where standard input says that none comes") {
  ChatServer server;
  const Person person;
  Process::Options options = person.options({"ask", "Why?", "--to", server.place()});
  CHECK(Process(options).read_rest() == "You said: Why?\n");  // its standard input is /dev/null
  options.input = Process::Options::Input::kPipe;
  Process late(options);
  REQUIRE(late.wait_for_error_text("waiting for more of the question on standard input"));
  REQUIRE(late.write("a log"));
  late.close_input();
  CHECK(late.read_rest() == "You said: Why?\n\na log\n");
  CHECK(late.wait() == 0);
  options.args.insert(options.args.end() - 2, "-");
  Process patient(options);
  patient.write("a log");
  patient.close_input();
  CHECK(patient.read_rest() == "You said: Why?\n\na log\n");
  CHECK(patient.wait() == 0);
}

TEST_CASE("a pipe that nobody writes to is given up where nobody asked for what comes, and its end is nothing") {
  const int before = ::dup(STDIN_FILENO);
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  REQUIRE(::dup2(ends[0], STDIN_FILENO) == STDIN_FILENO);
  const auto read = [] {
    return rkllm_mcp::piped_input("more", rkllm_mcp::PipedInput::kMayBeNone, std::chrono::milliseconds(0));
  };
  CHECK_THROWS_WITH(read(), "nothing came on standard input; < /dev/null says that nothing comes, - waits for ever");
  ::close(ends[1]);
  CHECK(read().empty());
  ::dup2(before, STDIN_FILENO);
  for (const int each : {before, ends[0]}) ::close(each);
}

TEST_CASE("ask without a question, a server without chats, an unknown model and no server each name the next step") {
  const ChatServer server;
  const Person person;
  const auto nothing = person.run({"ask", "--to", server.place()});
  CHECK(nothing.status == 2);
  CHECK_THAT(nothing.err, has_text("rkllm-mcp ask \"text\""));
  const auto unknown = person.run({"ask", "Hi", "--model", "smal", "--to", server.place()});
  CHECK(unknown.status == 1);
  CHECK_THAT(unknown.err, has_text("did you mean \"small\"?") && has_text("The server offers: small, thinker"));
  const auto nobody = person.run({"ask", "Hi", "--to", "127.0.0.1:1"});
  CHECK(nobody.status == 1);
  CHECK_THAT(nobody.err, has_text("is the server running? Start it: rkllm-mcp serve"));
  httplib::Server other;
  const int port = other.bind_to_any_port("127.0.0.1");
  std::thread thread([&other] { other.listen_after_bind(); });
  const auto no_chats = person.run({"chat", "--to", "127.0.0.1:" + std::to_string(port)});
  other.stop();
  thread.join();
  CHECK(no_chats.status == 1);
  CHECK_THAT(no_chats.err, has_text("answers no chats") && has_text("rkllm-mcp status"));
}

TEST_CASE("of a model that has only thought, who does not see its thoughts is told so") {
  const ChatServer server;
  const Person person;
  const auto asked = person.run({"ask", "only think", "--model", "thinker", "--to", server.place()});
  CHECK(asked.status == 0);
  CHECK(asked.out == "\n");
  CHECK(asked.err == "rkllm-mcp: the model has only thought, and not answered; --json shows what\n");
  const auto answered = person.run({"ask", "Hello", "--model", "thinker", "--to", server.place()});
  CHECK(answered.err.empty());
  const auto as_json = person.run({"ask", "only think", "--model", "thinker", "--json", "--to", server.place()});
  CHECK(as_json.err.empty());
  CHECK(Json::parse(as_json.out)["thinking"] == "let me see");
}

TEST_CASE("chat on a terminal keeps the conversation, dims what the model thinks, and shows how fast it was") {
  ChatServer server;
  const Person person;
  TerminalProcess chat(person.options({"chat", "--to", server.place()}), 100);
  REQUIRE(chat.wait_for("Talking to"));
  REQUIRE(chat.wait_for(">>> "));
  chat.type("one\n");
  REQUIRE(chat.wait_for("You said: one"));
  REQUIRE(chat.wait_for("12.5 tokens/s, first token after "));
  chat.type("/model thinkr\n");
  REQUIRE(chat.wait_for("there is no model thinkr; did you mean \"thinker\"?"));
  chat.type("/model thinker\n");
  REQUIRE(chat.wait_for("Talking to"));
  chat.type("/system Be short\n");
  chat.type("two \\\n");
  chat.type("and three\n");
  REQUIRE(chat.wait_for("\x1b[2mlet me see"));
  REQUIRE(chat.wait_for("and three"));
  const auto asked = server.asked(2);
  REQUIRE(asked.size() == 2);
  CHECK(asked[1]["model"] == "thinker");
  CHECK(asked[1]["messages"] == Json::parse(R"([{"role":"system","content":"Be short"},{"role":"user","content":"one"},
      {"role":"assistant","content":"You said: one"},{"role":"user","content":"two \nand three"}])"));
  chat.type("/save talk.json\n");
  REQUIRE(chat.wait_for("Written to talk.json"));
  CHECK(Json::parse(read_file(person.file("talk.json")))["messages"].size() == 5);
  chat.type("/save talk.json\n");
  REQUIRE(chat.wait_for("talk.json exists; name another file"));
  chat.type("/clear\n");
  REQUIRE(chat.wait_for("forgotten"));
  chat.type("/nothing\n");
  REQUIRE(chat.wait_for("there is no /nothing; /help lists the commands"));
  chat.type("/modle\n");
  REQUIRE(chat.wait_for("did you mean \"/model\"?"));
  REQUIRE(chat.wait_for(">>> "));  // before it, the terminal itself would take Ctrl-D
  chat.type("\x04");
  CHECK(chat.wait() == 0);
  CHECK_THAT(read_file(person.file(".local/state/rkllm-mcp/chat_history")), has_text("one"));
}

TEST_CASE("while the model is loaded chat and ask show how far that is, until the answer begins") {
  ChatServer server;
  const Person person;
  const std::string bar =
      "loading  [" + std::string(15, '#') + std::string(15, '.') + "] 50%  1.5 GB of 3.0 GB  12 s left";
  TerminalProcess chat(person.options({"chat", "--to", server.place()}), 100);
  REQUIRE(chat.wait_for(">>> "));
  chat.type("cold\n");
  REQUIRE(chat.wait_for(bar));
  server.end_load();
  REQUIRE(chat.wait_for("\r\x1b[K"));
  REQUIRE(chat.wait_for("You said: cold"));
  REQUIRE(chat.wait_for(">>> "));
  chat.type("/exit\n");
  CHECK(chat.wait() == 0);
  TerminalProcess ask(person.options({"ask", "--to", server.place(), "cold"}), 100);
  REQUIRE(ask.wait_for(bar));
  server.end_load();
  REQUIRE(ask.wait_for("You said: cold"));
  CHECK(ask.wait() == 0);
}

TEST_CASE("how far a load is fits into a narrow terminal") {
  ChatServer server;
  const Person person;
  TerminalProcess ask(person.options({"ask", "--to", server.place(), "cold"}), 40);
  REQUIRE(ask.wait_for("\rloading  50%  1.5 GB of 3.0 GB\x1b[K"));
  server.end_load();
  REQUIRE(ask.wait_for("You said: cold"));
  CHECK(ask.wait() == 0);
}

TEST_CASE("Ctrl-C stops the answer of ask, which ends as what SIGINT has ended") {
  ChatServer server;
  const Person person;
  TerminalProcess ask(person.options({"ask", "--to", server.place(), "endless"}), 100);
  REQUIRE(ask.wait_for("and so on and so on"));
  ask.type("\x03");
  CHECK(ask.wait() == 128 + SIGINT);
  CHECK(server.was_left());
}

TEST_CASE("Ctrl-C stops the answer of chat and not the program") {
  ChatServer server;
  const Person person;
  TerminalProcess chat(person.options({"chat", "--to", server.place()}), 100);
  REQUIRE(chat.wait_for(">>> "));
  chat.type("endless\n");
  REQUIRE(chat.wait_for("and so on and so on"));
  chat.type("\x03");
  REQUIRE(chat.wait_for("[stopped]"));
  REQUIRE(chat.wait_for("7.5 tokens/s, first token after "));
  CHECK(server.was_left());
  REQUIRE(chat.wait_for(">>> "));
  chat.type("again\n");
  REQUIRE(chat.wait_for("You said: again"));
  chat.type("/exit\n");
  CHECK(chat.wait() == 0);
}

TEST_CASE("what is typed while an answer comes is not shown in it, and is the next question") {
  ChatServer server;
  const Person person;
  TerminalProcess chat(person.options({"chat", "--to", server.place()}), 100);
  REQUIRE(chat.wait_for(">>> "));
  chat.type("cold\n");
  REQUIRE(chat.wait_for("loading  ["));
  chat.type("typed ahead\n");
  server.end_load();
  REQUIRE(chat.wait_for("You said: cold"));
  CHECK_THAT(chat.shown().substr(0, chat.shown().find("You said: cold")), !has_text("typed"));
  REQUIRE(chat.wait_for("You said: typed ahead"));
  REQUIRE(chat.wait_for(">>> "));
  chat.type("/exit\n");
  CHECK(chat.wait() == 0);
}

TEST_CASE("the terminal is as it was where a signal ends chat, in an answer and at its prompt") {
  ChatServer server;
  const Person person;
  for (const auto& [answers, signal] : {std::pair(true, SIGTERM), {false, SIGTERM}, {true, SIGQUIT}}) {
    INFO(answers << " " << signal);
    auto options = person.options({});
    options.args = {"sh", "-c", "stty -a; sh -c 'echo I am $$,; exec \"$0\" chat --to \"$1\"' \"$0\" \"$1\"; stty -a",
                    kProgram, server.place()};
    TerminalProcess shell(options, 100);
    REQUIRE(shell.wait_for(">>> "));
    if (answers) shell.type("endless\n");
    if (answers) REQUIRE(shell.wait_for("and so on and so on"));
    const std::string& shown = shell.shown();
    const auto begin = shown.find("I am ") + std::string("I am ").size();
    REQUIRE(::kill(std::stoi(shown.substr(begin, shown.find(',', begin) - begin)), signal) == 0);
    CHECK(shell.wait_for(shown.substr(0, shown.find("I am "))));
    CHECK(shell.wait() == 0);
  }
}

TEST_CASE(
    "Ctrl-Z stops chat with the terminal as it was, and fg goes on as it was there, at its prompt and in an answer") {
  ChatServer server;
  const Person person;
  for (const bool answers : {false, true}) {
    INFO(answers);
    auto options = person.options({});
    // A shell that is not asked by a person leaves the terminal as it gets it.
    options.args = {"sh", "-c",
                    "set -m; stty -a; \"$0\" chat small --to \"$1\"; stty -a; echo told; fg; stty -a; echo left",
                    kProgram, server.place()};
    TerminalProcess shell(options, 100);
    REQUIRE(shell.wait_for(">>> "));
    const std::string before = shell.shown().substr(0, shell.shown().find("Talking to"));
    if (answers) shell.type("endless\n");
    if (answers) REQUIRE(shell.wait_for("and so on and so on"));
    shell.type("\x1a");
    REQUIRE(shell.wait_for(before));
    REQUIRE(shell.wait_for("told"));
    if (answers) {
      REQUIRE(shell.wait_for("and so on "));
      shell.type("\x03");
      REQUIRE(shell.wait_for("[stopped]"));
    }
    REQUIRE(shell.wait_for(">>> "));
    shell.type(
        "hallo\x01\x06\x7f"
        "H\n");  // keys of the editor, as before
    REQUIRE(shell.wait_for("You said: Hallo"));
    REQUIRE(shell.wait_for(">>> "));
    shell.type("\x04");
    REQUIRE(shell.wait_for(before));
    REQUIRE(shell.wait_for("left"));
  }
}

TEST_CASE("keys are not shown in an answer that comes back from the background without a signal, as with bash") {
  ChatServer server;
  const Person person;
  auto options = person.options({});
  options.args = {"bash", "-c", "set -m; stty -a; \"$0\" chat small --to \"$1\"; bg; echo told; fg; stty -a; echo left",
                  kProgram, server.place()};
  TerminalProcess shell(options, 100);
  REQUIRE(shell.wait_for(">>> "));
  const std::string before = shell.shown().substr(0, shell.shown().find("Talking to"));
  shell.type("endless\n");
  REQUIRE(shell.wait_for("and so on"));
  shell.type("\x1a");
  REQUIRE(shell.wait_for("told"));
  // The first of them may come before the program knows that it is back.
  constexpr int kKeys = 100;
  for (int n = 0; n < kKeys; ++n) {
    REQUIRE(shell.wait_for("and so on"));
    shell.type("@");
  }
  shell.type("\x03");
  REQUIRE(shell.wait_for("[stopped]"));
  REQUIRE(shell.wait_for(">>> "));
  CHECK(std::ranges::count(shell.shown(), '@') < kKeys);
  shell.type(
      "hallo\x01\x06\x7f"
      "H\n");
  REQUIRE(shell.wait_for("You said: Hallo"));
  REQUIRE(shell.wait_for(">>> "));
  shell.type("\x04");
  REQUIRE(shell.wait_for(before));
  REQUIRE(shell.wait_for("left"));
}

TEST_CASE("Ctrl-C gives a text of several lines up that is not complete, and empties a line") {
  ChatServer server;
  const Person person;
  TerminalProcess chat(person.options({"chat", "--to", server.place()}), 100);
  for (const char* const beginning : {"\"\"\"one\n", "one \\\n"}) {
    REQUIRE(chat.wait_for(">>> "));
    chat.type(beginning);
    REQUIRE(chat.wait_for("... "));
    chat.type("two");
    REQUIRE(chat.wait_for("two"));
    chat.type("\x03");
  }
  REQUIRE(chat.wait_for(">>> "));
  chat.type("\x03\x03thr\x03three\n");
  REQUIRE(chat.wait_for("You said: three"));
  CHECK(server.asked(1).at(0)["messages"] == Json::parse(R"([{"role":"user","content":"three"}])"));
  REQUIRE(chat.wait_for(">>> "));
  chat.type("/exit\n");
  CHECK(chat.wait() == 0);
}

TEST_CASE("what goes wrong in the middle of an answer is said on a line of its own") {
  ChatServer server;
  const Person person;
  TerminalProcess chat(person.options({"chat", "--to", server.place()}), 100);
  REQUIRE(chat.wait_for(">>> "));
  chat.type("break off\n");
  REQUIRE(chat.wait_for("hello \r\n"));
  REQUIRE(chat.wait_for("the runtime has died"));
  REQUIRE(chat.wait_for(">>> "));
  chat.type("/exit\n");
  CHECK(chat.wait() == 0);
  TerminalProcess ask(person.options({"ask", "break off", "--to", server.place()}), 100);
  REQUIRE(ask.wait_for("hello \r\n"));
  REQUIRE(ask.wait_for("the runtime has died"));
  CHECK(ask.wait() == 1);
}

TEST_CASE("chat reads its lines from a pipe, too, and then shows nothing but answers") {
  const ChatServer server;
  const Person person;
  auto options = person.options({"chat", "--to", server.place()});
  options.input = Process::Options::Input::kPipe;
  Process process(options);
  REQUIRE(process.write("one\ntwo\n"));
  process.close_input();
  CHECK(process.read_rest() == "You said: one\nYou said: two\n");
  CHECK(process.wait() == 0);
}

TEST_CASE("chat takes its model by its name alone, or with --model as ask does, and not with both") {
  ChatServer server;
  const Person person;
  for (const std::vector<std::string>& named : {std::vector<std::string>{"thinker"}, {"--model", "thinker"}}) {
    std::vector<std::string> args{"chat", "--to", server.place(), "--json"};
    args.insert(args.end(), named.begin(), named.end());
    auto options = person.options(args);
    options.input = Process::Options::Input::kPipe;
    Process process(options);
    REQUIRE(process.write("one\n"));
    process.close_input();
    CHECK(Json::parse(process.read_rest())["model"] == "thinker");
    CHECK(process.wait() == 0);
  }
  const auto both = person.run({"chat", "small", "--model", "thinker", "--to", server.place()});
  CHECK(both.status == 2);
  CHECK_THAT(both.err, has_text("--model") && has_text("MODEL") && has_text("Usage: rkllm-mcp chat [MODEL]"));
}

TEST_CASE("chat --json prints a line of JSON for each answer, and what failed as one with its error") {
  const ChatServer server;
  const Person person;
  auto options = person.options({"chat", "--json", "--to", server.place()});
  options.input = Process::Options::Input::kPipe;
  Process process(options);
  REQUIRE(process.write("one\n/model thinker\n/clear\ntwo\n"));
  process.close_input();
  const std::string out = process.read_rest();
  CHECK(process.wait() == 0);
  INFO(out);
  const auto end = out.find('\n');
  REQUIRE(end != std::string::npos);
  const Json first = Json::parse(out.substr(0, end));
  const Json second = Json::parse(out.substr(end + 1));
  CHECK(first == Json{{"model", "small"},
                      {"answer", "You said: one"},
                      {"thinking", ""},
                      {"complete", true},
                      {"tokens", 7},
                      {"tokens_per_second", 12.5},
                      {"first_token_s", first["first_token_s"]}});
  CHECK(second["model"] == "thinker");
  CHECK(second["thinking"] == "let me see");
  Process failing(options);
  REQUIRE(failing.write("refuse me\n"));
  failing.close_input();
  CHECK(Json::parse(failing.read_rest()) == Json{{"model", "small"}, {"error", "busy"}});
  CHECK(failing.wait() == 1);
  CHECK_THAT(failing.error_text(), has_text("rkllm-mcp: busy"));
}
