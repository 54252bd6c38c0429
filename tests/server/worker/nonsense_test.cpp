// Neither side believes the other: nonsense ends the worker, and nothing else.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "worker/worker_engine.hpp"
#include "worker/worker_main.hpp"
#include "worker/worker_process.hpp"

#include <rkllm_mcp/errors.hpp>

#include <sys/socket.h>

#include <chrono>
#include <string>
#include <string_view>

using namespace rkllm_mcp;

namespace {

constexpr std::chrono::seconds kPatience{60};

}  // namespace

TEST_CASE("a worker that does not speak as it should is killed, and its call ends with 4005") {
  asio::io_context loop;
  WorkerEngine engine({.loop = loop, .command = {test::built_program("nonsense_worker"), {}}, .hang = kPatience});
  std::string told;
  try {
    engine.try_out();
  } catch (const RpcError& error) {
    CHECK(error.code() == ErrorCode::kRuntimeUnavailable);
    told = error.what();
  }
  INFO(told);
  CHECK(told.find("was killed by SIGKILL: it did not speak as it should") != std::string::npos);
}

TEST_CASE("a worker ends when it is told what it does not understand") {
  auto [head, content] = GENERATE(table<FrameHead, std::string_view>({
      {FrameHead{.type = static_cast<FrameType>(99), .call = 1}, ""},
      {FrameHead{.type = FrameType::kEnd, .call = 1}, ""},
      {FrameHead{.type = FrameType::kCall, .call = 1}, "\1"},
      {FrameHead{.type = FrameType::kCall, .call = 1}, "\1\2ab{}"},
      {FrameHead{.type = FrameType::kCall, .call = 1}, "\1\20rkllm_is_running{..."},
      {FrameHead{.bytes = 0xFFFFFFFF, .type = FrameType::kCall, .call = 1}, ""},
  }));
  if (head.bytes == 0) head.bytes = static_cast<std::uint32_t>(content.size());
  std::string printed;
  WorkerProcess worker(
      {test::kProgram, to_arguments({test::kSimulator, "1.3.0", "1.3.0", {}})},
      [&printed](std::string_view line) { printed += line; }, kPatience);
  const DescriptorPair ends = worker.open("llm-1");
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  bytes += content;
  REQUIRE(::send(ends.first.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()));
  const auto end = worker.wait_for_end(kPatience);
  REQUIRE(end);
  CHECK(end->signal == 0);
  CHECK(end->exit_code != 0);
  INFO(printed);
  CHECK(printed.find("E worker: ") != std::string::npos);
}
