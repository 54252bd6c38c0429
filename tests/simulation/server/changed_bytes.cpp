#include "changed_bytes.hpp"

#include "faults.hpp"

#include <algorithm>
#include <string_view>

namespace rkllm_mcp::simulation {
namespace {

struct Change {
  std::string_view fault;
  std::string_view written;
  // What comes instead. It is as long where the client is told the length: in bodies, chunks and frames.
  std::string_view comes;
  std::size_t first = 1;  // the bytes change from this time on that a connection brings them
};

constexpr Change kChanges[] = {
    // JSON-RPC, and MCP.
    {"a message is no JSON", R"("jsonrpc":"2.0")", R"("jsonrpc";"2.0")"},
    {"a result is called an error", R"("result":{"status":0)", R"("error" :{"status":0)"},
    {"what a tool has said is called an error", R"("result":{"content")", R"("error" :{"content")"},
    {"what answers a request is left out",
     "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":", ":vent: message\n:ata: {\"jsonrpc\":\"2.0\",\"id\":"},
    {"something follows the answer in a stream", "\r\n0\r\n\r\n", "\r\na\r\ndata: {}\n\n\r\n0\r\n\r\n"},
    {"a list that changes confirms a subscription", R"("jsonrpc":"2.0","method":"notifications/tools/list_changed")",
     R"("method":"notifications/subscriptions/acknowledged"        )"},
    {"what is told of a task does not say of which", R"("params":{"taskId")", R"("params":{"taskIx")"},
    {"what a task wants is said to be about another", R"("about":"errands)", R"("about":"arrands)"},
    {"a request is answered under the id of another", R"("id":1)", R"("id":9)"},
    {"what is said to be the second piece of a text is the third", R"("seq":1)", R"("seq":2)"},
    {"a token is another", "#1", "#7"},
    {"the refusal of another protocol has another code", R"("code":-32700)", R"("code":-32701)"},
    {"an error has another code", R"("code":40)", R"("code":41)"},
    // HTTP.
    {"an answer over HTTP does not say how long it is", "Content-Length: ", "Content-Lengte: "},
    {"an answer over HTTP is a stream that nobody has asked for", "Content-Type: application/json\r\n",
     "Transfer-Encoding: chunked    \r\n"},
    {"a stream ends before it begins", "Transfer-Encoding: chunked", "Content-Length: 0         "},
    {"a chunk is longer than it says", "\n\n\r\n", "\n\n\n\n"},
    {"a stream ends within an event", "\n\n\r\n0\r\n", "\n \r\n0\r\n"},
    {"what is answered with nothing is answered in another way", "HTTP/1.1 202", "HTTP/1.1 204"},
    {"what is ended is said to be accepted", "HTTP/1.1 204", "HTTP/1.1 202"},
    {"what was answered is said not to be there", "HTTP/1.1 200 OK", "HTTP/1.1 404 OK"},
    // WebSocket.
    {"the handshake of WebSocket is another's", "s3pPLMBiTxaQ", "s3pPLMBiTxaP"},
    {"what a client has pinged with comes back as another", "ping 1", "ping 7"},
    {"a pong is no pong", "\212\006ping", "\213\006ping"},
    {"a frame has a flag that nobody has agreed on", "\212\006ping", "\312\006ping"},
    {"something follows the end of WebSocket", "\210\002\003\350", "\210\002\003\350\212\001x"},
    // MCP.
    {"a result is another's", R"("structuredContent")", R"("structuredComment")"},
    {"progress is told of another", R"("progressToken":")", R"("progressTokem":")"},
    {"progress does not grow", R"("progress":2)", R"("progress":0)"},
    {"what is wanted is another time", "/2/", "/1/"},
    {"news are another subscription's", R"("io.modelcontextprotocol/subscriptionId":1)",
     R"("io.modelcontextprotocol/subscriptionId":7)"},
    {"the confirmation of a subscription is no confirmation", "subscriptions/acknowledged",
     "subscriptions/acknowledger"},
    {"a ping is answered with something", R"("id":"ping","result":{})", R"("id":"pong","result":{})"},
    {"a task is no task", R"("resultType":"task")", R"("resultType":"tusk")"},
    {"a task is another", R"("taskId":")", R"("taskIx":")"},
    {"a task that has ended goes on", R"("status":"completed")", R"("status":"working"  )"},
    {"a task that has ended has failed", R"("status":"completed")", R"("status":"failed"   )"},
    // OpenAI.
    {"an answer of OpenAI's ends, and nobody says why", R"("finish_reason":"stop")", R"("finish_reason":null  )"},
    {"the reason of an answer's end is told before it", R"("logprobs":null,"finish_reason":null)",
     R"("logp":0,"finish_reason":"stop"     )"},
    {"an event of OpenAI's is no JSON", R"("choices":[)", R"("choices";[)"},
    {"an answer of OpenAI's ends for a reason that there is not", R"("finish_reason":"stop")",
     R"("finish_reason":"stap")"},
    {"an answer of OpenAI's changes its id", R"("id":"chatcmpl-)", R"("id":"chatcmpl_)", 2},
    {"a call of OpenAI's has no id", R"("id":"call_)", R"("ix":"call_)"},
    // Anthropic.
    {"an event of Anthropic's has another name", "event: message_start", "event: message_begin"},
    {"an answer of Anthropic's has no beginning", "message_start", "message_begin"},
    {"a block of Anthropic's does not end", "event: content_block_stop\ndata: {\"type\":\"content_block_stop\"",
     "event: ping\ndata: {\"type\":\"ping\"                            "},
    {"a block of Anthropic's does not begin", "event: content_block_start\ndata: {\"type\":\"content_block_start\"",
     "event: ping\ndata: {\"type\":\"ping\"                              "},
    {"a piece of a block of Anthropic's is its end",
     "event: content_block_delta\ndata: {\"type\":\"content_block_delta\"",
     "event: content_block_stop\ndata: {\"type\":\"content_block_stop\"  "},
    {"an answer of Anthropic's ends, and nobody says why", "event: message_delta\ndata: {\"type\":\"message_delta\"",
     "event: ping\ndata: {\"type\":\"ping\"                  "},
    {"an answer of Anthropic's has an event that there is not", "message_delta", "message_gamma"},
    {"an answer of Anthropic's goes on behind its end", "message_stop", "message_halt"},
    // The Responses API.
    {"an event of the Responses API is counted twice", R"("sequence_number":3)", R"("sequence_number":2)"},
    {"a response has no beginning", "response.created", "response.greeted"},
    {"a response's text is another than its pieces", R"("text":"chatter)", R"("text":"shatter)"},
    {"a call's arguments are others than their pieces", R"("delta":"{\"about)", R"("delta":"{\"abort)"},
    {"a call is missing in the whole response", R"("function_call","status":"completed")",
     R"("function_cart","status":"completed")", 2},
    // All dialects, and embeddings.
    {"an answer as a whole is no JSON", R"("message":{"role")", R"("message";{"role")"},
    {"another tool is called", R"("name":"look")", R"("name":"leak")"},
    {"embeddings are an error", R"("object":"list")", R"("error" :"list")"},
};

const Change* change_put_back() {
  if (present_fault.empty()) return nullptr;
  const auto* const found = std::ranges::find(kChanges, present_fault, &Change::fault);
  return found == std::end(kChanges) ? nullptr : found;
}

}  // namespace

void ChangedBytes::change(std::string& on_its_way, std::size_t known) {
  const Change* const change = change_put_back();
  if (change == nullptr) return;
  const std::size_t part = change->written.size() - 1;  // that may be there without having been found
  std::size_t at = on_its_way.find(change->written, known - std::min(known, part));
  while (at != std::string::npos) {
    if (++found_ >= change->first) on_its_way.replace(at, change->written.size(), change->comes);
    at = on_its_way.find(change->written, at + change->comes.size());
  }
}

}  // namespace rkllm_mcp::simulation
