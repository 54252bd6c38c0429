#include "chat/http/chat_routes.hpp"

#include "auth/access_tokens.hpp"
#include "chat/dialects/openai/openai_chat_request.hpp"
#include "chat/dialects/openai/responses_request.hpp"
#include "chat/http/model_pages.hpp"
#include "chat/http/pull_exchange.hpp"
#include "clock.hpp"
#include "jsonrpc/bounded_json.hpp"
#include "jsonrpc/unread.hpp"
#include "random_bytes.hpp"
#include "text/url.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

constexpr std::string_view kShowPath = "/api/show";
constexpr std::string_view kPullPath = "/api/pull";
constexpr std::string_view kDeletePath = "/api/delete";

constexpr std::array<std::string_view, 5> kLlamaPaths = {"/props", "/slots", "/tokenize", "/detokenize",
                                                         "/apply-template"};

// The kind of error that a refusal of the HTTP layer with this status is; nothing: there is none for it.
std::optional<ErrorKind> kind_of_status(int status) {
  switch (status) {
    case 401: return ErrorKind::kUnauthorized;
    case 403: return ErrorKind::kForbidden;
    case 413: return ErrorKind::kTooLarge;
    case 503: return ErrorKind::kQueueFull;
    default: return std::nullopt;
  }
}

bool is_get_like(std::string_view method) { return method == "GET" || method == "HEAD"; }

// "x" of "/v1/models/x", decoded: names may have a slash or a colon.
std::optional<std::string> model_asked_for(std::string_view path) {
  constexpr std::string_view kBefore = "/v1/models/";
  if (!path.starts_with(kBefore)) return std::nullopt;
  return percent_decoded(path.substr(kBefore.size()));
}

// Clients ask for these to see which models there are now.
bool names_models(std::string_view path) {
  return path == "/v1/models" || path.starts_with("/v1/models/") || path == "/api/tags";
}

ReplyFacts facts_of(std::string_view prefix, const std::string& request_id) {
  const auto now = time_of_day();
  ReplyFacts facts;
  facts.request_id = request_id;
  if (!prefix.empty()) facts.id = new_id(prefix);
  facts.created_s = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  facts.created_iso = iso_time(now);
  return facts;
}

TurnError nothing_at(std::string_view method, std::string_view path) {
  return {ErrorKind::kNotKept, "there is nothing at " + std::string(method) + " " + shortened(path)};
}

// What Ollama's clients use to fetch and delete models.
bool changes_store(std::string_view method, std::string_view path) {
  return (method == "POST" && path == kPullPath) || (method == "DELETE" && path == kDeletePath);
}

// What they use to make models, which cannot be done here.
bool makes_models(std::string_view path) {
  constexpr std::array<std::string_view, 3> kPaths = {"/api/push", "/api/create", "/api/copy"};
  return std::ranges::find(kPaths, path) != kPaths.end();
}

struct ReadBody {
  Json json;
  std::string complaint;  // empty: it is what it has to be
};

ReadBody parsed(std::string_view body) {
  JsonBuilder builder(kDeepestJson);
  builder.refuse_above(kMostValuesReadOnLoop);
  if (!Json::sax_parse(body.begin(), body.end(), &builder)) return {nullptr, "the body: " + builder.complaint()};
  Json json = builder.take();
  const bool is_object = json.is_object();
  return {std::move(json), is_object ? "" : "the body must be a JSON object"};
}

}  // namespace

ChatRoutes::ChatRoutes(asio::io_context& loop, Gate& gate, ChatHost& host, Options options)
    : loop_(loop),
      gate_(gate),
      host_(host),
      options_(std::move(options)),
      open_(loop),
      reading_(loop),
      embeddings_(host, open_, reading_),
      tokens_(loop, host, open_, options_.warn_of_tokenizer) {}

ChatRoutes::~ChatRoutes() = default;

bool ChatRoutes::serves(const http::Request& request) {
  const std::string path = corrected_path(request.path);
  if (path == "/") return is_get_like(request.method);
  if (path.starts_with("/v1/") || path.starts_with("/api/")) return true;
  return std::ranges::find(kLlamaPaths, path) != kLlamaPaths.end();
}

std::optional<http::Response> ChatRoutes::refusal(const http::Request& request, const http::Refusal& refusal) {
  if (!serves(request)) return std::nullopt;
  const auto kind = kind_of_status(refusal.status);
  const std::string before = refusal.status == 413 ? "the body is too large: " : "";
  const TurnError error(kind.value_or(ErrorKind::kBadField), before + refusal.explanation);
  const Surface surface = surface_of(request, corrected_path(request.path));
  const std::string id = new_id("req_");
  ErrorReply reply = error_reply(surface, error, id);
  http::Response response{kind ? reply.status : refusal.status, {}, "application/json", std::move(reply.body)};
  add_request_id(response.headers, surface, id);
  return response;
}

void ChatRoutes::handle(const http::Request& request, http::Exchange& exchange) {
  const auto visit = std::make_shared<Visit>(loop_, options_.answers, request, exchange, MemoryShare(options_.memory));
  if (request.principal == nullptr) return refuse_stranger(request, *visit, !request.bearer_token().empty());
  visit->asker = {request.principal->name, request.principal->may_call, request.principal->may_admin};
  if (stopping_) {
    return visit->refuse(TurnError::try_later(ErrorKind::kNoRoom, "the server is ending", 1));
  }
  if (is_get_like(request.method)) {
    if (names_models(visit->path)) return refresh(*visit, [this, visit] { get(*visit); });
    return visit->or_refuse([&] { get(*visit); });
  }
  if (request.method == "POST" || changes_store(request.method, visit->path)) return read_body(request, *visit);
  visit->refuse(nothing_at(visit->method, visit->path));
}

void ChatRoutes::refuse_stranger(const http::Request& request, Visit& visit, bool is_guess) {
  // Whether something answers here is no secret; containers and clients ask without a token.
  if (is_get_like(visit.method) && (visit.path == "/" || visit.path == "/v1/health")) {
    return visit.or_refuse([&] { get(visit); });
  }
  const TurnError error(ErrorKind::kUnauthorized,
                        is_guess ? gate_.complaint(request.remote)
                                 : "an access token is required: Authorization: Bearer TOKEN, or x-api-key: TOKEN");
  if (!is_guess) return visit.refuse(error);
  gate_.refuse_guess(request.remote, [visit = visit.shared_from_this(), error, alive = alive_.watch()] {
    if (!alive.expired()) visit->refuse(error);
  });
}

void ChatRoutes::read_body(const http::Request& request, Visit& visit) {
  // The memory for reading a body: its text twice, and its values, each of which has at least two bytes of text.
  constexpr std::size_t kValueBytes = 100;
  const std::size_t values = std::min(kMostValuesReadOnLoop, request.body.size() / 2);
  if (!visit.memory.grow(2 * request.body.size() + kValueBytes * values)) {
    return visit.refuse(no_memory_now());
  }
  const auto use = [this, visit = visit.shared_from_this(), bytes = request.body.size()](const ReadBody& body) {
    if (!body.complaint.empty()) return visit->refuse(TurnError::bad_field("", body.complaint));
    visit->memory.set(2 * bytes);  // the rest was for the reading
    visit->or_refuse([&] {
      try {
        post(*visit, body.json);
      } catch (const TurnError& error) {  // a model that nobody knows may have come since
        if (error.kind() != ErrorKind::kUnknownModel) throw;
        refresh(*visit, [this, visit, json = body.json] { post(*visit, json); });
      }
    });
  };
  if (request.body.size() <= kMostParsedOnLoop || !reading_.start()) return use(parsed(request.body));
  const auto body = std::make_shared<ReadBody>();  // filled in on the thread, then used on the loop
  reading_.run([body, text = request.body] { *body = parsed(text); }, [body, use] { use(*body); });
}

void ChatRoutes::refresh(Visit& visit, std::function<void()> action) {
  host_.lender().refresh([visit = visit.shared_from_this(), action = std::move(action), alive = alive_.watch()] {
    if (!alive.expired()) visit->or_refuse(action);
  });
}

void ChatRoutes::get(Visit& visit) {
  const std::string& path = visit.path;
  if (path == "/") {
    constexpr int kOk = 200;
    return visit.exchange->respond({kOk, {}, "text/plain; charset=utf-8", "Ollama is running"});
  }
  if (path == "/v1/health") return visit.answer({{"status", "ok"}});
  // Clients of Ollama want a version of Ollama, and refuse one that lacks what they use; this is the one whose
  // interface is served.
  if (path == "/api/version") return visit.answer({{"version", "0.6.4"}, {"rkllm_mcp", options_.version}});
  if (path == "/v1/models") {
    const auto models = host_.models(visit.asker);
    return visit.answer(visit.wants_anthropic ? anthropic_models(models) : openai_models(models));
  }
  if (const auto name = model_asked_for(path)) {
    const ModelDescription model = host_.model_for(*name, visit.asker);
    return visit.answer(visit.wants_anthropic ? anthropic_model(model) : openai_model(model));
  }
  if (path == "/api/tags") return visit.answer(ollama_tags(host_.models(visit.asker)));
  if (path == "/api/ps") return visit.answer(ollama_running(host_.models(visit.asker)));
  if (path == "/props") {
    const auto models = host_.models(visit.asker);
    const auto loaded = std::ranges::find(models, ModelState::kLoaded, &ModelDescription::state);
    if (models.empty()) throw TurnError::unknown_model("");
    return visit.answer(llama_props(loaded == models.end() ? models.front() : *loaded));
  }
  if (path == "/slots") return visit.answer(llama_slots(host_.models(visit.asker)));
  throw nothing_at(visit.method, path);
}

void ChatRoutes::post(Visit& visit, const Json& body) {
  const std::string& path = visit.path;
  if (changes_store(visit.method, path)) return change_store(visit, body);
  if (!visit.asker.may_call) {
    throw TurnError(ErrorKind::kForbidden, "this access token has no permission to call models");
  }
  if (const ChatEndpoint* const endpoint = find_chat_endpoint(path)) {
    ChatJob job = job_of(*endpoint, body, visit.request_id);
    return job.previous ? go_on_from(*job.previous, *endpoint, visit, body) : make_turn(std::move(job), visit);
  }
  if (embeddings_.post(visit, body) || tokens_.post(visit, body)) return;
  if (path == kShowPath) return show(visit, body);
  if (path == "/apply-template") return apply_template(visit, body);
  if (makes_models(path)) {
    throw TurnError::not_supported("",
                                   "models are files here: POST /api/pull fetches one, DELETE /api/delete deletes it");
  }
  throw nothing_at(visit.method, path);
}

// Where no responses are kept, `store` is read as false and named as ignored.
ChatJob ChatRoutes::job_of(const ChatEndpoint& endpoint, const Json& body, const std::string& request_id) const {
  ChatJob job = endpoint.read(body, facts_of(endpoint.prefix, request_id));
  if (!job.kept_items || options_.responses != nullptr) return job;
  Json other = body;
  other["store"] = false;
  job = endpoint.read(other, facts_of(endpoint.prefix, request_id));
  job.ignored.emplace_back("store");
  return job;
}

void ChatRoutes::go_on_from(const std::string& response, const ChatEndpoint& endpoint, Visit& visit, const Json& body) {
  if (options_.responses == nullptr) {
    throw TurnError(ErrorKind::kNotKept, "no response is kept here (chat.responses_days, services.only)");
  }
  const auto go_on = [this, &endpoint, visit = visit.shared_from_this(), body,
                      alive = alive_.watch()](ResponseStore::Recalled recalled) {
    if (alive.expired() || visit->exchange->closed()) return;
    if (recalled.error) return visit->refuse(*recalled.error);
    if (!visit->memory.grow(2 * recalled.bytes)) {
      return visit->refuse(no_memory_now());
    }
    visit->or_refuse([&] {
      Json whole = body;
      for (Json& item : items_of(body.at("input"))) recalled.items.push_back(std::move(item));
      whole["input"] = std::move(recalled.items);
      make_turn(job_of(endpoint, whole, visit->request_id), *visit);
    });
  };
  options_.responses->recall(response, visit.asker.name, go_on);
}

void ChatRoutes::make_turn(ChatJob job, Visit& visit) {
  if (job.wish != OllamaWish::kAnswer) return load_or_unload(std::move(job), visit);
  if (job.turn.conversation.empty() && !visit.conversation.id.empty()) {
    visit.check_conversation();
    job.turn.conversation = visit.conversation.id;
    job.turn.conversation_field = visit.conversation.name;
  }
  // Open WebUI streams its chats, and not its tasks (titles, tags): so a streamed question is never taken for a task,
  // even if it is worded like one.
  const bool looks_like_task = job.stream == nullptr && is_prompt_of_task(job.turn);
  job.turn.is_task = job.turn.is_task || visit.is_task || looks_like_task;
  ChatExchange::Options options;
  options.surface = visit.surface;
  options.request_id = visit.request_id;
  options.heartbeat = options_.heartbeat;
  options.most_held = options_.most_held;
  options.memory = std::move(visit.memory);
  options.is_simulated = options_.answers.is_simulated();
  options.responses = options_.responses;
  options.warn_of_unkept = options_.warn_of_unkept;
  options.asker = visit.asker.name;
  const std::uint64_t number = open_.new_number();
  const auto gone = [this, visit = visit.shared_from_this(), number](int status) {
    visit->note(status);
    open_.let_go(number);
  };
  const auto made = std::make_shared<ChatExchange>(loop_, *visit.exchange, std::move(job), std::move(options), gone);
  made->begin(host_, visit.asker, visit.peer);
  open_.keep(number, visit, {made, [&exchange = *made](const TurnError& error) { exchange.failed(error); }});
}

void ChatRoutes::load_or_unload(ChatJob job, Visit& visit) {
  const ModelDescription model = host_.model_for(job.turn.model, visit.asker);
  // The model behind a profile is loaded when it is first asked.
  if (model.is_profile) return visit.answer_text(job.loaded_reply, ignored_fields(job.ignored));
  const std::uint64_t number = open_.new_number();
  const auto done = [this, visit = visit.shared_from_this(), number, reply = std::move(job.loaded_reply),
                     headers = ignored_fields(job.ignored),
                     alive = alive_.watch()](const std::optional<TurnError>& error) {
    if (alive.expired()) return;
    open_.end(number, [&] {
      if (error) return visit->refuse(*error);
      visit->answer_text(reply, headers);
    });
  };
  std::unique_ptr<QueuePlace> place;
  if (job.wish == OllamaWish::kUnload) {
    // By the name that was asked for: chat.any_model is not unloaded by a typing error.
    host_.lender().unload(job.turn.model.empty() ? model.name : job.turn.model, visit.asker, done);
  } else {
    PlaceEvents<OnlyLoaded> events;
    events.granted = [done](const std::unique_ptr<OnlyLoaded>&) { done(std::nullopt); };
    events.failed = done;
    place = host_.lender().load(
        {.model = model.name, .asker = visit.asker, .keep_alive = job.turn.keep_alive, .peer = visit.peer},
        std::move(events));
  }
  open_.keep(number, visit, std::move(place));
}

void ChatRoutes::apply_template(Visit& visit, const Json& body) {
  const OpenAiChatRequest request = read_openai_chat(body);
  visit.answer({{"prompt", host_.prompt_of(request.turn, visit.asker).text}});
}

void ChatRoutes::show(Visit& visit, const Json& body) {
  const OllamaStoreRequest request = read_ollama_show(body);
  visit.answer(ollama_show(host_.model_for(request.model, visit.asker)), ignored_fields(request.ignored));
}

void ChatRoutes::change_store(Visit& visit, const Json& body) {
  if (!visit.asker.may_admin) {
    throw TurnError(ErrorKind::kForbidden,
                    "pulling and deleting models takes an access token with the permission admin");
  }
  if (options_.store == nullptr) {
    throw TurnError::not_supported("", "models are files here: put them into one of runtime.model_dirs");
  }
  if (visit.path == kPullPath) return pull(visit, body);
  const auto removed = [visit = visit.shared_from_this(),
                        alive = alive_.watch()](const std::optional<TurnError>& error) {
    if (alive.expired()) return;
    if (error) return visit->refuse(*error);
    constexpr int kOk = 200;
    visit->exchange->respond({kOk, {{"Cache-Control", "no-store"}, {"x-request-id", visit->request_id}}, "", ""});
    visit->note(kOk);
  };
  const auto remove = [this, models = read_ollama_delete(body), removed] { options_.store->remove(models, removed); };
  refresh(visit, remove);  // they may just have come
}

void ChatRoutes::pull(Visit& visit, const Json& body) {
  const std::uint64_t number = open_.new_number();
  const auto gone = [this, visit = visit.shared_from_this(), number](int status) {
    visit->note(status);
    open_.let_go(number);
  };
  const auto made = std::make_shared<PullExchange>(
      loop_, *visit.exchange, read_ollama_pull(body),
      PullExchange::Options{.request_id = visit.request_id, .heartbeat = options_.heartbeat}, gone);
  made->begin(*options_.store);
  open_.keep(number, visit, {made, [&exchange = *made](const TurnError& error) { exchange.failed(error); }});
}

void ChatRoutes::stop() {
  stopping_ = true;
  open_.give_up_all(TurnError::try_later(ErrorKind::kNoRoom, "the server is ending", 1));
}

}  // namespace rkllm_mcp::chat
