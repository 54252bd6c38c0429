#include "http_talk.hpp"

#include <cctype>
#include <cstdlib>

namespace rkllm_mcp::simulation {

std::shared_ptr<HttpTalk> HttpTalk::start(std::shared_ptr<SimConnection> connection, std::function<void()> ended) {
  const std::shared_ptr<HttpTalk> talk(new HttpTalk(std::move(connection)));
  talk->connection_->listen({[weak = std::weak_ptr(talk)](std::string_view bytes) {
                               if (const auto self = weak.lock()) self->received(bytes);
                             },
                             std::move(ended)});
  return talk;
}

std::string HttpTalk::request(std::string_view method, std::string_view path, const Fields& fields,
                              std::string_view body) {
  std::string text = std::string(method) + " " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n";
  for (const auto& [name, value] : fields) text += name + ": " + value + "\r\n";
  if (method == "POST") text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return text + "\r\n" + std::string(body);
}

std::string HttpTalk::post(std::string_view path, std::string_view json) {
  return request("POST", path, {{"Content-Type", "application/json"}}, json);
}

void HttpTalk::ask(std::string_view method, std::string_view path, const Fields& fields, std::string_view body,
                   Hearer hearer) {
  hearers_.push_back(std::move(hearer));
  connection_->send(request(method, path, fields, body));
}

void HttpTalk::received(std::string_view bytes) {
  const auto self = shared_from_this();  // who hears an answer may let go of it
  input_ += bytes;
  // Who hears something may close the connection, and then hears no more.
  for (bool goes_on = true; goes_on && !connection_->client_has_closed();) {
    switch (part_) {
      case Part::kHead: goes_on = take_head(); break;
      case Part::kBody: goes_on = take_body(); break;
      case Part::kChunks: goes_on = take_chunk(); break;
    }
  }
}

bool HttpTalk::take_head() {
  const std::size_t end = input_.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  const std::string head = input_.substr(0, end + 2);
  input_.erase(0, end + 4);
  if (hearers_.empty()) throw Violation{"an HTTP answer to nothing: " + head};
  answer_ = {};
  answer_.status = std::atoi(head.c_str() + std::string_view("HTTP/1.1 ").size());
  for (std::size_t line = head.find("\r\n") + 2; line < head.size(); line = head.find("\r\n", line) + 2) {
    const std::size_t colon = head.find(": ", line);
    std::string name = head.substr(line, colon - line);
    for (char& byte : name) byte = static_cast<char>(std::tolower(static_cast<unsigned char>(byte)));
    answer_.fields[name] = head.substr(colon + 2, head.find("\r\n", line) - colon - 2);
  }
  if (answer_.fields.count("transfer-encoding") != 0) {
    if (!hearers_.front().event) throw Violation{"a stream that was not asked for: " + head};
    answer_.streamed = true;
    part_ = Part::kChunks;
    return true;
  }
  const auto length = answer_.fields.find("content-length");
  if (length == answer_.fields.end() && answer_.status != 202 && answer_.status != 204) {
    throw Violation{"an HTTP answer without a length: " + head};
  }
  body_bytes_ = length == answer_.fields.end() ? 0 : std::stoul(length->second);
  part_ = Part::kBody;
  return true;
}

bool HttpTalk::take_body() {
  if (input_.size() < body_bytes_) return false;
  answer_.body = input_.substr(0, body_bytes_);
  input_.erase(0, body_bytes_);
  end();
  return true;
}

bool HttpTalk::take_chunk() {
  const std::size_t line = input_.find("\r\n");
  if (line == std::string::npos) return false;
  const std::size_t bytes = std::stoul(input_, nullptr, 16);
  if (input_.size() < line + 2 + bytes + 2) return false;
  if (input_.compare(line + 2 + bytes, 2, "\r\n") != 0) throw Violation{"a chunk that is longer than it says"};
  const std::string chunk = input_.substr(line + 2, bytes);
  input_.erase(0, line + 2 + bytes + 2);
  if (bytes == 0) {
    end();
  } else {
    take_events(chunk);
  }
  return true;
}

void HttpTalk::take_events(std::string_view bytes) {
  events_ += bytes;
  if (answer_.fields["content-type"] == "application/x-ndjson") return take_lines();
  for (std::size_t end = events_.find("\n\n"); end != std::string::npos; end = events_.find("\n\n")) {
    const std::string text = events_.substr(0, end + 1);
    events_.erase(0, end + 2);
    Event event;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      const std::string line = text.substr(at, text.find('\n', at) - at);
      if (line.rfind("data: ", 0) == 0) event.data = line.substr(6);
      if (line.rfind("id: ", 0) == 0) event.id = line.substr(4);
      if (line.rfind("event: ", 0) == 0) event.name = line.substr(7);
    }
    // A comment, or when to come back, is for the client's HTTP library.
    if (!event.data.empty() || !event.id.empty()) hearers_.front().event(event);
    if (connection_->client_has_closed()) return;
  }
}

void HttpTalk::take_lines() {
  for (std::size_t end = events_.find('\n'); end != std::string::npos; end = events_.find('\n')) {
    const Event event{"", "", events_.substr(0, end)};
    events_.erase(0, end + 1);
    hearers_.front().event(event);
    if (connection_->client_has_closed()) return;
  }
}

void HttpTalk::end() {
  if (!events_.empty()) throw Violation{"a stream ends within an event: " + events_};
  part_ = Part::kHead;
  const Hearer hearer = std::move(hearers_.front());
  hearers_.pop_front();
  hearer.answered(answer_);
}

}  // namespace rkllm_mcp::simulation
