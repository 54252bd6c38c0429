#include "chat/http/chat_routes.hpp"

#include "auth/access_tokens.hpp"
#include "chat/dialects/anthropic_reply.hpp"
#include "chat/dialects/anthropic_request.hpp"
#include "chat/dialects/openai_chat_request.hpp"
#include "chat/dialects/responses_request.hpp"
#include "chat/http/model_pages.hpp"
#include "chat/http/pull_exchange.hpp"
#include "chat/http/token_requests.hpp"
#include "chat/turn/context.hpp"
#include "clock.hpp"
#include "jsonrpc/bounded_json.hpp"
#include "jsonrpc/json_builder.hpp"
#include "jsonrpc/unread.hpp"
#include "put_back.hpp"
#include "random_bytes.hpp"
#include "run_loop.hpp"
#include "text/url.hpp"

#include <rkllm_mcp/errors.hpp>

#include <asio/post.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

constexpr std::string_view kShowPath = "/api/show";
constexpr std::string_view kPullPath = "/api/pull";
constexpr std::string_view kDeletePath = "/api/delete";
constexpr std::string_view kCountPath = "/v1/messages/count_tokens";

// "/v1/v1/models" and "/v1//models" are what clients make of an address that ends in "/v1" or "/v1/".
std::string forgiven(std::string_view path) {
  std::string result;
  for (const char character : path) {
    if (character != '/' || result.empty() || result.back() != '/') result.push_back(character);
  }
  constexpr std::string_view kTwice = "/v1/v1/";
  if (result.starts_with(kTwice)) result.erase(0, kTwice.size() / 2);
  if (result.size() > 1 && result.back() == '/') result.pop_back();
  return result;
}

constexpr std::array<std::string_view, 5> kLlamaPaths = {"/props", "/slots", "/tokenize", "/detokenize",
                                                         "/apply-template"};

Surface surface_of(std::string_view path) {
  if (path == "/" || path.starts_with("/api/")) return Surface::kOllama;
  return path.starts_with("/v1/messages") ? Surface::kAnthropic : Surface::kOpenAi;
}

bool wants_anthropic(const http::Request& request) { return request.headers.find("anthropic-version").has_value(); }

Surface surface_of(const http::Request& request, std::string_view path) {
  return wants_anthropic(request) && path.starts_with("/v1/models") ? Surface::kAnthropic : surface_of(path);
}

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

// Which conversation a client goes on with, where its requests have no field for that. Open WebUI sends the second.
ConversationHeader conversation_in(const http::Headers& headers) {
  for (const std::string_view name : {"X-Conversation-Id", "X-OpenWebUI-Chat-Id"}) {
    if (const auto value = headers.find(name)) return {std::string(name), std::string(*value)};
  }
  return {};
}

// Open WebUI can be told to send what it calls the task; a chat has none.
bool is_task(const http::Headers& headers) {
  const auto task = headers.find("x-openwebui-task");
  return task && is_name_of_task(*task);
}

http::Headers ignored_fields(const std::vector<std::string>& fields) {
  if (fields.empty()) return {};
  return {{"x-rkllm-ignored", ignored_header(fields)}};
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
  builder.refuse_above(kMostReadOnLoop);
  if (!Json::sax_parse(body.begin(), body.end(), &builder)) return {nullptr, "the body: " + builder.complaint()};
  Json json = builder.take();
  const bool is_object = json.is_object();
  return {std::move(json), is_object ? "" : "the body must be a JSON object"};
}

http::Headers headers_of(const EmbeddingRequest& request, const Embeddings& made) {
  http::Headers headers = ignored_fields(request.ignored);
  headers.add("x-rkllm-queue-position", std::to_string(made.queue_position));
  if (!made.cut.empty()) headers.add("x-rkllm-cut-inputs", cut_inputs_header(made.cut));
  return headers;
}

TurnError too_long_answer(const std::string& field, std::size_t bytes) {
  return TurnError::bad_field(field, "the answer has " + std::to_string(bytes) +
                                         " bytes, more than may be sent at once (limits.max_reply_bytes, "
                                         "limits.memory_bytes); ask for less at a time");
}

std::size_t numbers_in(const Embeddings& made) {
  std::size_t count = 0;
  for (const auto& each : made.vectors) count += each.size();
  return count;
}

}  // namespace

ChatRoutes::ChatRoutes(asio::io_context& loop, Gate& gate, ChatHost& host, Options options)
    : loop_(loop),
      gate_(gate),
      host_(host),
      options_(std::move(options)),
      reading_(loop),
      tokenizers_(loop, options_.warn_of_tokenizer) {}

ChatRoutes::~ChatRoutes() = default;

bool ChatRoutes::serves(const http::Request& request) {
  const std::string path = forgiven(request.path);
  if (path == "/") return is_get_like(request.method);
  if (path.starts_with("/v1/") || path.starts_with("/api/")) return true;
  return std::ranges::find(kLlamaPaths, path) != kLlamaPaths.end();
}

std::optional<http::Response> ChatRoutes::refusal(const http::Request& request, const http::Refusal& refusal) {
  if (!serves(request)) return std::nullopt;
  const auto kind = kind_of_status(refusal.status);
  const std::string before = refusal.status == 413 ? "the body is too large: " : "";
  const TurnError error(kind.value_or(ErrorKind::kBadField), before + refusal.explanation);
  const Surface surface = surface_of(request, forgiven(request.path));
  const std::string id = new_id("req_");
  ErrorReply reply = error_reply(surface, error, id);
  http::Response response{kind ? reply.status : refusal.status, {}, "application/json", std::move(reply.body)};
  add_request_id(response.headers, surface, id);
  return response;
}

void ChatRoutes::handle(const http::Request& request, http::Exchange& exchange) {
  const auto visit = std::make_shared<Visit>();
  visit->path = forgiven(request.path);
  visit->method = request.method;
  visit->surface = surface_of(request, visit->path);
  visit->wants_anthropic = wants_anthropic(request);
  visit->request_id = new_id("req_");
  visit->peer = request.remote;
  visit->conversation = conversation_in(request.headers);
  visit->is_task = is_task(request.headers);
  visit->exchange = exchange.shared_from_this();
  visit->begun_at = Clock::now();
  visit->memory = MemoryShare(options_.memory);
  if (request.principal == nullptr) return refuse_stranger(request, visit, !request.bearer_token().empty());
  visit->asker = {request.principal->name, request.principal->may_call, request.principal->may_admin};
  if (stopping_) {
    return refuse(visit, TurnError::try_later(ErrorKind::kNoRoom, "the server is ending", 1));
  }
  if (is_get_like(request.method)) {
    if (names_models(visit->path)) return refresh(visit, [this, visit] { get(visit); });
    return or_refuse(visit, [this, visit] { get(visit); });
  }
  if (request.method == "POST" || changes_store(request.method, visit->path)) return read_body(request, visit);
  refuse(visit, nothing_at(visit->method, visit->path));
}

void ChatRoutes::refuse_stranger(const http::Request& request, const VisitPointer& visit, bool is_guess) {
  // Whether something answers here is no secret; containers and clients ask without a token.
  if (is_get_like(visit->method) && (visit->path == "/" || visit->path == "/v1/health")) {
    return or_refuse(visit, [this, visit] { get(visit); });
  }
  const TurnError error(ErrorKind::kUnauthorized,
                        is_guess ? gate_.complaint(request.remote)
                                 : "an access token is required: Authorization: Bearer TOKEN, or x-api-key: TOKEN");
  if (!is_guess) return refuse(visit, error);
  gate_.refuse_guess(request.remote, [this, visit, error, alive = alive_.watch()] {
    if (!alive.expired()) refuse(visit, error);
  });
}

void ChatRoutes::read_body(const http::Request& request, const VisitPointer& visit) {
  // What it takes while it is read: its text twice, and its values, of which the shortest take two bytes of text.
  constexpr std::size_t kValueBytes = 100;
  const std::size_t values = std::min(kMostReadOnLoop, request.body.size() / 2);
  if (!visit->memory.grow(2 * request.body.size() + kValueBytes * values)) {
    return refuse(visit, TurnError::try_later(ErrorKind::kQueueFull, no_memory().what(), 1));
  }
  const auto use = [this, visit, bytes = request.body.size()](const ReadBody& body) {
    if (!body.complaint.empty()) return refuse(visit, TurnError::bad_field("", body.complaint));
    visit->memory.set(2 * bytes);  // the rest was for the reading
    or_refuse(visit, [&] { post_or_look(visit, body.json); });
  };
  if (request.body.size() <= kMostParsedOnLoop || !reading_.start()) return use(parsed(request.body));
  const auto body = std::make_shared<ReadBody>();  // one step fills it in, the other takes it
  reading_.run([body, text = request.body] { *body = parsed(text); }, [body, use] { use(*body); });
}

void ChatRoutes::post_or_look(const VisitPointer& visit, const Json& body) {
  try {
    post(visit, body);
  } catch (const TurnError& error) {
    if (error.kind() != ErrorKind::kUnknownModel) throw;
    refresh(visit, [this, visit, body] { post(visit, body); });
  }
}

void ChatRoutes::refresh(const VisitPointer& visit, std::function<void()> action) {
  host_.pool().refresh([this, visit, action = std::move(action), alive = alive_.watch()] {
    if (!alive.expired()) or_refuse(visit, action);
  });
}

void ChatRoutes::or_refuse(const VisitPointer& visit, const std::function<void()>& action) {
  try {
    action();
  } catch (const TurnError& error) {
    refuse(visit, error);
  } catch (const RpcError& error) {
    refuse(visit, TurnError::bad_field("", error.what()));
  } catch (...) {
    refuse(visit, TurnError(ErrorKind::kInternal, "internal error"));
    pass_on(loop_, std::current_exception());  // to be reported
  }
}

void ChatRoutes::refuse(const VisitPointer& visit, const TurnError& error) {
  note(*visit, send_error(*visit->exchange, visit->surface, error, visit->request_id));
}

void ChatRoutes::answer(const VisitPointer& visit, const Json& body, const http::Headers& headers) {
  answer_text(visit, to_text(body), headers);
}

void ChatRoutes::answer_text(const VisitPointer& visit, std::string json, const http::Headers& headers) {
  constexpr int kOk = 200;
  http::Headers all = headers;
  add_request_id(all, visit->surface, visit->request_id);
  all.add("Cache-Control", "no-store");
  if (options_.is_simulated()) all.add("x-rkllm-simulated", "true");
  visit->exchange->respond({kOk, all, "application/json", std::move(json)});
  note(*visit, kOk);
}

void ChatRoutes::answer_long_text(const VisitPointer& visit, std::string json, const std::string& field,
                                  const http::Headers& headers) {
  if (json.size() > options_.most_reply_bytes || !visit->exchange->has_room_for(json.size())) {
    return refuse(visit, too_long_answer(field, json.size()));
  }
  answer_text(visit, std::move(json), headers);
}

void ChatRoutes::note(const Visit& visit, int status) const {
  if (!options_.report) return;
  const auto time = Clock::now() - visit.begun_at;
  options_.report({visit.request_id, visit.peer, visit.path, visit.asker.name, status,
                   std::chrono::duration_cast<std::chrono::microseconds>(time)});
}

void ChatRoutes::get(const VisitPointer& visit) {
  const std::string& path = visit->path;
  if (path == "/") {
    constexpr int kOk = 200;
    return visit->exchange->respond({kOk, {}, "text/plain; charset=utf-8", "Ollama is running"});
  }
  if (path == "/v1/health") return answer(visit, {{"status", "ok"}});
  // Clients of Ollama want a version of Ollama, and refuse one that lacks what they use; this is the one whose
  // interface is served.
  if (path == "/api/version") return answer(visit, {{"version", "0.6.4"}, {"rkllm_mcp", options_.version}});
  if (path == "/v1/models") {
    const auto models = host_.models(visit->asker);
    return answer(visit, visit->wants_anthropic ? anthropic_models(models) : openai_models(models));
  }
  if (const auto name = model_asked_for(path)) {
    const ModelDescription model = host_.model_for(*name, visit->asker);
    return answer(visit, visit->wants_anthropic ? anthropic_model(model) : openai_model(model));
  }
  if (path == "/api/tags") return answer(visit, ollama_tags(host_.models(visit->asker)));
  if (path == "/api/ps") return answer(visit, ollama_running(host_.models(visit->asker)));
  if (path == "/props") {
    const auto models = host_.models(visit->asker);
    const auto loaded = std::ranges::find(models, ModelState::kLoaded, &ModelDescription::state);
    if (models.empty()) throw TurnError::unknown_model("");
    return answer(visit, llama_props(loaded == models.end() ? models.front() : *loaded));
  }
  if (path == "/slots") return answer(visit, llama_slots(host_.models(visit->asker)));
  throw nothing_at(visit->method, path);
}

void ChatRoutes::post(const VisitPointer& visit, const Json& body) {
  const std::string& path = visit->path;
  if (changes_store(visit->method, path)) return change_store(visit, body);
  if (!visit->asker.may_call) {
    throw TurnError(ErrorKind::kForbidden, "this access token has no permission to call models");
  }
  if (const ChatEndpoint* const endpoint = find_chat_endpoint(path)) {
    ChatJob job = job_of(*endpoint, body, visit->request_id);
    return job.previous ? go_on_from(*job.previous, *endpoint, visit, body) : make_turn(std::move(job), visit);
  }
  if (path == "/v1/embeddings") return embed(EmbeddingSurface::kOpenAi, visit, body);
  if (path == "/api/embed") return embed(EmbeddingSurface::kOllama, visit, body);
  if (path == "/api/embeddings") return embed(EmbeddingSurface::kOllamaOlder, visit, body);
  if (path == kShowPath) return show(visit, body);
  if (path == kCountPath) return count_tokens(visit, body);
  if (path == "/apply-template") return apply_template(visit, body);
  if (path == "/tokenize") return tokenize(visit, body);
  if (path == "/detokenize") return detokenize(visit, body);
  if (makes_models(path)) {
    throw TurnError::not_supported("",
                                   "models are files here: POST /api/pull fetches one, DELETE /api/delete deletes it");
  }
  throw nothing_at(visit->method, path);
}

void ChatRoutes::keep(std::uint64_t number, const VisitPointer& visit, Open open) {
  open_.emplace(number, std::move(open));
  visit->exchange->when_closed([this, number, alive = alive_.watch()] {
    const bool is_noticed = !is_put_back("nobody notices that who asked for a turn has gone") &&
                            !is_put_back("embeddings are made for long, and for nobody");
    if (!alive.expired() && is_noticed) let_go(number);
  });
}

// Posted to the loop: this is called by callbacks of what open_ holds under that number, which must not be destroyed
// while they run.
void ChatRoutes::let_go(std::uint64_t number) {
  asio::post(loop_, [this, number, alive = alive_.watch()] {
    if (!alive.expired()) open_.erase(number);
  });
}

// Where nothing is kept, a response that was to be is made all the same, and says that it is not.
ChatJob ChatRoutes::job_of(const ChatEndpoint& endpoint, const Json& body, const std::string& request_id) const {
  ChatJob job = endpoint.read(body, facts_of(endpoint.prefix, request_id));
  if (!job.kept_items || options_.responses != nullptr) return job;
  Json other = body;
  other["store"] = false;
  job = endpoint.read(other, facts_of(endpoint.prefix, request_id));
  job.ignored.emplace_back("store");
  return job;
}

void ChatRoutes::go_on_from(const std::string& response, const ChatEndpoint& endpoint, const VisitPointer& visit,
                            const Json& body) {
  if (options_.responses == nullptr) {
    throw TurnError(ErrorKind::kNotKept, "no response is kept here (chat.responses_days, services.only)");
  }
  const auto go_on = [this, &endpoint, visit, body, alive = alive_.watch()](ResponseStore::Recalled recalled) {
    if (alive.expired() || visit->exchange->closed()) return;
    if (recalled.error) return refuse(visit, *recalled.error);
    if (!visit->memory.grow(2 * recalled.bytes)) {
      return refuse(visit, TurnError::try_later(ErrorKind::kQueueFull, no_memory().what(), 1));
    }
    or_refuse(visit, [&] {
      Json whole = body;
      for (Json& item : items_of(body.at("input"))) recalled.items.push_back(std::move(item));
      whole["input"] = std::move(recalled.items);
      make_turn(job_of(endpoint, whole, visit->request_id), visit);
    });
  };
  options_.responses->recall(response, visit->asker.name, go_on);
}

void ChatRoutes::make_turn(ChatJob job, const VisitPointer& visit) {
  if (job.wish != OllamaWish::kAnswer) return load_or_unload(std::move(job), visit);
  if (job.turn.conversation.empty() && !visit->conversation.id.empty()) {
    job.turn.conversation = visit->conversation.id;
    job.turn.conversation_field = visit->conversation.name;
  }
  // Open WebUI streams its chats, and not its tasks (titles, tags): so a streamed question is never taken for a task,
  // even if it is worded like one.
  const bool looks_like_task = job.stream == nullptr && is_prompt_of_task(job.turn);
  job.turn.is_task = job.turn.is_task || visit->is_task || looks_like_task;
  ChatExchange::Options options;
  options.surface = visit->surface;
  options.request_id = visit->request_id;
  options.heartbeat = options_.heartbeat;
  options.most_held = options_.most_held;
  options.memory = std::move(visit->memory);
  options.is_simulated = options_.is_simulated();
  options.responses = options_.responses;
  options.asker = visit->asker.name;
  const std::uint64_t number = ++next_;
  const auto gone = [this, visit, number](int status) {
    note(*visit, status);
    let_go(number);
  };
  const auto made = std::make_shared<ChatExchange>(loop_, *visit->exchange, std::move(job), std::move(options), gone);
  made->begin(host_, visit->asker, visit->peer);
  keep(number, visit, {made, [&exchange = *made](const TurnError& error) { exchange.failed(error); }});
}

void ChatRoutes::load_or_unload(ChatJob job, const VisitPointer& visit) {
  const ModelDescription model = host_.model_for(job.turn.model, visit->asker);
  // The model behind a profile is loaded when it is first asked.
  if (model.is_profile) return answer_text(visit, job.loaded_reply, ignored_fields(job.ignored));
  const std::uint64_t number = ++next_;
  const auto done = [this, visit, number, reply = std::move(job.loaded_reply), headers = ignored_fields(job.ignored),
                     alive = alive_.watch()](const std::optional<TurnError>& error) {
    if (alive.expired() || open_.count(number) == 0) return;  // its client has gone, or it has been given up
    if (error) {
      refuse(visit, *error);
    } else {
      answer_text(visit, reply, headers);
    }
    let_go(number);
  };
  std::unique_ptr<QueuePlace> place;
  if (job.wish == OllamaWish::kUnload) {
    // By the name that was asked for: chat.any_model is not unloaded by a typing error.
    host_.pool().unload(job.turn.model.empty() ? model.name : job.turn.model, visit->asker, done);
  } else {
    PlaceEvents<OnlyLoaded> events;
    events.granted = [done](const std::unique_ptr<OnlyLoaded>&) { done(std::nullopt); };
    events.failed = done;
    place = host_.pool().load(
        {.model = model.name, .asker = visit->asker, .keep_alive = job.turn.keep_alive, .peer = visit->peer},
        std::move(events));
  }
  keep(number, visit, {std::move(place), [this, visit](const TurnError& error) { refuse(visit, error); }});
}

void ChatRoutes::embed(EmbeddingSurface surface, const VisitPointer& visit, const Json& body) {
  const Immutable request(read_embedding(surface, body));  // of both outcomes
  const std::uint64_t number = ++next_;
  const auto done = [this, visit, number, surface, request](Embeddings made) {
    answer_embeddings(surface, visit, request, std::move(made));
    let_go(number);
  };
  const auto failed = [this, visit, number](const TurnError& error) {
    refuse(visit, error);
    let_go(number);
  };
  const auto check_first = [this, visit, request](const std::vector<float>& first, std::size_t count) {
    check_room_for_embeddings(*visit, *request, first, count);
  };
  auto running = host_.embed(request->wish, visit->asker, visit->peer, done, failed, check_first);
  keep(number, visit, {std::move(running), [this, visit](const TurnError& error) { refuse(visit, error); }});
}

void ChatRoutes::check_room_for_embeddings(Visit& visit, const EmbeddingRequest& request,
                                           const std::vector<float>& first, std::size_t count) const {
  const std::size_t text = count * reply_bytes_of(request, first);
  // Texts of numbers are not all of one length; whether the answer is too long is seen in the end.
  constexpr std::size_t kUncertain = 8;
  if (text - text / kUncertain > options_.most_reply_bytes) throw too_long_answer(request.wish.field, text);
  if (visit.memory.grow(text + count * first.size() * (sizeof(float) + sizeof(Json)))) return;
  throw TurnError::try_later(ErrorKind::kQueueFull, no_memory().what(), 1);
}

// Millions of numbers are not written on the event loop.
void ChatRoutes::answer_embeddings(EmbeddingSurface surface, const VisitPointer& visit,
                                   const Immutable<EmbeddingRequest>& request, Embeddings made) {
  const auto send = [this, visit, request, headers = headers_of(*request, made)](std::string text) {
    visit->memory.set(0);  // from here on it is the exchange that counts the text
    answer_long_text(visit, std::move(text), request->wish.field, headers);
  };
  constexpr std::size_t kWrittenAtOnce = 4096;
  if (numbers_in(made) <= kWrittenAtOnce || !reading_.start()) return send(embedding_reply(surface, *request, made));
  const auto text = std::make_shared<std::string>();
  const auto numbers = std::make_shared<Embeddings>(std::move(made));  // gone when they are written
  reading_.run(
      [text, surface, request, numbers] {
        *text = embedding_reply(surface, *request, *numbers);
        *numbers = {};
      },
      [text, send] { send(std::move(*text)); });
}

void ChatRoutes::answer_by_tokenizer(const VisitPointer& visit, std::string model_path, TokenWork work) {
  use_tokenizer(visit, std::move(model_path), std::move(work),
                [this, visit](std::string text) { answer_long_text(visit, std::move(text), {}, {}); });
}

void ChatRoutes::use_tokenizer(const VisitPointer& visit, std::string model_path, TokenWork work,
                               std::function<void(std::string text)> then) {
  struct Outcome {
    std::string text;
    std::optional<TurnError> error;
    std::atomic<bool> is_wanted{true};
  };
  const auto outcome = std::make_shared<Outcome>();
  const std::uint64_t number = ++next_;
  const auto make = [work = std::move(work), outcome](const Tokenizer* tokenizer) {
    constexpr std::chrono::seconds kLongest{5};
    const auto until = Clock::now() + kLongest;
    const auto keep_going = [&outcome, until] {
      if (!outcome->is_wanted) throw std::runtime_error("nobody waits for it any more");
      if (Clock::now() > until) throw std::runtime_error("it takes too long to divide");
    };
    try {
      keep_going();
      outcome->text = work(tokenizer, keep_going);
    } catch (const TurnError& error) {
      outcome->error = error;
    } catch (const std::exception& error) {
      outcome->error = TurnError(ErrorKind::kRuntimeFailed, error.what());
    }
  };
  auto tell = [this, visit, number, outcome, then = std::move(then)] {
    if (open_.count(number) == 0) return;  // its client has gone, or it has been given up
    if (outcome->error) {
      refuse(visit, *outcome->error);
    } else {
      then(std::move(outcome->text));
    }
    let_go(number);
  };
  // What open_ holds of this: when it lets go, the thread sees that nobody wants the result, and stops working.
  const std::shared_ptr<void> answering(outcome.get(), [outcome](void*) { outcome->is_wanted = false; });
  keep(number, visit, {answering, [this, visit](const TurnError& error) { refuse(visit, error); }});
  tokenizers_.use(std::move(model_path), make, std::move(tell));
}

void ChatRoutes::count_tokens(const VisitPointer& visit, const Json& body) {
  AnthropicRequest request = read_anthropic_count(body);
  host_.plain_model_for(request.turn.model, visit->asker);
  const std::size_t said = bytes_of(request.turn);
  if (said > kMostPromptBytes) {  // is not written, but that it is too long can be told
    return answer_text(visit, anthropic_count_reply(estimated_tokens(said).tokens, true),
                       ignored_fields(request.ignored));
  }
  const ChatHost::PromptOfModel prompt = host_.prompt_of(request.turn, visit->asker);
  const auto is_estimate = std::make_shared<bool>();
  const auto count = [prompt, is_estimate](const Tokenizer* tokenizer, const std::function<void()>& keep_going) {
    const TokenCount counted = tokens_of_prompt(prompt.text, prompt.is_whole ? tokenizer : nullptr, keep_going);
    *is_estimate = counted.is_estimate;
    return anthropic_count_reply(counted.tokens, counted.is_estimate);
  };
  auto send = [this, visit, request = std::move(request), is_estimate](std::string reply) mutable {
    const http::Headers headers = ignored_fields(request.ignored);
    if (!*is_estimate) return answer_long_text(visit, std::move(reply), {}, headers);
    count_by_prefill(visit, std::move(request.turn), reply, headers);
  };
  use_tokenizer(visit, prompt.path, count, std::move(send));
}

void ChatRoutes::count_by_prefill(const VisitPointer& visit, Turn turn, const std::string& estimate,
                                  const http::Headers& headers) {
  const std::uint64_t number = ++next_;
  const auto tell = [this, visit, number, estimate, headers](std::optional<std::int64_t> tokens) {
    answer_text(visit, tokens ? anthropic_count_reply(*tokens, false) : estimate, headers);
    let_go(number);
  };
  std::unique_ptr<Running> counting;
  try {
    counting = host_.count(std::move(turn), visit->asker, visit->peer, tell);
  } catch (const TurnError&) {
    // What no model takes, as a prompt that is too long for any, can be estimated all the same.
  }
  if (counting == nullptr) return answer_text(visit, estimate, headers);
  keep(number, visit, {std::move(counting), [this, visit](const TurnError& error) { refuse(visit, error); }});
}

void ChatRoutes::tokenize(const VisitPointer& visit, const Json& body) {
  TokenizeRequest request = read_tokenize(body);
  const ModelDescription model = host_.plain_model_for(request.model, visit->asker);
  answer_by_tokenizer(visit, model.path,
                      [request = std::move(request), most = options_.most_reply_bytes](
                          const Tokenizer* tokenizer, const std::function<void()>& keep_going) mutable {
                        request.options.keep_going = keep_going;
                        return tokenize_reply(request, tokenizer, most);
                      });
}

void ChatRoutes::detokenize(const VisitPointer& visit, const Json& body) {
  DetokenizeRequest request = read_detokenize(body);
  const ModelDescription model = host_.plain_model_for(request.model, visit->asker);
  answer_by_tokenizer(visit, model.path,
                      [request = std::move(request)](const Tokenizer* tokenizer, const std::function<void()>&) {
                        return detokenize_reply(request, tokenizer);
                      });
}

void ChatRoutes::apply_template(const VisitPointer& visit, const Json& body) {
  const OpenAiChatRequest request = read_openai_chat(body);
  answer(visit, {{"prompt", host_.prompt_of(request.turn, visit->asker).text}});
}

void ChatRoutes::show(const VisitPointer& visit, const Json& body) {
  const OllamaStoreRequest request = read_ollama_show(body);
  answer(visit, ollama_show(host_.model_for(request.model, visit->asker)), ignored_fields(request.ignored));
}

void ChatRoutes::change_store(const VisitPointer& visit, const Json& body) {
  if (!visit->asker.may_admin) {
    throw TurnError(ErrorKind::kForbidden,
                    "pulling and deleting models takes an access token with the permission admin");
  }
  if (options_.store == nullptr) {
    throw TurnError::not_supported("", "models are files here: put them into one of runtime.model_dirs");
  }
  if (visit->path == kPullPath) return pull(visit, body);
  const auto removed = [this, visit, alive = alive_.watch()](const std::optional<TurnError>& error) {
    if (alive.expired()) return;
    if (error) return refuse(visit, *error);
    constexpr int kOk = 200;
    visit->exchange->respond({kOk, {{"Cache-Control", "no-store"}, {"x-request-id", visit->request_id}}, "", ""});
    note(*visit, kOk);
  };
  const auto remove = [this, models = read_ollama_delete(body), removed] { options_.store->remove(models, removed); };
  refresh(visit, remove);  // they may just have come
}

void ChatRoutes::pull(const VisitPointer& visit, const Json& body) {
  const std::uint64_t number = ++next_;
  const auto gone = [this, visit, number](int status) {
    note(*visit, status);
    let_go(number);
  };
  const auto made = std::make_shared<PullExchange>(
      loop_, *visit->exchange, read_ollama_pull(body),
      PullExchange::Options{.request_id = visit->request_id, .heartbeat = options_.heartbeat}, gone);
  made->begin(*options_.store);
  keep(number, visit, {made, [&exchange = *made](const TurnError& error) { exchange.failed(error); }});
}

void ChatRoutes::stop() {
  stopping_ = true;
  const auto open = std::exchange(open_, {});
  const TurnError error = TurnError::try_later(ErrorKind::kNoRoom, "the server is ending", 1);
  for (const auto& [number, each] : open) each.give_up(error);
}

}  // namespace rkllm_mcp::chat
