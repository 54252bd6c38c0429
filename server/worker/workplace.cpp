#include "worker/workplace.hpp"

#include "api.hpp"
#include "backend/handle_resources.hpp"
#include "backend/library_engine.hpp"
#include "backend/queued_backend.hpp"
#include "dispatch/dispatcher.hpp"
#include "run_loop.hpp"
#include "transport/channel_set.hpp"
#include "transport/line_connection.hpp"
#include "transport/socket_stream.hpp"
#include "watched_loop.hpp"
#include "worker/descriptor.hpp"
#include "worker/worker_process.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr int kExitNoLibrary = 3;
constexpr std::chrono::seconds kToLeave{1};
// The server in front has its own limits and patience; none of the worker's is to be reached first.
constexpr std::chrono::hours kForEver{24 * 365};
// How far a run may be ahead of the server that takes its tokens: little, since all of that has to be taken before the
// end of a run that is stopped. The server has buffers of its own.
constexpr std::size_t kAhead = 16 * 1024;
constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max() / 4;

// The order of the server's signals is its own affair; a worker ends when its door closes, or dies with its server.
void prepare_process() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_IGN);
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // the library's lines are to arrive as they are printed
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;  // the library opens one descriptor per buffer
  ::setrlimit(RLIMIT_NOFILE, &files);
}

Dispatcher::Options options_of(const Workplace& workplace) {
  Dispatcher::Options options;
  options.message.max_depth = workplace.depth + 1;
  options.calls.stream_buffer_bytes = kAhead;
  options.calls.stall = kForEver;
  options.calls.answer_bytes = kNoLimit;
  options.calls.stream_values_bytes = workplace.values_bytes;
  options.calls.requests_per_session = kNoLimit;
  return options;
}

ConnectionLimits limits_of(const Workplace& workplace) {
  ConnectionLimits limits;
  limits.max_message_bytes = 4 * workplace.message_bytes;  // numbers may be written longer than the client wrote them
  limits.send_queue_bytes = kAhead;
  limits.kernel_send_bytes = static_cast<int>(kAhead);
  limits.stall = kForEver;
  return limits;
}

// Accepts connections through the door.
class DoorKeeper {
 public:
  DoorKeeper(asio::io_context& loop, ConnectionLimits limits, AcceptFunction accept)
      : loop_(loop), limits_(limits), accept_(std::move(accept)), door_(WorkerProcess::kDoor), news_(loop, kDoorNumber) {}
  ~DoorKeeper() { news_.release(); }
  DoorKeeper(const DoorKeeper&) = delete;
  DoorKeeper& operator=(const DoorKeeper&) = delete;

  void wait() {
    news_.async_wait(asio::posix::stream_descriptor::wait_read, [this](const asio::error_code& error) {
      auto visitor = error ? std::nullopt : take_descriptor(door_);
      if (!visitor) return loop_.stop();
      wait();  // first: the door stays open whatever this visitor brings
      if (visitor->number() >= 0) receive(std::move(*visitor));
    });
  }

 private:
  static constexpr int kDoorNumber = WorkerProcess::kDoor;

  void receive(Descriptor visitor) {
    asio::local::stream_protocol::socket socket(loop_, asio::local::stream_protocol(), visitor.release());
    const auto channel =
        std::make_shared<Channel>(loop_, std::make_unique<SocketStream>(std::move(socket), limits_), limits_);
    channels_.add(channel);
    channel->contain([&] { LineConnection::start(channel, {TransportKind::kUnix, "server"}, limits_, accept_); });
  }

  asio::io_context& loop_;
  const ConnectionLimits limits_;
  const AcceptFunction accept_;
  const Descriptor door_;
  asio::posix::stream_descriptor news_;
  ChannelSet channels_;
};

}  // namespace

std::vector<std::string> to_arguments(const Workplace& workplace) {
  return {"work", Json{{"library", workplace.library},
                       {"version", workplace.version},
                       {"abi", workplace.abi},
                       {"model_dirs", workplace.files.models},
                       {"cache_dir", workplace.files.cache},
                       {"cache_bytes", workplace.files.cache_bytes},
                       {"message_bytes", workplace.message_bytes},
                       {"depth", workplace.depth},
                       {"values_bytes", workplace.values_bytes}}
                      .dump()};
}

Workplace from_arguments(const std::vector<std::string>& arguments) {
  const Json told = arguments.size() == 1 ? Json::parse(arguments[0], nullptr, false) : Json();
  if (!told.is_object()) throw std::invalid_argument("work is for the server itself, which tells it what to do");
  try {
    return {told.at("library"),       told.at("version"),
            told.at("abi"),           {told.at("model_dirs"), told.at("cache_dir"), told.at("cache_bytes")},
            told.at("message_bytes"), told.at("depth"),
            told.at("values_bytes")};
  } catch (const Json::exception& error) {
    throw std::invalid_argument(error.what());
  }
}

int work_at(const Workplace& workplace) {
  prepare_process();
  try {
    LibraryFile file = inspect_library(workplace.library);
    if (file.version != workplace.version) {  // its structs may have other layouts
      throw std::runtime_error(file.path + " has been replaced: it was version " + workplace.version + ", and is " +
                               file.version + " now; restart the server to use it");
    }
    const AbiSet& abi = *choose_abi_set(file.version, workplace.abi).set;
    const LoadedLibrary library(std::move(file), abi);

    asio::io_context loop(1);
    auto engine = std::make_unique<LibraryEngine>(library, FileRules(workplace.files));
    const auto backend = std::make_shared<QueuedBackend>(std::move(engine), abi.methods,
                                                         QueuedBackend::Limits{kNoLimit, kNoLimit, nullptr});
    Api api;
    api.methods = abi.methods;
    api.elsewhere = abi.elsewhere;
    api.api_version = library.file().version;
    Catalogue catalogue;
    catalogue.name = "worker";
    add_handle_resources(catalogue, [&backend] { return backend->handles(); });
    Dispatcher dispatcher(loop, api, catalogue, backend, options_of(workplace));
    DoorKeeper door(loop, limits_of(workplace), dispatcher.acceptor());
    door.wait();
    const auto report = [](const std::exception_ptr& fault) {
      std::fprintf(stderr, "E worker: internal error: %s\n", text_of_fault(fault).c_str());
    };
    run_loop(loop, report, [](std::chrono::milliseconds time) {
      std::fprintf(stderr, "W worker: a callback of its event loop took %lld ms\n", static_cast<long long>(time.count()));
    });
    // The server has closed the door, or has died. A library that does not come back is left behind.
    if (!backend->shut_down(std::chrono::steady_clock::now() + kToLeave)) std::_Exit(EXIT_SUCCESS);
    return EXIT_SUCCESS;
  } catch (const RpcError& error) {
    std::fprintf(stderr, "E worker: %s\n", error.data().value("reason", std::string(error.what())).c_str());
    return kExitNoLibrary;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "E worker: %s\n", error.what());
    return kExitNoLibrary;
  }
}

}  // namespace rkllm_mcp
