// What help, the manual page, completions and complaints say of a small table of commands, piece by piece;
// help_test.cpp asks the program for its own.
#include "cli/help/help_pages.hpp"
#include "cli/help/complaint.hpp"
#include "cli/help/completions.hpp"
#include "support/catch.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <string>
#include <vector>

namespace rkllm_mcp::test {
namespace {

// brew [--loud], with the commands `tea NAME [--hot WORD] [--to URL]`, `pots list [--all]` and one that nobody is
// shown.
struct Brewer {
  Brewer() {
    app.require_subcommand(1);
    app.add_flag("--loud", loud, "Say what is done");
    auto* tea = app.add_subcommand("tea", "Make tea, as the guest's wish is.\nThe pot is warmed first.");
    tea->group("Drinks");
    tea->add_option("NAME", name, "Of the tea")->required();
    tea->add_option("--hot", hot, "How hot")->type_name("WORD:one of warm boiling");
    tea->add_option("-f,--file", file, "Where it is written down")->type_name("FILE");
    tea->add_option("--to", to, "Whom it is for")->type_name("URL")->envname("BREW_TO");
    auto* pots = app.add_subcommand("pots", "Look after pots.");
    pots->group("Things");
    pots->require_subcommand(1);
    auto* list = pots->add_subcommand("list", "List them.");
    list->add_flag("--all", all, "Those in the cupboard, too");
    app.add_subcommand("secret", "Nobody is shown this.")->group("");
    app.footer("Examples:\n  brew tea green\n.hidden");
  }

  // The complaint about a line that cannot be parsed.
  std::string complaint(std::vector<std::string> arguments) {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    try {
      app.parse(reversed);
    } catch (const CLI::ParseError& error) {
      return complaint_about(app, arguments, error);
    }
    return "understood";
  }

  CLI::App app{"Brews what you like.", "brew"};
  bool loud = false;
  bool all = false;
  std::string name;
  std::string hot;
  std::string file;
  std::string to;
};

}  // namespace

TEST_CASE("help has the usage, commands in their groups, arguments, options with their variables, and the footer") {
  const Brewer brewer;
  const std::string all = help_text(brewer.app, 80);
  CHECK_THAT(all, Catch::Matchers::StartsWith("Usage: brew COMMAND [OPTION]...\n\nBrews what you like.\n"));
  CHECK_THAT(all, has_text("Drinks:\n  tea") && has_text("Things:\n  pots") && has_text("--loud"));
  CHECK_THAT(all, !has_text("secret") && !has_text("The pot is warmed"));
  CHECK_THAT(all, Catch::Matchers::EndsWith("Examples:\n  brew tea green\n.hidden\n"));

  const std::string tea = help_text(*brewer.app.get_subcommand("tea"), 80);
  CHECK_THAT(tea, has_text("Usage: brew tea NAME [OPTION]...") && has_text("\nThe pot is warmed first.\n"));
  CHECK_THAT(tea, has_text("--hot WORD") && !has_text("one of") && has_text("-f, --file FILE") &&
                      has_text("(environment: BREW_TO)"));
}

TEST_CASE("help for programs has every command that is shown, null where an option has no value or variable") {
  const Brewer brewer;
  const Json help = help_json(brewer.app);
  CHECK(help["name"] == "brew");
  REQUIRE(help["commands"].size() == 2);
  const Json& tea = help["commands"][0];
  CHECK(tea["name"] == "brew tea");
  CHECK(tea["summary"] == "Make tea, as the guest's wish is.");
  CHECK(tea["details"] == "The pot is warmed first.");
  CHECK(tea["arguments"] == Json::parse(R"([{"description":"Of the tea","required":true,"name":"NAME"}])"));
  Json file;
  Json to;
  for (const Json& option : tea["options"]) {
    if (option["names"] == Json{"-f", "--file"}) file = option;
    if (option["names"] == Json{"--to"}) to = option;
  }
  CHECK(file["value"] == "FILE");
  CHECK(file["environment"].is_null());
  CHECK(to["environment"] == "BREW_TO");
  CHECK(help["commands"][1]["commands"][0]["name"] == "brew pots list");
  CHECK(help["commands"][1]["commands"][0]["options"].back()["value"].is_null());  // a switch
}

TEST_CASE("a complaint names what is wrong, what was meant, and where to read on") {
  CHECK(Brewer().complaint({"teh"}) ==
        "rkllm-mcp: unknown command 'teh'; did you mean \"tea\"?\nUsage: brew COMMAND [OPTION]...\n"
        "To read more: brew --help");
  CHECK_THAT(Brewer().complaint({"loud"}), has_text("unknown command 'loud'; did you mean \"--loud\"?"));
  CHECK_THAT(Brewer().complaint({"secre"}), has_text("unknown command 'secre'") && !has_text("secret"));
  CHECK_THAT(Brewer().complaint({"tea", "green", "--hott=warm"}),
             has_text("unknown option '--hott'; did you mean \"--hot\"?") && has_text("Usage: brew tea NAME") &&
                 has_text("To read more: brew tea --help"));
  CHECK_THAT(Brewer().complaint({"tea", "green", "--hot"}), has_text("a value is missing: --hot WORD"));
  CHECK_THAT(Brewer().complaint({"tea", "green", "--hot", "warm", "--hot", "warm"}),
             has_text("given more than once: --hot WORD"));
  CHECK_THAT(Brewer().complaint({"pots"}), has_text("pots: which command? list"));
  CHECK_THAT(Brewer().complaint({"pots", "lst"}), has_text("unknown command 'lst'; did you mean \"list\"?"));
  CHECK_THAT(Brewer().complaint({"tea"}), Catch::Matchers::StartsWith("rkllm-mcp: NAME "));
  CHECK(Brewer().complaint({"tea", "green"}) == "understood");
}

TEST_CASE("completions offer commands, options, and the words that a value may be, whatever a summary has in it") {
  const Brewer brewer;
  const std::string bash = bash_completion(brewer.app);
  CHECK_THAT(bash, has_text("' tea') words='") && has_text("--hot") && has_text("' pots list') words='") &&
                       has_text("--file) COMPREPLY=($(compgen -f") &&
                       has_text("--hot) COMPREPLY=($(compgen -W 'warm boiling'") && !has_text("secret"));
  const std::string zsh = zsh_completion(brewer.app);
  CHECK_THAT(zsh, has_text(R"('tea:Make tea, as the guest'\''s wish is.')") &&
                      has_text("--hot) compadd -- warm boiling;") && !has_text("secret"));
  const std::string fish = fish_completion(brewer.app);
  CHECK_THAT(fish, has_text(R"(-a tea -d 'Make tea, as the guest\'s wish is.')") &&
                       has_text("-l hot -x -a 'warm boiling'") && has_text("-s f -l file -r") &&
                       has_text("'__fish_seen_subcommand_from pots; and __fish_seen_subcommand_from list' -l all -d") &&
                       !has_text("secret"));
}

TEST_CASE("no line of the manual page is taken for a macro") {
  const std::string page = man_page(Brewer().app);
  CHECK_THAT(page, has_text(".SH NAME\nrkllm\\-mcp \\- Brews what you like.\n") &&
                       has_text(".SS \"brew pots list\"\n.B brew pots list [OPTION]...\n") &&
                       has_text(".PP\nThe pot is warmed first.\n") && has_text(".TP\n.B \\-f, \\-\\-file FILE\n"));
  CHECK_THAT(page, has_text("\n\\&.hidden\n") && !has_text("secret"));
}

}  // namespace rkllm_mcp::test
