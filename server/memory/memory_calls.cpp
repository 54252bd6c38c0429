#include "memory/memory_calls.hpp"

#include "auth/access_tokens.hpp"
#include "clock.hpp"
#include "json_members.hpp"
#include "jsonrpc/bounded_json.hpp"
#include "jsonrpc/unread.hpp"

#include <rkllm_mcp/errors.hpp>

#include <spdlog/sinks/null_sink.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>

namespace rkllm_mcp::memory {
namespace {

class CallsOverConnection final : public MemoryCalls {
 public:
  CallsOverConnection(std::unique_ptr<client::Connection> connection, std::chrono::seconds patience)
      : connection_(std::move(connection)), patience_(patience) {}

  Json call(const std::string& method, const Json& params) override {
    const Json id = ++last_id_;
    const Json request{
        {"jsonrpc", "2.0"}, {"id", id}, {"method", std::string(kServiceName) + "/" + method}, {"params", params}};
    connection_->send(to_text(request));
    const auto deadline = Clock::now() + patience_;
    while (const auto text = connection_->receive(deadline)) {
      const auto message = parse_bounded(*text);
      if (!message || !message->is_object()) continue;
      const Json* const whose = given_in(*message, "id");
      const Json* const error = member_of(*message, "error");
      // A server that lets the client not in answers with a null id, as it has not read the request: which is this one,
      // since only one is made at a time.
      if (whose == nullptr ? error == nullptr : *whose != id) continue;
      if (const Json* const result = member_of(*message, "result"); result != nullptr && whose != nullptr) {
        return *result;
      }
      throw_error(error);
    }
    if (Clock::now() < deadline) throw client::ConnectionError("the server has not answered " + method);
    throw client::ConnectionError("no answer within " + std::to_string(patience_.count()) + " s");
  }

 private:
  // Whatever listens there may say "error", and mean something else than JSON-RPC does.
  [[noreturn]] static void throw_error(const Json* error) {
    const Json* const code = error != nullptr ? member_of(*error, "code") : nullptr;
    const Json* const message = error != nullptr ? member_of(*error, "message") : nullptr;
    if (code == nullptr || !code->is_number_integer() || message == nullptr || !message->is_string()) {
      throw client::ConnectionError("the answer is not one of JSON-RPC" +
                                    (error != nullptr
                                         ? ": " + shortened(error->dump(-1, ' ', false, Json::error_handler_t::replace))
                                         : std::string()));
    }
    const Json* const data = member_of(*error, "data");
    throw RpcError(static_cast<ErrorCode>(code->get<int>()), message->get<std::string>(),
                   data != nullptr ? *data : Json());
  }

  const std::unique_ptr<client::Connection> connection_;
  const std::chrono::seconds patience_;
  int last_id_ = 0;
};

class CallsOnStore final : public MemoryCalls {
 public:
  explicit CallsOnStore(const MemoryOptions& options)
      : log_("memory", std::make_shared<spdlog::sinks::null_sink_mt>()), service_(loop_, options, log_, {}) {}

  Json call(const std::string& method, const Json& params) override {
    const mcp::Service& service = *service_.service();
    const auto found = std::ranges::find_if(service.methods, [&](const auto& each) { return each.name == method; });
    if (found == service.methods.end()) throw RpcError(ErrorCode::kMethodNotFound, "no method " + method);
    std::optional<Json> answer;
    std::exception_ptr failed;
    found->run({params, &admin_, mcp::AnswerForm::kDirect}, [&](Json result, const std::exception_ptr& error) {
      answer = std::move(result);
      failed = error;
    });
    // The loop is started again and again: it has nothing to do until the threads of the store post the answer.
    while (!answer) {
      loop_.restart();
      loop_.run_one_for(std::chrono::milliseconds(100));
    }
    if (failed) std::rethrow_exception(failed);
    return read_whole(*std::move(answer));
  }

 private:
  asio::io_context loop_;
  spdlog::logger log_;
  const Principal admin_{};
  MemoryService service_;
};

}  // namespace

std::unique_ptr<MemoryCalls> calls_over(std::unique_ptr<client::Connection> connection, std::chrono::seconds patience) {
  return std::make_unique<CallsOverConnection>(std::move(connection), patience);
}

std::unique_ptr<MemoryCalls> calls_on_store(const MemoryOptions& options) {
  return std::make_unique<CallsOnStore>(options);
}

}  // namespace rkllm_mcp::memory
