// The ports that the settings name: free, or whose they are.
#include "doctor/doctor.hpp"

#include "server/doctor/made_board.hpp"
#include "support/catch.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace rkllm_mcp::test {

TEST_CASE("a port that another program has is a problem that names it, and one that the server has is none") {
  Board board;
  board.put("proc/net/tcp",
            std::string(Board::kNetHeader) +
                "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0  0 777 1\n");
  auto fault = only_fault(doctor::examine_ports(board.machine));
  CHECK(fault.level == doctor::Level::kProblem);
  CHECK_THAT(fault.text, has_text("http.port 8080 is taken by another user's program"));
  // The server of a service's user, whose files nobody else may look into.
  board.put("proc/88/comm", "rkllm-mcp\n");
  board.put("proc/88/status", "Name:\trkllm-mcp\nUid:\t0\t0\t0\t0\n");
  CHECK(faults(doctor::examine_ports(board.machine)).empty());
  board.put("proc/88/status", "Name:\trkllm-mcp\nUid:\t1000\t1000\t1000\t1000\n");
  CHECK(only_fault(doctor::examine_ports(board.machine)).level == doctor::Level::kProblem);
  board.put("proc/99/comm", "nginx\n");
  std::filesystem::create_directories(board.path("proc/99/fd"));
  std::filesystem::create_symlink("socket:[777]", board.path("proc/99/fd/3"));
  fault = only_fault(doctor::examine_ports(board.machine));
  CHECK_THAT(fault.text, has_text("nginx, process 99"));
  CHECK_THAT(fault.cure, has_text("--set http.port="));
  board.put("proc/99/comm", "rkllm-mcp\n");
  CHECK(faults(doctor::examine_ports(board.machine)).empty());
}

TEST_CASE(
    "a port that is taken over IPv6 alone, or for datagrams, is a problem, and the same number elsewhere is none") {
  Board board;
  board.machine.settings.udp.enabled = true;
  board.machine.settings.udp.port = 8082;
  const std::string any_host(32, '0');  // of IPv6
  const auto row = [](const std::string& host, const char* port, const char* state) {
    return Board::kNetHeader + std::string("   0: ") + host + ":" + port + " " + host + ":0000 " + state +
           " 00000000:00000000 00:00000000 00000000  0  0 777 1\n";
  };
  const auto only_text = [&] { return only_fault(doctor::examine_ports(board.machine)).text; };
  board.put("proc/net/tcp6", row(any_host, "1F90", "0A"));
  CHECK_THAT(only_text(), has_text("http.port 8080 is taken"));
  board.put("proc/net/tcp6", row(any_host, "1F90", "01"));  // a connection, whose port is no server's
  CHECK(faults(doctor::examine_ports(board.machine)).empty());
  for (const char* const table : {"proc/net/udp", "proc/net/udp6"}) {
    INFO(table);
    const std::string host = std::string_view(table).ends_with('6') ? any_host : "00000000";
    board.put(table, row(host, "1F92", "07"));
    CHECK_THAT(only_text(), has_text("udp.port 8082 is taken"));
    board.put(table, row(host, "1F90", "07"));  // 8080, where HTTP has no datagrams
    CHECK(faults(doctor::examine_ports(board.machine)).empty());
  }
}

TEST_CASE("a port that only root may open is a problem for others, and another port is one that there is") {
  Board board;
  board.machine.settings.http.port = 80;
  board.machine.identity.user = 1000;
  CHECK_THAT(only_fault(doctor::examine_ports(board.machine)).text,
             has_text("http.port 80 may be opened by root only"));
  board.put("proc/sys/net/ipv4/ip_unprivileged_port_start", "80\n");
  CHECK(faults(doctor::examine_ports(board.machine)).empty());
  board.machine.settings.http.port = 65000;
  board.put("proc/net/tcp",
            std::string(Board::kNetHeader) +
                "   0: 0100007F:FDE8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0  0 777 1\n");
  board.put("proc/99/comm", "nginx\n");
  std::filesystem::create_directories(board.path("proc/99/fd"));
  std::filesystem::create_symlink("socket:[777]", board.path("proc/99/fd/3"));
  CHECK_THAT(only_fault(doctor::examine_ports(board.machine)).cure, has_text("--set http.port=64000"));
}

TEST_CASE("the port of the services is looked at if they have one") {
  Board board;
  board.machine.settings.services.enabled = true;
  board.machine.settings.services.port = 8090;
  board.put("proc/net/tcp",
            std::string(Board::kNetHeader) +
                "   0: 0100007F:1F9A 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0  0 777 1\n");
  const auto fault = only_fault(doctor::examine_ports(board.machine));
  CHECK(fault.level == doctor::Level::kProblem);
  CHECK_THAT(fault.text, has_text("services.port 8090 is taken"));
  SECTION("not if they are switched off") { board.machine.settings.services.enabled = false; }
  SECTION("not if any free one will do") { board.machine.settings.services.port = 0; }
  CHECK(faults(doctor::examine_ports(board.machine)).empty());
}

TEST_CASE("ports that are left to the system, or of transports that are switched off, are not looked at") {
  Board board;
  Settings& settings = board.machine.settings;
  settings.tcp.port = 0;
  settings.http.enabled = settings.ws.enabled = settings.udp.enabled = settings.services.enabled = false;
  const auto findings = doctor::examine_ports(board.machine);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].level == doctor::Level::kOk);
  CHECK(findings[0].text == "none is fixed by the settings");
}

TEST_CASE("lines of the kernel's table of ports that are not understood are passed over") {
  Board board;
  board.put("proc/net/tcp",
            std::string(Board::kNetHeader) +
                "\n   0: nonsense\n   1: 0100007F: 00000000:0000 0A\n"
                "   2: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0  0 777 1\n");
  CHECK_THAT(only_fault(doctor::examine_ports(board.machine)).text, has_text("http.port 8080 is taken"));
}

}  // namespace rkllm_mcp::test
