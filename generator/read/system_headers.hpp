// Where a target's headers of C and C++ are: where clang finds them for a cross compiler that is installed, else those
// of this machine, borrowed.
#pragma once

#include "files.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bindgen {

enum class Language { kC, kCpp };

struct SystemHeaders {
  std::vector<std::string> options;  // for clang, to find them; none if it does so by itself
  // Whether they are this machine's headers, whose structs may have another layout than those of the target's headers.
  bool are_borrowed = false;
  std::shared_ptr<const TemporaryFolder> stand_ins =
      {};  // what borrowed ones need besides; shared by the copies of this
};

// As clang finds them for the target, with these options besides; none if it does not.
std::optional<SystemHeaders> own_headers(const std::string& target, Language language,
                                         const std::vector<std::string>& options = {});
// Where libraries of the system that --sysroot or -isysroot names have their headers. None without such an option.
struct SysrootFolders {
  std::vector<std::string> own{};      // for the target, and for all
  std::vector<std::string> foreign{};  // for other processors
};
SysrootFolders folders_of_sysroot(const std::string& target, const std::vector<std::string>& options);
// Whether this machine is one of those that the target is for.
bool is_this_machine(const std::string& target);
// The folders of this machine's own headers of C, those first that are for its processor alone.
const std::vector<std::string>& folders_of_this_machine();
// Those of this machine, for another target; none if it has none.
std::optional<SystemHeaders> borrowed_headers(Language language);
// The headers of a target: its own, or else this machine's, borrowed; none if there are neither. Looked for once for
// each set of arguments, and kept. For one thread.
const std::optional<SystemHeaders>& system_headers(const std::string& target, Language language,
                                                   const std::vector<std::string>& options = {});

}  // namespace bindgen
