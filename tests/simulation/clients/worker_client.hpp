// Who has models in worker processes: the queues of the backend, and all of the server's side of workers, with threads
// that the schedule chooses among. Loads models, runs them, stops runs, asks beside them, does not read, destroys
// models; or leases them, too, as the chat host does for its turns.
#pragma once

#include "client.hpp"
#include "simulation/server/worker_backend.hpp"
#include "simulation/world/world.hpp"
#include "worker_call.hpp"
#include "worker_lease.hpp"

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace rkllm_mcp::simulation {

class WorkerClient : public Client, public std::enable_shared_from_this<WorkerClient> {
 public:
  enum class Leases { kNone, kSome };

  WorkerClient(World& world, std::string name, Leases leases);
  void start() override;
  void settle() override;
  bool is_done() const override { return backend_.is_over(); }
  std::string owed() const override;
  void check() override;
  void abandon() override;

 private:
  struct Started {
    std::shared_ptr<WorkerCall> call;
    Backend::CallId id = 0;
    std::size_t order = 0;      // its number in the order in which calls and leases have come
    Backend::CallId lease = 0;  // the lease that the call belongs to; 0: none
    int steps_since_end = 0;
  };
  struct Leased {
    std::shared_ptr<WorkerLease> lease;
    Backend::CallId id = 0;
    std::size_t order = 0;
  };

  void plan();
  void act();
  void load();
  void call(const Method& method);
  // `lease`: the lease that the call belongs to; 0: none.
  void begin(const Method& method, const std::string& handle, std::size_t tokens, Backend::CallId lease = 0);
  void lease();
  void call_leased();
  void end_lease();
  void end(const Leased& one);
  // Whether a call or lease that has come earlier still waits, or somebody holds a lease of the model.
  bool is_overtaking(const std::string& handle, std::size_t order, Backend::CallId lease) const;
  bool is_over() const;  // all calls and leases are
  void excuse(const std::string& handle);
  void cancel();  // one of the calls
  void cancel(const Started& one);
  void set_reading(bool reading);
  void go_on_settling();

  World& world_;
  const std::string name_;
  WorkerBackend backend_;
  const Leases leases_;
  std::size_t last_order_ = 0;
  std::vector<Started> calls_;
  std::vector<Leased> leased_;
  std::vector<std::string> handles_;  // of models that are loaded, or were
  std::set<std::string> destroyed_;   // of these
  int sleeps_for_ = 0;
  bool settled_ = false;
};

}  // namespace rkllm_mcp::simulation
