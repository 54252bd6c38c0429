#include "chat/mcp/chat_tools.hpp"

#include "chat/mcp/model_choice.hpp"
#include "chat/mcp/tool_words.hpp"
#include "chat/mcp/turn_failure.hpp"
#include "chat/turn/model_text.hpp"
#include "mcp/catalogue.hpp"
#include "mcp/tools/invocation.hpp"

#include <asio/post.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace rkllm_mcp::chat {
namespace {

// C would take U+0000 for the end of the text.
void refuse_nul(const Json& arguments) {
  for (const auto& [name, value] : arguments.items()) {
    if (!value.is_string() || value.get_ref<const std::string&>().find('\0') == std::string::npos) continue;
    throw InvalidParams("params.arguments." + name, "must not contain U+0000");
  }
}

RpcError ending() { return {ErrorCode::kQueueFull, "the server is ending", Json{{"retry_after_s", 1}}}; }

void refuse_profile(const ModelDescription& model) {
  if (model.is_profile) throw TurnError::not_supported("model", "is a profile; its model is loaded by that one's name");
}

// What list_models tells: enough to choose one.
Json choice_of(const ModelDescription& model) {
  const Json all = description_of(model);
  Json brief = Json::object();
  for (const char* const key : {"name", "state", "size", "platform", "context", "queued"}) brief[key] = all[key];
  if (!model.aliases.empty()) brief["aliases"] = model.aliases;
  if (model.is_profile) brief["profile"] = true;
  if (all.contains("progress")) brief["progress"] = all["progress"];
  return brief;
}

}  // namespace

ChatTools::ChatTools(asio::io_context& loop, ChatHost& host, Options options)
    : loop_(loop),
      host_(host),
      options_(std::move(options)),
      conversations_(loop, options_.memory),
      service_(make_service()) {}

mcp::Service ChatTools::make_service() {
  mcp::Service service;
  service.name = kChatServerName;
  service.instructions = kInstructions;
  for (mcp::Tool& each : std::vector<mcp::Tool>{
           tool("list_models", &ChatTools::list_models), tool("load_model", &ChatTools::load_model),
           tool("chat", &ChatTools::chat), tool("embed", &ChatTools::embed), tool("stop", &ChatTools::stop_answers),
           tool("status", &ChatTools::status), tool("unload_model", &ChatTools::unload_model)}) {
    service.tools.emplace_back(std::move(each));
  }
  return service;
}

mcp::Tool ChatTools::tool(std::string_view name, Run run) {
  mcp::Tool tool = described_tool(name, conversations_.available());
  tool.run = [this, run, schema = tool.input_schema](mcp::Invocation& invocation) {
    try {
      if (stopping_) throw ending();
      if (!conversations_.available() && !invocation.arguments().value("conversation", Json()).is_null()) {
        throw InvalidParams("params.arguments.conversation",
                            "nothing is remembered here: memory-server does not run (services.only)");
      }
      const Json arguments = mcp::checked_arguments(schema, invocation.arguments());
      refuse_nul(arguments);
      (this->*run)(invocation, arguments);
    } catch (const RpcError& error) {
      invocation.result(mcp::tool_error(error));
    } catch (const TurnError& error) {
      invocation.result(mcp::tool_error(rpc_error_of(error)));
    }
  };
  return tool;
}

void ChatTools::answer(mcp::Invocation& invocation, Json result) const {
  result["simulated"] = options_.is_simulated();
  invocation.result(mcp::answer_in(mcp::AnswerForm::kTool, result));
}

// --- what goes on ----------------------------------------------------------------------------------------------------

void ChatTools::keep(Open open) {
  if (open.invocation->ended()) return;
  const std::uint64_t number = ++next_;
  mcp::Invocation& invocation = *open.invocation;
  open_.emplace(number, std::move(open));
  invocation.when_ended([this, number, alive = alive_.watch()] {
    if (!alive.expired()) let_go(number);
  });
}

// Posted to the loop: this is called by callbacks of what open_ and calls_ hold under that number, which must not be
// destroyed while they run.
void ChatTools::let_go(std::uint64_t number) {
  asio::post(loop_, [this, number, alive = alive_.watch()] {
    if (alive.expired()) return;
    open_.erase(number);
    calls_.erase(number);
  });
}

void ChatTools::stop() {
  stopping_ = true;
  const auto calls = calls_;
  for (const auto& [number, call] : calls) call->give_up(ending());
  const auto open = open_;
  for (const auto& [number, each] : open) each.invocation->result(mcp::tool_error(ending()));
}

// --- the tools -------------------------------------------------------------------------------------------------------

void ChatTools::list_models(mcp::Invocation& invocation, const Json&) {
  invocation.when_ended([] {});  // from here on it counts as a request in progress
  host_.lender().refresh([this, invocation = invocation.shared_from_this(), alive = alive_.watch()] {
    if (alive.expired()) return;
    Json models = Json::array();
    for (const auto& model : host_.models(asker_of(*invocation))) models.push_back(choice_of(model));
    answer(*invocation, Json{{"models", std::move(models)}});
  });
}

void ChatTools::load_model(mcp::Invocation& invocation, const Json& arguments) {
  invocation.when_ended([] {});
  with_model(host_, invocation, arguments.at("model").get<std::string>(),
             [this, invocation = invocation.shared_from_this()](const ModelDescription& model) {
               begin_load(invocation, model);
             });
}

void ChatTools::begin_load(const std::shared_ptr<mcp::Invocation>& invocation, const ModelDescription& model) {
  refuse_profile(model);
  const Asker asker = asker_of(*invocation);
  PlaceEvents<OnlyLoaded> events;
  // Progress only grows.
  events.loading = [invocation, told = std::int64_t{0}](const LoadProgress& progress) mutable {
    if (!progress.bytes || *progress.bytes <= told) return;
    told = *progress.bytes;
    const auto total = progress.total ? std::optional(static_cast<double>(*progress.total)) : std::nullopt;
    invocation->progress(static_cast<double>(*progress.bytes), total, "loading");
  };
  events.granted = [this, invocation, asker, name = model.name](const std::unique_ptr<OnlyLoaded>&) {
    answer(*invocation, loaded(name, asker));
  };
  events.failed = [invocation](const TurnError& error) { invocation->result(mcp::tool_error(rpc_error_of(error))); };
  keep({invocation,
        host_.lender().load({.model = model.name, .asker = asker, .keep_alive = {}, .peer = peer_of(*invocation)},
                            std::move(events))});
}

Json ChatTools::loaded(const std::string& model, const Asker& asker) const {
  const auto found = host_.find(model, asker);
  return Json{{"model", model},
              {"context", found ? or_null(found->context) : Json(nullptr)},
              {"load_s", found ? or_null(found->load_s) : Json(nullptr)}};
}

void ChatTools::chat(mcp::Invocation& invocation, const Json& arguments) {
  const std::string conversation = arguments.value("conversation", std::string());
  const std::string& asker = invocation.request().session->principal->name;
  for (const auto& [number, call] : calls_) {
    if (conversation.empty() || call->asker() != asker) continue;
    if (call->conversation() != conversation) continue;
    throw RpcError(ErrorCode::kQueueFull,
                   "an answer of this conversation is being made: wait for it, or end it with stop",
                   Json{{"conversation", conversation}});
  }
  const std::uint64_t number = ++next_;
  const auto call =
      std::make_shared<ChatCall>(ChatCall::Surroundings{loop_, host_, conversations_, options_.is_simulated},
                                 invocation, arguments, [this, number, alive = alive_.watch()] {
                                   if (!alive.expired()) let_go(number);
                                 });
  calls_.emplace(number, call);
  call->begin();
}

void ChatTools::embed(mcp::Invocation& invocation, const Json& arguments) {
  invocation.when_ended([] {});
  const auto begin = [this, invocation = invocation.shared_from_this(),
                      input = arguments.at("input").get<std::string>()](const ModelDescription& model) {
    EmbeddingWish wish;
    wish.model = model.name;
    wish.inputs = {input};
    const auto done = [this, invocation, name = model.name](const Embeddings& made) {
      answer(*invocation, Json{{"model", name}, {"embedding", made.vectors.at(0)}, {"tokens", made.tokens}});
    };
    const auto failed = [invocation](const TurnError& error) {
      invocation->result(mcp::tool_error(rpc_error_of(error)));
    };
    auto running = host_.embed(std::move(wish), asker_of(*invocation), peer_of(*invocation), done, failed);
    keep({invocation, std::move(running)});
  };
  with_model(host_, invocation, arguments.value("model", std::string()), begin);
}

void ChatTools::stop_answers(mcp::Invocation& invocation, const Json& arguments) {
  const std::string conversation = arguments.value("conversation", std::string());
  std::size_t stopped = 0;
  const auto calls = calls_;
  for (const auto& [number, call] : calls) {
    const bool is_meant = conversation.empty() ? call->is_of_client(invocation.request())
                                               : call->conversation() == conversation &&
                                                     call->asker() == invocation.request().session->principal->name;
    if (!is_meant || call->is_over()) continue;
    call->stop();
    ++stopped;
  }
  answer(invocation, Json{{"stopped", stopped}});
}

void ChatTools::status(mcp::Invocation& invocation, const Json&) {
  Json models = Json::array();
  for (const ModelDescription& model : host_.models(asker_of(invocation))) {
    if (model.state == ModelState::kOnDisk) continue;
    const Speed speed = host_.speed_of_model(model.name);
    Json one = choice_of(model);
    one["expires_s"] = or_null(model.expires_s);
    one["tokens_per_second"] = or_null(speed.tokens_per_second);
    one["prefill_tokens_per_second"] = or_null(speed.prefill_tokens_per_second);
    one["first_token_ms"] = or_null(speed.first_token_ms);
    models.push_back(std::move(one));
  }
  Json answers = Json::array();
  for (const auto& [number, call] : calls_) {
    if (!call->is_over() && call->is_of_client(invocation.request())) answers.push_back(call->status());
  }
  const std::string trouble = options_.trouble();
  answer(invocation, Json{{"models", std::move(models)},
                          {"answers", std::move(answers)},
                          {"turns", host_.turns()},
                          {"trouble", trouble.empty() ? Json(nullptr) : Json(trouble)}});
}

void ChatTools::unload_model(mcp::Invocation& invocation, const Json& arguments) {
  invocation.when_ended([] {});
  const auto asked = arguments.at("model").get<std::string>();
  const auto begin = [this, invocation = invocation.shared_from_this(), asked](const ModelDescription& model) {
    refuse_profile(model);
    const auto done = [this, invocation, name = model.name, was_loaded = model.state != ModelState::kOnDisk,
                       alive = alive_.watch()](const std::optional<TurnError>& error) {
      if (alive.expired()) return;
      if (error) return invocation->result(mcp::tool_error(rpc_error_of(*error)));
      answer(*invocation, Json{{"model", name}, {"was_loaded", was_loaded}});
    };
    // By the name that was asked for: chat.any_model is not unloaded by a typing error.
    host_.lender().unload(asked.empty() ? model.name : asked, asker_of(*invocation), done);
  };
  with_model(host_, invocation, asked, begin);
}

}  // namespace rkllm_mcp::chat
