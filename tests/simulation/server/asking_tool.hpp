// A tool that asks its client for something before it answers, once or twice, as those of other servers do. What it
// answers is what it was told, so that nobody can have been asked in place of another.
#pragma once

#include "mcp/catalogue.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace rkllm_mcp::simulation {

class AskingTool {
 public:
  static constexpr std::string_view kName = "ask";
  static constexpr std::uint32_t kMostWanted = 3;  // in one round
  static constexpr std::uint32_t kMostRounds = 2;

  // What one call of it wants.
  struct Wish {
    std::string name;  // unique
    std::uint32_t wanted = 1;
    std::uint32_t rounds = 1;

    Json arguments() const;
    std::string answer() const;  // if the client gives every answer
  };
  // What a request wants: the round counts from 1, the place of what is wanted from 0.
  static std::string wanted(const std::string& name, std::uint32_t round, std::uint32_t place);
  // The client's answer to a request of these parameters.
  static Json answer_to(const Json& params);

  AskingTool() = default;
  AskingTool(const AskingTool&) = delete;
  AskingTool& operator=(const AskingTool&) = delete;

  mcp::Tool tool();  // which does not outlive this
  // Its calls that have not ended: of that name, or all.
  std::size_t open(std::string_view name) const;
  std::size_t open() const { return open_.size(); }

 private:
  void run(mcp::Invocation& invocation);

  std::map<const mcp::Invocation*, std::string> open_;
};

}  // namespace rkllm_mcp::simulation
