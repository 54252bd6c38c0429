#include "cli/run_command.hpp"

#include "cli/help/terminal.hpp"
#include "cli/input_lines.hpp"
#include "cli/people/load_progress_line.hpp"
#include "cli/talk/interrupts.hpp"
#include "cli/talk/line_editor.hpp"
#include "cli/talk/model_conversation.hpp"
#include "cli/talk/new_file.hpp"
#include "cli/talk/terminal_guard.hpp"
#include "text/ascii.hpp"

#include <rkllm_mcp/nearest_name.hpp>

#include <unistd.h>

#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

namespace rkllm_mcp {
namespace {

std::string commands_text(std::size_t width) {
  return rows_text("Commands",
                   {{"/model [NAME]", "show the models, or talk to another one"},
                    {"/system [TEXT]", "tell the model how to behave; without TEXT: no longer"},
                    {"/clear", "forget the conversation"},
                    {"/save FILE", "write the conversation to a new file, as JSON"},
                    {"/help", "this list"},
                    {"/exit", "leave, as Ctrl-D does"}},
                   width) +
         wrapped(
             "Ctrl-C stops an answer. A line that ends with \\ goes on in the next one; \"\"\" begins and ends a text "
             "of several lines, which Ctrl-C gives up.",
             width, 0) +
         "\n";
}

constexpr std::array<std::string_view, 8> kCommandNames{"/model", "/system", "/clear", "/save",
                                                        "/help",  "/exit",   "/bye",   "/quit"};

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

std::string history_file(const Environment& environment) {
  const auto found = [&environment](const char* name) {
    const auto at = environment.find(name);
    return at == environment.end() ? std::string() : at->second;
  };
  if (const std::string state = found("XDG_STATE_HOME"); !state.empty()) return state + "/rkllm-mcp/chat_history";
  const std::string home = found("HOME");
  return home.empty() ? std::string() : home + "/.local/state/rkllm-mcp/chat_history";
}

// Prints an answer as it comes: what the model thinks is dimmed.
class AnswerPrinter {
 public:
  explicit AnswerPrinter(const Paint& paint) : paint_(paint) {}

  void thinking(const std::string& text) {
    print(paint_.dim(text));
    is_thinking_ = true;
    is_open_ = !text.ends_with('\n');
  }
  void text(const std::string& text) {
    if (is_thinking_) print("\n\n");
    is_thinking_ = false;
    print(text);
    is_open_ = !text.ends_with('\n');
  }
  // What is said next is not of the answer: it begins a line.
  void end_line() {
    if (std::exchange(is_open_, false)) print("\n");
  }

 private:
  const Paint& paint_;
  bool is_thinking_ = false;
  bool is_open_ = false;  // a line has begun
};

// What --json says of the answer that `conversation` has got.
Json report_of(const ModelConversation& conversation, const std::string& thinking, ModelConversation::End end) {
  const AnswerSpeed& speed = conversation.speed();
  return {{"model", conversation.model()},
          {"answer", conversation.answer()},
          {"thinking", thinking},
          {"complete", end == ModelConversation::End::kComplete},
          {"tokens", speed.tokens ? Json(*speed.tokens) : Json(nullptr)},
          {"tokens_per_second", speed.tokens_per_second ? Json(*speed.tokens_per_second) : Json(nullptr)},
          {"first_token_s", speed.first_token ? Json(speed.first_token->count()) : Json(nullptr)}};
}

// Where the thoughts are not shown, an answer of thoughts alone would be an empty line that says nothing.
// Who has stopped the answer knows why there is none.
void say_if_only_thought(const ModelConversation& conversation, const std::string& thinking,
                         ModelConversation::End end) {
  if (end != ModelConversation::End::kComplete || !conversation.answer().empty() || thinking.empty()) return;
  std::fprintf(stderr, "rkllm-mcp: the model has only thought, and not answered; --json shows what\n");
}

class Chat {
 public:
  enum class Output { kText, kJson };

  Chat(ServerLink& server, std::string model, std::string history, Output output)
      : server_(server),
        output_(output),
        conversation_(server, std::move(model)),
        editor_(std::move(history),
                output == Output::kJson ? LineEditor::Lines::kAsTheyCome : LineEditor::Lines::kEdited) {}

  int run() {
    if (editor_.is_interactive()) {
      print("Talking to " + paint_.bold(conversation_.model()) + " on " + server_.url() +
            "; /help lists the commands.\n");
    }
    while (const auto text = next_text()) {
      if (without_space_around(*text).empty()) continue;
      if (text->starts_with('/')) {
        if (!obey(*text)) break;
      } else {
        answer(*text);
      }
    }
    if (editor_.is_interactive()) print("\n");
    return has_failed_ ? kExitFailed : kExitOk;
  }

  void set_system(const std::string& text) { conversation_.set_system(text); }

 private:
  // What is typed until it is complete; empty where Ctrl-C has given it up.
  std::optional<std::string> next_text() {
    auto line = editor_.read(">>> ");
    if (!line) return std::nullopt;
    constexpr std::string_view kBlock = R"(""")";
    std::string text = *line;
    if (text.starts_with(kBlock)) {
      text.erase(0, kBlock.size());
      while (!text.ends_with(kBlock)) {
        line = editor_.read_more("... ");
        if (!line) break;
        text += "\n" + *line;
      }
      if (text.ends_with(kBlock)) text.erase(text.size() - kBlock.size());
    } else {
      while (text.ends_with('\\') && (line = editor_.read_more("... "))) {
        text.back() = '\n';
        text += *line;
      }
    }
    if (!line && editor_.was_given_up()) return "";
    editor_.remember(text);
    return text;
  }

  void answer(const std::string& question) {
    AnswerPrinter printer(paint_);
    std::string thinking;
    interrupts_.taken();  // one that was pressed before counts no more
    const NoEchoGuard quiet;
    try {
      LoadProgressLine progress(server_, conversation_.model());
      const auto end = conversation_.ask(question, {[&](const std::string& text) {
                                                      quiet.go_on();
                                                      progress.end();
                                                      if (output_ == Output::kText) printer.text(text);
                                                    },
                                                    [&](const std::string& text) {
                                                      quiet.go_on();
                                                      progress.end();
                                                      thinking += text;
                                                      if (shows_thinking_) printer.thinking(text);
                                                    },
                                                    [this] { return interrupts_.taken(); }});
      progress.end();
      if (output_ == Output::kJson) return print_json_line(report_of(conversation_, thinking, end));
      print(end == ModelConversation::End::kStopped ? "\n" + paint_.dim("[stopped]") + "\n" : "\n");
      if (!shows_thinking_) say_if_only_thought(conversation_, thinking, end);
      const std::string speed = conversation_.speed().text();
      if (editor_.is_interactive() && !speed.empty()) print(paint_.dim(speed) + "\n");
    } catch (const std::exception& error) {
      printer.end_line();
      if (output_ == Output::kJson) print_json_line(Json{{"model", conversation_.model()}, {"error", error.what()}});
      complain(error.what());
    }
  }

  // What is no answer: with --json not among what programs read.
  void say(const std::string& text) const {
    if (output_ == Output::kText) return print(text);
    std::fputs(text.c_str(), stderr);
  }

  void complain(const std::string& text) {
    has_failed_ = has_failed_ || !editor_.is_interactive();
    std::fprintf(stderr, "%s %s\n", of_errors_.red("rkllm-mcp:").c_str(), text.c_str());
  }

  // False: to leave.
  bool obey(const std::string& line) {
    const auto space = line.find_first_of(" \t\r\n");
    const std::string command = line.substr(0, space);
    const std::string rest = space == std::string::npos
                                 ? std::string()
                                 : std::string(without_space_around(std::string_view(line).substr(space)));
    if (command == "/exit" || command == "/bye" || command == "/quit") return false;
    if (command == "/help") {
      say(commands_text(columns_of(STDOUT_FILENO)));
    } else if (command == "/clear") {
      conversation_.clear();
      say("The conversation is forgotten.\n");
    } else if (command == "/system") {
      conversation_.set_system(rest);
      say(rest.empty() ? "The model is told nothing more.\n" : "The model is told so, from the next question on.\n");
    } else if (command == "/model") {
      choose_model(rest);
    } else if (command == "/save") {
      save(rest);
    } else {
      complain("there is no " + command + did_you_mean(command, kCommandNames) + "; /help lists the commands");
    }
    return true;
  }

  void choose_model(const std::string& name) {
    try {
      if (name.empty()) {
        for (const std::string& each : models_to_talk_to(server_).names()) {
          say((each == conversation_.model() ? "* " : "  ") + each + "\n");
        }
        return;
      }
      conversation_.set_model(chosen_model(server_, name));
      say("Talking to " + paint_.bold(conversation_.model()) + ".\n");
    } catch (const std::exception& error) {
      complain(error.what());
    }
  }

  void save(const std::string& path) {
    if (path.empty()) return complain("/save needs the name of a file");
    try {
      write_new_file(path, conversation_.to_json().dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    } catch (const std::exception& error) {
      return complain(error.what());
    }
    say("Written to " + path + ".\n");
  }

  const Interrupts interrupts_{};   // first: threads that are made later inherit what it does to signals
  const TerminalGuard terminal_{};  // before the editor, which changes it
  ServerLink& server_;
  const Output output_;
  const bool shows_thinking_ = output_ == Output::kText && ::isatty(STDOUT_FILENO) == 1;  // else it would be an answer
  const Paint paint_{STDOUT_FILENO};
  const Paint of_errors_{STDERR_FILENO};
  ModelConversation conversation_;
  LineEditor editor_;
  bool has_failed_ = false;
};

}  // namespace

int run_chat(const ChatOptions& options, const SettingsRequest& request) {
  ServerLink server(options.remote, request);
  Chat chat(server, chosen_model(server, options.model), history_file(request.environment),
            options.json ? Chat::Output::kJson : Chat::Output::kText);
  chat.set_system(options.system);
  return chat.run();
}

int run_ask(const AskOptions& options, const SettingsRequest& request) {
  std::string question;
  const bool asks_for_more = !options.words.empty() && options.words.back() == "-";
  for (std::size_t at = 0; at + (asks_for_more ? 1 : 0) < options.words.size(); ++at) {
    question += (question.empty() ? "" : " ") + options.words[at];
  }
  if (asks_for_more || ::isatty(STDIN_FILENO) != 1) {
    const bool may_be_none = !asks_for_more && !question.empty();
    const std::string piped = piped_input(question.empty() ? "the question" : "more of the question",
                                          may_be_none ? PipedInput::kMayBeNone : PipedInput::kAskedFor);
    if (!piped.empty()) question += (question.empty() ? "" : "\n\n") + piped;
  }
  if (question.empty()) {
    std::fprintf(stderr, "rkllm-mcp: what is the question? rkllm-mcp ask \"text\", or pipe it in\n");
    return kExitUsage;
  }
  ServerLink server(options.remote, request);
  const Interrupts interrupts;
  ModelConversation conversation(server, chosen_model(server, options.model));
  conversation.set_system(options.system);
  const Paint paint(STDOUT_FILENO);
  AnswerPrinter printer(paint);
  const bool shows_thinking = !options.json && ::isatty(STDOUT_FILENO) == 1;
  std::string thinking;
  LoadProgressLine progress(server, conversation.model());
  const ModelConversation::Listener listener{[&](const std::string& text) {
                                               progress.end();
                                               if (!options.json) printer.text(text);
                                             },
                                             [&](const std::string& text) {
                                               progress.end();
                                               thinking += text;
                                               if (shows_thinking) printer.thinking(text);
                                             },
                                             [&interrupts] { return interrupts.taken(); }};
  const auto end = [&] {
    try {
      return conversation.ask(question, listener);
    } catch (...) {
      printer.end_line();
      throw;
    }
  }();
  progress.end();
  if (options.json) {
    print_json(report_of(conversation, thinking, end));
  } else {
    print("\n");
    if (!shows_thinking) say_if_only_thought(conversation, thinking, end);
    const std::string speed = conversation.speed().text();
    if (::isatty(STDERR_FILENO) == 1 && !speed.empty())
      std::fprintf(stderr, "%s\n", Paint(STDERR_FILENO).dim(speed).c_str());
  }
  return end == ModelConversation::End::kComplete ? kExitOk : kExitInterrupted;
}

}  // namespace rkllm_mcp
