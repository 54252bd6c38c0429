#include "cli/run_command.hpp"

#include "app/services/services.hpp"
#include "cli/help/progress_line.hpp"
#include "cli/help/terminal.hpp"
#include "cli/target.hpp"
#include "client/endpoint.hpp"
#include "clock.hpp"
#include "json_members.hpp"
#include "jsonrpc/bounded_json.hpp"
#include "memory/memory_calls.hpp"
#include "text/shown.hpp"

#include <rkllm_mcp/errors.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp {
namespace {

using Action = MemoryCommandOptions::Action;

constexpr std::chrono::seconds kToMoveConversations{300};
// So much of an import is sent at once.
constexpr std::size_t kLinesTogether = 500;
constexpr std::size_t kBytesTogether = std::size_t{1} << 20U;

std::unique_ptr<client::Connection> connection_to(client::Endpoint endpoint, const MemoryCommandOptions& options,
                                                  std::string ca_file) {
  endpoint.token = options.token;
  endpoint.ca_file = std::move(ca_file);
  return client::connect(endpoint, Clock::now() + kToConnect);
}

// Whether that server keeps the conversations of these settings' file.
bool keeps(memory::MemoryCalls& calls) {
  try {
    calls.call("memory/list", {{"limit", 1}});
    return true;
  } catch (const RpcError& error) {
    if (error.code() == ErrorCode::kMethodNotFound) return false;
    throw;
  }
}

std::unique_ptr<memory::MemoryCalls> calls_for(const MemoryCommandOptions& options, const SettingsRequest& request) {
  if (!options.to.empty()) {
    return memory::calls_over(
        connection_to(target_of(options.to, load_settings(request).values, client::Protocol::kTcp), options,
                      options.ca_file),
        kToMoveConversations);
  }
  const Settings settings = load_settings(request).values;
  for (const auto& place : server_places(settings, "/jsonrpc")) {
    try {
      auto calls = memory::calls_over(connection_to(place, options, trusted_file(options.ca_file, settings)),
                                      kToMoveConversations);
      if (keeps(*calls)) return calls;
    } catch (const client::ConnectionError& error) {
      require_nobody_at(place, error);
    }
  }
  const auto chosen = memory_options(settings);
  if (chosen.database == ":memory:") {
    throw std::runtime_error("no server answers, and its conversations would have ended with it (memory.database)");
  }
  return memory::calls_on_store(chosen);
}

// Shows on the terminal how many entries are done, while something takes long.
class Counted {
 public:
  enum class Shown { kOnTerminal, kNever };
  // `of`: how many there will be.
  explicit Counted(const char* what, Shown shown = Shown::kOnTerminal, std::optional<std::int64_t> of = {})
      : what_(what), shown_(shown), of_(of) {}
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { show(ProgressLine::When::kNow); }

  // Whether a count of what is printed is shown: on a terminal the output speaks for itself.
  static Shown of_output() { return ::isatty(STDOUT_FILENO) == 1 ? Shown::kNever : Shown::kOnTerminal; }
  void add(std::size_t more) {
    count_ += more;
    show(ProgressLine::When::kSometimes);
  }

 private:
  void show(ProgressLine::When when) {
    if (count_ == 0 || shown_ == Shown::kNever) return;
    const auto count = static_cast<std::int64_t>(count_);
    // More may have come since they were counted.
    line_.show((of_ ? shown_count(count, std::max(count, *of_)) : std::to_string(count)) + " " + what_, when);
  }

  const char* const what_;
  const Shown shown_;
  const std::optional<std::int64_t> of_;
  ProgressLine line_;
  std::size_t count_ = 0;
};

class MemoryCommand {
 public:
  MemoryCommand(const MemoryCommandOptions& options, memory::MemoryCalls& calls) : options_(options), calls_(calls) {}

  int run() {
    switch (options_.action) {
      case Action::kList: return list();
      case Action::kShow: return for_each_id([this](const std::string& id) { show(id); });
      case Action::kSearch: return search();
      case Action::kExport: return options_.arguments.empty() ? export_all() : export_named();
      case Action::kImport: return import();
      case Action::kDelete: return delete_named();
    }
    return kExitUsage;
  }

 private:
  Json params(Json own) const {
    if (!options_.space.empty()) own["space"] = options_.space;
    return own;
  }

  // Each entry of a list that comes in pages.
  void for_each(const std::string& method, Json asked, const char* name,
                const std::function<void(const Json&)>& entry) {
    while (true) {
      const Json page = calls_.call(method, asked);
      for (const Json& each : page.at(name)) entry(each);
      if (!page.contains("nextCursor")) return;
      asked["cursor"] = page["nextCursor"];
    }
  }

  int for_each_id(const std::function<void(const std::string&)>& action) const {
    if (options_.arguments.empty()) throw std::invalid_argument("name a conversation by its id");
    for (const std::string& id : options_.arguments) action(id);
    return kExitOk;
  }

  // All that are named, or none where one of them does not exist.
  int delete_named() {
    for_each_id([this](const std::string& id) {
      calls_.call("memory/export", params({{"conversation_id", id}, {"limit", 1}}));
    });
    std::set<std::string> deleted;  // what is named twice is there once
    return for_each_id([this, &deleted](const std::string& id) {
      if (!deleted.insert(id).second) return;
      calls_.call("memory/delete", params({{"conversation_id", id}}));
      if (options_.json) return print(Json{{"conversation_id", id}, {"deleted", true}});
      std::cout << id << ": deleted\n";
    });
  }

  int list() {
    bool is_begun = options_.json;
    const auto begin = [&is_begun] {
      if (!std::exchange(is_begun, true)) std::printf("%-9s %-20s %-32s %s\n", "MESSAGES", "UPDATED", "ID", "TITLE");
    };
    for_each("memory/list", params({{"limit", 500}}), "conversations", [&](const Json& each) {
      if (options_.json) return print(each);
      begin();
      std::printf("%-9lld %-20.19s %-32s %s\n", static_cast<long long>(each["messages"].get<std::int64_t>()),
                  each["updated_at"].get<std::string>().c_str(), visible(each["conversation_id"]).c_str(),
                  visible(each["title"]).c_str());
    });
    begin();  // where there is none
    return kExitOk;
  }

  void show(const std::string& id) {
    const Json asked = params({{"conversation_id", id}});
    Json paged = asked;
    paged["limit"] = 100;
    bool is_empty = true;
    for_each("memory/get_all_messages", paged, "messages", [&](const Json& each) {
      is_empty = false;
      if (options_.json) return print(each);
      std::printf("[%.19s] %s: %s\n", each["timestamp"].get<std::string>().c_str(),
                  each["role"].get<std::string>().c_str(), visible(each["content"]).c_str());
    });
    // This call fails if the conversation does not exist.
    if (is_empty) calls_.call("memory/export", asked);
    const auto summary = calls_.call("memory/get_summary", asked)["summary"].get<std::string>();
    if (!summary.empty() && !options_.json) std::printf("\nSummary:\n%s\n", visible(summary).c_str());
    if (!summary.empty() && options_.json) print(Json{{"summary", summary}});
  }

  int search() {
    std::string words;
    for (const std::string& each : options_.arguments) words += (words.empty() ? "" : " ") + each;
    const Json asked = params({{"query", words}, {"limit", options_.limit}, {"fold_diacritics", !options_.exact}});
    const Json found = calls_.call("memory/search", asked);
    for (const Json& each : found["hits"]) {
      if (options_.json) {
        print(each);
      } else {
        std::printf("%s [%.19s] %s: %s\n", visible(each["conversation_id"]).c_str(),
                    each["timestamp"].get<std::string>().c_str(), each["role"].get<std::string>().c_str(),
                    visible(each["content"]).c_str());
      }
    }
    return kExitOk;
  }

  // `printed` is called after each line.
  void export_one(const std::string& id, const std::function<void(const Json& line)>& printed) {
    for_each("memory/export", params({{"conversation_id", id}, {"limit", 500}}), "lines", [&printed](const Json& line) {
      print(line);
      printed(line);
    });
  }

  int export_named() {
    Counted lines("lines exported", Counted::of_output());
    return for_each_id([&](const std::string& id) { export_one(id, [&lines](const Json&) { lines.add(1); }); });
  }

  int export_all() {
    std::vector<std::string> ids;
    std::int64_t messages = 0;
    for_each("memory/list", params({{"limit", 500}}), "conversations", [&](const Json& each) {
      ids.push_back(each["conversation_id"]);
      messages += each["messages"].get<std::int64_t>();
    });
    Counted exported("messages exported", Counted::of_output(), messages);
    for (const std::string& id : ids) {
      bool is_begun = false;
      try {
        export_one(id, [&](const Json& line) {
          is_begun = true;
          exported.add(line.contains("role") ? 1 : 0);
        });
      } catch (const RpcError& error) {
        // It was deleted after the list was read: it is left out. An error only if a part of it was printed already.
        if (error.code() != ErrorCode::kResourceNotFound || is_begun) throw;
      }
    }
    return kExitOk;
  }

  int import() {
    if (options_.arguments.size() != 1) throw std::invalid_argument("name one file, or - for standard input");
    std::ifstream file;
    const std::string& path = options_.arguments.front();
    if (path != "-") file.open(path, std::ios::binary);
    if (path != "-" && !file) throw std::runtime_error(path + " cannot be read");
    if (path != "-") return import(file, path);
    return import(std::cin, "standard input");
  }

  // Whether the input has ended because it could not be read on, and not because that was all.
  static bool has_failed(const std::istream& input) {
    // std::cin reads through stdin, and takes its failures for the end.
    return input.bad() || (&input == &std::cin && std::ferror(stdin) != 0);
  }

  // `source` is what errors call it.
  int import(std::istream& input, const std::string& source) {
    // A name that no other import has.
    const std::string name = std::to_string(::getpid()) + "-" + std::to_string(Clock::now().time_since_epoch().count());
    Counted progress("lines read");
    std::size_t first = 1;  // number of the first line that waits
    std::size_t number = 0;
    std::size_t bytes = 0;
    Json lines = Json::array();
    try {
      const auto send = [&](bool is_more) {
        Json asked{{"lines", std::move(lines)}, {"import", name}, {"more", is_more}, {"replace", options_.replace}};
        Json done = calls_.call("memory/import", params(std::move(asked)));
        progress.add(number + 1 - first);
        lines = Json::array();
        bytes = 0;
        first = number + 1;
        return done;
      };
      for (std::string text; std::getline(input, text);) {
        ++number;
        if (text.empty() || text == "\r") {
          throw std::runtime_error("line " + std::to_string(number) + ": is empty");
        }
        try {
          lines.push_back(parse_or_complain(text));
        } catch (const std::invalid_argument& why) {
          throw std::runtime_error("line " + std::to_string(number) + ": is not JSON: " + why.what());
        }
        bytes += text.size();
        if (lines.size() >= kLinesTogether || bytes >= kBytesTogether) send(true);
      }
      if (has_failed(input)) throw std::runtime_error(source + " cannot be read");
      const Json done = send(false);
      if (options_.json) {
        print(Json{{"conversations", done["conversations"]}, {"messages", done["messages"]}});
      } else {
        std::cout << counted(done["conversations"].get<std::int64_t>(), "conversation") << ", "
                  << counted(done["messages"].get<std::int64_t>(), "message") << " imported\n";
      }
      return kExitOk;
    } catch (const RpcError& error) {
      discard(name);
      throw std::runtime_error(with_line_number(error, first));
    } catch (const std::runtime_error&) {
      discard(name);
      throw;
    }
  }

  // "params.lines[3].role: …" of lines that begin with the fifth is line 8.
  static std::string with_line_number(const RpcError& error, std::size_t first) {
    std::string text = error.what();
    constexpr std::string_view kBefore = "params.lines[";
    if (!text.starts_with(kBefore)) return text;
    const auto end = text.find(']');
    const std::size_t at = std::stoul(text.substr(kBefore.size(), end - kBefore.size()));
    return "line " + std::to_string(first + at) + text.substr(end + 1);
  }

  void discard(const std::string& name) {
    try {
      calls_.call("memory/import", params({{"lines", Json::array()}, {"import", name}, {"discard", true}}));
    } catch (const std::runtime_error&) {
      return;  // the server takes it away when it has waited long enough
    }
  }

  static std::string counted(std::int64_t count, const char* what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  }
  static std::string visible(const Json& text) { return in_one_line(text.get_ref<const std::string&>()); }
  // With U+FFFD for what is no UTF-8: older servers took ids of any bytes.
  static void print(const Json& line) {
    std::cout << line.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
  }

  const MemoryCommandOptions& options_;
  memory::MemoryCalls& calls_;
};

}  // namespace

int run_memory(const MemoryCommandOptions& options, const SettingsRequest& request) {
  try {
    const auto calls = calls_for(options, request);
    return MemoryCommand(options, *calls).run();
  } catch (const RpcError& error) {
    if (error.code() != ErrorCode::kUnauthorized) throw;
    throw std::runtime_error(words_of_refused_token(options.token, text_in(error.data(), "reason")));
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "rkllm-mcp: %s\n", error.what());
    return kExitUsage;
  }
}

}  // namespace rkllm_mcp
