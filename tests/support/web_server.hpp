// A web server of our own on loopback that answers bytes as the test has written them, one answer for each connection,
// and that can hold them back. Ends with the test's scope. Threads: one of its own for each connection.
#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read_until.hpp>
#include <asio/write.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>

#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace rkllm_mcp::test {

class WebServer {
 public:
  using Socket = asio::ip::tcp::socket;
  // Gets the request's head, and the connection to answer on.
  using Serve = std::function<void(const std::string& head, Socket& socket)>;

  explicit WebServer(Serve serve, const std::string& address = "127.0.0.1", std::uint16_t port = 0)
      : acceptor_(loop_, {asio::ip::make_address(address), port}), serve_(std::move(serve)) {
    accepting_ = std::thread([this] { accept(); });
  }
  // Always the same answer.
  explicit WebServer(const std::string& answer, const std::string& address = "127.0.0.1", std::uint16_t at_port = 0)
      : WebServer([answer](const std::string&, Socket& socket) { send(socket, answer); }, address, at_port) {}
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;
  ~WebServer() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
      for (Socket* socket : open_) ::shutdown(socket->native_handle(), SHUT_RDWR);
    }
    ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
    accepting_.join();
    for (auto& thread : serving_) thread.join();
  }

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  std::string url(const std::string& target = "/", const std::string& host = "127.0.0.1") const {
    return "http://" + host + ":" + std::to_string(port()) + target;
  }
  std::vector<std::string> heads() const {
    const std::lock_guard lock(mutex_);
    return heads_;
  }
  // Until so many requests have come.
  void await_requests(std::size_t count) {
    std::unique_lock lock(mutex_);
    if (!news_.wait_for(lock, std::chrono::seconds(60), [&] { return heads_.size() >= count; })) {
      throw std::runtime_error("no request has come");
    }
  }

  static bool send(Socket& socket, const std::string& bytes) {
    asio::error_code error;
    asio::write(socket, asio::buffer(bytes), error);
    return !error;
  }
  // Until the client has gone.
  static void await_end(Socket& socket) {
    asio::error_code error;
    char byte = 0;
    while (!error) socket.read_some(asio::buffer(&byte, 1), error);
  }

 private:
  void accept() {
    for (;;) {
      asio::error_code error;
      auto socket = std::make_shared<Socket>(acceptor_.accept(error));
      const std::lock_guard lock(mutex_);
      if (error || ending_) return;
      open_.push_back(socket.get());
      serving_.emplace_back([this, socket] { serve(*socket); });
    }
  }

  void serve(Socket& socket) {
    std::string head;
    asio::error_code error;
    asio::read_until(socket, asio::dynamic_buffer(head), "\r\n\r\n", error);
    if (!error) {
      {
        const std::lock_guard lock(mutex_);
        heads_.push_back(head);
      }
      news_.notify_all();
      serve_(head, socket);
    }
    const std::lock_guard lock(mutex_);
    std::erase(open_, &socket);
    socket.close(error);
  }

  asio::io_context loop_;
  asio::ip::tcp::acceptor acceptor_;
  const Serve serve_;
  mutable std::mutex mutex_;
  std::condition_variable news_;
  bool ending_ = false;
  std::vector<Socket*> open_;
  std::vector<std::string> heads_;
  std::vector<std::thread> serving_;
  std::thread accepting_;
};

inline std::string web_answer(const std::string& body, const std::string& type = "text/html; charset=utf-8",
                              const std::string& more = {}, const std::string& status = "200 OK") {
  return "HTTP/1.1 " + status + "\r\nContent-Type: " + type + "\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\nConnection: close\r\n" + more + "\r\n" + body;
}

inline std::string web_redirect(const std::string& to, const std::string& status = "302 Found") {
  return web_answer("", "text/html", "Location: " + to + "\r\n", status);
}

}  // namespace rkllm_mcp::test
