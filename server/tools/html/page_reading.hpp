// Reads pages in a process of its own, a new one for each: a page that its parser dies of, or that is made to take for
// ever, costs its own answer and nothing else.
#pragma once

#include "threads/stop_signal.hpp"

#include <rkllm_mcp/json.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace rkllm_mcp {

// What is made of a page.
enum class PageForm {
  kReadable,    // {"title", "text"}: Markdown
  kDuckDuckGo,  // what DuckDuckGo has found, see read_duckduckgo_page()
};

class PageReading {
 public:
  static constexpr std::chrono::seconds kComputing{5};  // that a page may take on a small board

  // `program` is this one, or in tests its path.
  explicit PageReading(std::string program, std::chrono::seconds computing = kComputing)
      : program_(std::move(program)), computing_(computing) {}

  // `page` is UTF-8, `address` its own. Blocks, until `stop` at the latest. Throws ToolFailure.
  Json read(PageForm form, const std::string& address, std::string_view page, StopSignal& stop) const;

 private:
  const std::string program_;
  const std::chrono::seconds computing_;
};

// What this program does when it is started as such a process: the page is standard input, the answer standard output.
struct PageOptions {
  std::string form;
  std::string address;
  int computing_s = static_cast<int>(PageReading::kComputing.count());
};
int run_page_reading(const PageOptions& options);

}  // namespace rkllm_mcp
