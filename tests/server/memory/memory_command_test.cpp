// rkllm-mcp memory: through a server that runs, and on the file itself.
#include "memory/sqlite/sqlite_store.hpp"
#include "server/memory/memory_server.hpp"
#include "support/catch.hpp"
#include "support/certificate.hpp"
#include "support/paths.hpp"
#include "support/terminal_process.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace rkllm_mcp::test {
namespace {

// The command, in a place of its own. Its settings know of no server unless one is named.
struct Shell {
  TemporaryDirectory directory;
  std::vector<std::string> where;  // to the server; empty: the file

  EndedProcess run(std::vector<std::string> words) const { return run_to_end({.args = args_of(std::move(words))}); }
  std::vector<std::string> args_of(std::vector<std::string> words) const {
    std::vector<std::string> args{kProgram, "memory"};
    args.insert(args.end(), {"--settings", directory / "settings.json"});
    for (const char* const set : {"tcp.enabled=false", "services.port=1"}) args.insert(args.end(), {"--set", set});
    args.insert(args.end(), {"--set", "memory.database=" + (directory / "memory.db")});
    args.insert(args.end(), where.begin(), where.end());
    args.insert(args.end(), words.begin(), words.end());
    return args;
  }
  std::string import_file(const std::string& text) const {
    write_file(directory / "import.jsonl", text);
    return directory / "import.jsonl";
  }
};

const std::string kLines =
    R"({"conversation":"a","created":"2026-01-02T03:04:05.000Z","title":"Răng"})"
    "\n"
    R"({"role":"user","content":"Tôi bị đau răng","timestamp":"2026-01-02T03:04:06.000Z"})"
    "\n"
    R"({"role":"assistant","content":"two\nlines","timestamp":"2026-01-02T03:04:07.000Z","metadata":{"n":1}})"
    "\n"
    R"({"summary":{"text":"S","covers":1,"updated_at":"2026-01-02T03:04:08.000Z"}})"
    "\n"
    R"({"conversation":"b","created":"2026-01-02T03:04:05.000Z"})"
    "\n";

// What the command does, wherever the conversations are.
void use(const Shell& shell) {
  const auto imported = shell.run({"import", shell.import_file(kLines)});
  INFO(imported.err);
  CHECK(imported.out == "2 conversations, 2 messages imported\n");
  CHECK(shell.run({"export", "a"}).out + shell.run({"export", "b"}).out == kLines);
  const auto table = shell.run({});
  CHECK_THAT(table.out, has_text("MESSAGES"));
  CHECK_THAT(table.out, has_text("Răng"));
  const auto listed = shell.run({"list", "--json"});
  CHECK(Json::parse(listed.out.substr(0, listed.out.find('\n')))["conversation_id"] == "b");
  const auto shown = shell.run({"show", "a"});
  CHECK(shown.out ==
        "[2026-01-02T03:04:06] user: Tôi bị đau răng\n[2026-01-02T03:04:07] assistant: two lines\n\nSummary:\nS\n");
  CHECK_THAT(shell.run({"search", "dau", "rang"}).out, has_text("Tôi bị đau răng"));
  CHECK(shell.run({"search", "dau", "--exact"}).out.empty());
  const auto again = shell.run({"import", shell.import_file(kLines)});
  CHECK(again.status == 1);
  CHECK_THAT(again.err, has_text("exists already"));
  CHECK(shell.run({"import", shell.import_file(kLines), "--replace"}).status == 0);
  const auto half = shell.run({"delete", "a", "nope"});
  CHECK(half.status == 1);
  CHECK(half.out.empty());
  CHECK(shell.run({"show", "a"}).status == 0);
  CHECK(shell.run({"delete", "a", "a"}).out == "a: deleted\n");
  CHECK(shell.run({"show", "a"}).status == 1);
  CHECK(shell.run({"delete", "a"}).status == 1);
  // A long one with a wrong line: its number is told, and nothing of it is there.
  std::string lines = R"({"conversation":"long"})"
                      "\n";
  for (int n = 0; n < 1200; ++n)
    lines += R"({"role":"user","content":"x"})"
             "\n";
  const auto broken = shell.run({"import", shell.import_file(lines + R"({"role":"king","content":"x"})"
                                                                     "\n")});
  CHECK(broken.status == 1);
  CHECK_THAT(broken.err, has_text("line 1202.role: expected"));
  CHECK_THAT(shell.run({"import", shell.import_file(lines + "{\n")}).err, has_text("line 1202: is not JSON"));
  CHECK(shell.run({"show", "long"}).status == 1);
  CHECK(shell.run({"import", shell.import_file(lines)}).out == "1 conversation, 1200 messages imported\n");
  CHECK(shell.run({"show"}).status == 2);
}

}  // namespace

TEST_CASE("conversations are looked at and moved through the server that runs") {
  Shell shell;
  LiveServer server(memory_only(shell.directory / "of_the_server.db"));
  shell.where = {"--to", "tcp://127.0.0.1:" + std::to_string(server.port(Transport::kTcp))};
  use(shell);
}

TEST_CASE("conversations are looked at and moved in their file where no server answers") {
  const Shell shell;
  use(shell);
}

TEST_CASE("a server that does not let the command in is not gone round to the file") {
  Shell shell;
  REQUIRE(shell.run({"import", shell.import_file(kLines)}).status == 0);
  const std::string tokens = shell.directory / "tokens";
  write_file(tokens, "me a-token-for-the-test\n");
  std::filesystem::permissions(tokens, std::filesystem::perms(0600));
  LiveServer server(memory_only(shell.directory / "of_the_server.db", {"auth.tokens=" + tokens}));
  const std::string tcp = std::to_string(server.port(Transport::kTcp));
  const std::string http = std::to_string(server.port(Transport::kHttp));
  const std::vector<std::vector<std::string>> places{{"--set", "tcp.enabled=true", "--set", "tcp.port=" + tcp},
                                                     {"--set", "services.port=" + http},
                                                     {"--to", "http://127.0.0.1:" + http}};
  for (const auto& place : places) {
    shell.where = place;
    for (const std::vector<std::string>& command : {std::vector<std::string>{"list"}, {"delete", "a"}}) {
      INFO(place.back() << " " << command.front());
      const auto stranger = shell.run(command);
      CHECK(stranger.status == 1);
      CHECK(stranger.out.empty());
      CHECK_THAT(stranger.err, has_text("rkllm-mcp: an access token is needed: --token, or RKLLM_MCP_TOKEN in the "
                                        "environment\n"));
    }
    const auto wrong = shell.run({"delete", "a", "--token", "another-token"});
    CHECK(wrong.status == 1);
    CHECK_THAT(wrong.err, has_text("the server refuses the access token") && has_text("RKLLM_MCP_TOKEN"));
    const auto known = shell.run({"list", "--token", "a-token-for-the-test"});
    INFO(known.err);
    CHECK(known.status == 0);
    CHECK(known.out.find('\n') == known.out.size() - 1);  // of the server, which has none
  }
  shell.where.clear();
  CHECK(shell.run({"show", "a"}).status == 0);
}

TEST_CASE("a server whose certificate cannot be verified is not gone round to the file") {
  Shell shell;
  REQUIRE(shell.run({"import", shell.import_file(kLines)}).status == 0);
  const auto theirs = make_certificate(shell.directory.path());
  const auto others = make_certificate(shell.directory.path(), "other");
  LiveServer server(memory_only(shell.directory / "of_the_server.db",
                                {"tcp.tls=true", "tls.certificate=" + theirs.certificate, "tls.key=" + theirs.key}));
  const std::string port = "tcp.port=" + std::to_string(server.port(Transport::kTcp));
  shell.where = {"--set", "tcp.enabled=true", "--set", "tcp.tls=true", "--set", port};
  const auto with = [](const CertificateFiles& files) {
    return std::vector<std::string>{
        "delete", "a", "--set", "tls.certificate=" + files.certificate, "--set", "tls.key=" + files.key};
  };
  const auto refused = shell.run(with(others));
  CHECK(refused.status == 1);
  CHECK_THAT(refused.err, has_text("the server's certificate cannot be verified"));
  CHECK_THAT(shell.run(with(theirs)).err, has_text("no conversation"));  // the server has none
  shell.where.clear();
  CHECK(shell.run({"show", "a"}).status == 0);
}

TEST_CASE("an export into a file counts on the terminal, and one onto the terminal speaks for itself") {
  const Shell shell;
  REQUIRE(shell.run({"import", shell.import_file(kLines)}).status == 0);
  const auto on_terminal = [&shell](const std::string& script, std::vector<std::string> words) {
    std::vector<std::string> args{"/bin/sh", "-c", script, "sh"};
    const auto command = shell.args_of(std::move(words));
    args.insert(args.end(), command.begin(), command.end());
    TerminalProcess process({.args = args}, 200);
    REQUIRE(process.wait() == 0);
    return process.shown();
  };
  const std::string to_file = "exec \"$@\" > '" + (shell.directory / "exported") + "'";
  CHECK_THAT(on_terminal(to_file, {"export"}), has_text("] 100%  2 of 2 messages exported"));
  CHECK(read_file(shell.directory / "exported").size() == kLines.size());
  CHECK_THAT(on_terminal(to_file, {"export", "a"}), has_text("4 lines exported"));
  CHECK_THAT(on_terminal("exec \"$@\"", {"export"}), !has_text("exported"));
}

TEST_CASE("an export of all goes on where one of them is deleted meanwhile") {
  const Shell shell;
  std::string lines = kLines + R"({"conversation":"long","created":"2026-01-02T03:04:05.000Z"})"
                               "\n";
  for (int n = 0; n < 3000; ++n) lines += R"({"role":"user","content":")" + std::string(100, 'x') + "\"}\n";
  REQUIRE(shell.run({"import", shell.import_file(lines)}).status == 0);
  Process exporting({.args = shell.args_of({"export"})});
  const auto first = exporting.read_line();  // of the longest, which is more than a pipe holds
  REQUIRE(first);
  REQUIRE_THAT(*first, has_text("\"long\""));
  REQUIRE(shell.run({"delete", "b"}).status == 0);
  const std::string rest = exporting.read_rest();
  CHECK(exporting.wait() == 0);
  INFO(exporting.error_text());
  CHECK_THAT(rest, has_text("Tôi bị đau răng") && !has_text("\"b\""));
}

TEST_CASE("a conversation whose id is no UTF-8 is exported with the others, under an id that can be imported") {
  const Shell shell;
  REQUIRE(shell.run({"import", shell.import_file(kLines)}).status == 0);
  {
    memory::SqliteStore store({shell.directory / "memory.db"}, memory::SqliteStore::Use::kWriting);
    memory::Transaction transaction(store);
    store.append({"", "caf\xe9"}, {memory::Role::kUser, "x", "", 1'000});
    transaction.commit();
  }
  const auto exported = shell.run({"export"});
  INFO(exported.err);
  CHECK(exported.status == 0);
  CHECK_THAT(exported.out, has_text("\"caf\xef\xbf\xbd\"") && has_text("Tôi bị đau răng"));
  CHECK_THAT(shell.run({"list", "--json"}).out, has_text("\"caf\xef\xbf\xbd\""));
  CHECK(shell.run({"import", shell.import_file(exported.out), "--replace"}).status == 0);
}

TEST_CASE("an import that cannot be read is an error, and changes nothing") {
  const Shell shell;
  REQUIRE(shell.run({"import", shell.import_file(kLines)}).status == 0);
  // A folder can be opened as a file, and only reading it fails.
  const auto refused = shell.run({"import", shell.directory.path(), "--replace"});
  CHECK(refused.status == 1);
  CHECK(refused.out.empty());
  CHECK_THAT(refused.err, has_text(shell.directory.path() + " cannot be read"));
  std::vector<std::string> args{"/bin/sh", "-c", R"(exec "$@" < "$0")", shell.directory.path()};
  const auto command = shell.args_of({"import", "-", "--replace"});
  args.insert(args.end(), command.begin(), command.end());
  const auto piped = run_to_end({.args = args});
  CHECK(piped.status == 1);
  CHECK(piped.out.empty());
  CHECK_THAT(piped.err, has_text("standard input cannot be read"));
  CHECK(shell.run({"export", "a"}).out + shell.run({"export", "b"}).out == kLines);
}

TEST_CASE("what ended with the server cannot be looked at") {
  const Shell shell;
  const auto refused = shell.run({"list", "--set", "memory.database=:memory:"});
  CHECK(refused.status == 1);
  CHECK_THAT(refused.err, has_text("no server answers"));
}

}  // namespace rkllm_mcp::test
